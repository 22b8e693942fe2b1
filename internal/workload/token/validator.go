package token

import (
	"context"
	"crypto/ed25519"
	"crypto/hpke"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/validator"
)

// ValidatorTransfer returns the workload that validates an encoded request of one transfer,
// with all checks that are made before a ledger applies it.
func ValidatorTransfer() workload.Def {
	return defineValidation("ValidatorTransfer", "validating a transfer", "validate a request of one transfer: decoding, signatures of owners and auditor, proofs, locks, metadata",
		func(v *validation, _ workload.Case) workload.Instance { return v })
}

// ValidatorBatch returns the workload that validates a batch of requests together. One
// operation is the whole batch. With --batch-max, one operation is one request, which a
// queue puts into a batch with requests of other workers; --batch is then ignored.
func ValidatorBatch() workload.Def {
	def := defineValidation("ValidatorBatch", "validating a batch of transfers", "validate a batch of one-transfer requests together; the time is for the whole batch, or with --batch-max for one request from its arrival",
		nil, workload.BatchAxis(), workload.BatchMaxAxis(validator.MaxBatch), workload.BatchWaitAxis())
	def.New = func(ctx context.Context, c workload.Case, seed uint64) (workload.Instance, error) {
		limits, err := batching(c)
		if err != nil {
			return nil, err
		}
		v, err := newValidation(ctx, c, seed)
		if err != nil {
			return nil, err
		}
		if limits.Max == 0 {
			return &batchValidation{v}, nil
		}
		return newQueued(v, limits)
	}
	return def
}

// The values of the axis owner.
const (
	ownersEd25519   = "ed25519"
	ownersPseudonym = "pseudonym"
)

// OwnerAxis returns the axis for the kind of a token's owner: an Ed25519 key or a one-time
// pseudonym, which is not an anonymous credential.
func OwnerAxis() workload.Axis {
	return workload.NameAxis(workload.Axis{Name: "owners", Key: "owner", Usage: "kinds of owners"}, []string{ownersEd25519, ownersPseudonym}, []string{ownersEd25519})
}

// defineValidation returns a workload. instance makes the Instance of a case from its validation.
func defineValidation(name, noun, doc string, instance func(*validation, workload.Case) workload.Instance, more ...workload.Axis) workload.Def {
	def := define(name, noun, doc, token.Transfer, nil, append([]workload.Axis{OwnerAxis()}, more...)...)
	def.New = func(ctx context.Context, c workload.Case, seed uint64) (workload.Instance, error) {
		v, err := newValidation(ctx, c, seed)
		if err != nil {
			return nil, err
		}
		return instance(v, c), nil
	}
	return def
}

// validation is the set-up of a token system with one auditor.
type validation struct {
	*setup
	validator *validator.Validator
	params    *token.PublicParams
	genesis   ledger.Genesis
	ledger    token.LedgerID
	auditor   identity.Signer
	scheme    identity.Scheme
}

// blockTime is the time that all blocks have.
var blockTime = time.Unix(1_800_000_000, 0)

// noteLen is the length in bytes of a note (an encrypted output) for one identity, with X25519 and a token type of up
// to 32 bytes.
const noteLen = 176

// cachedIdentities is larger than the number of keys that a case has.
const cachedIdentities = 4096

func newValidation(ctx context.Context, c workload.Case, seed uint64) (*validation, error) {
	s, err := newSetup(ctx, c, token.Tuning{}, token.Transfer, seed)
	if err != nil {
		return nil, err
	}
	v := &validation{setup: s}
	if v.auditor, err = signer(s.corpus("auditor", 0)); err != nil {
		return nil, err
	}
	if v.scheme, err = identity.NewScheme(c.Get("curve")); err != nil {
		return nil, err
	}
	if v.params, err = token.NewPublicParams(c.Get("curve"), s.bits, v.proofType); err != nil {
		return nil, err
	}
	if v.params.Policy.Auditors, err = auditors(v.auditor, s.corpus("auditor's key", 0)); err != nil {
		return nil, err
	}
	if v.genesis, err = genesisOf(v.params, s.corpus("ledger", 0)); err != nil {
		return nil, err
	}
	v.ledger = v.genesis.ID()
	v.validator, err = validator.New(v.params, v.genesis, s.ex, token.Tuning{}, cachedIdentities)
	return v, err
}

// genesisOf draws the genesis of a ledger.
func genesisOf(params *token.PublicParams, r stream) (g ledger.Genesis, err error) {
	g, err = ledger.NewGenesis(params)
	copy(g.Nonce[:], r.bytes(len(g.Nonce)))
	return g, err
}

// signer draws a key.
func signer(r stream) (identity.Signer, error) {
	return identity.NewEd25519Signer(ed25519.NewKeyFromSeed(r.bytes(ed25519.SeedSize)))
}

// auditors returns the auditors of a policy that has only a. The auditor's encryption key is drawn from r.
func auditors(a identity.Signer, r stream) ([]token.Auditor, error) {
	key, err := auditorKey(r)
	if err != nil {
		return nil, err
	}
	return []token.Auditor{{Identity: a.Identity(), KEM: token.X25519, Key: key.PublicKey().Bytes()}}, nil
}

// auditorKey draws an auditor's HPKE key.
func auditorKey(r stream) (hpke.PrivateKey, error) {
	kem, err := token.X25519.HPKE()
	if err != nil {
		return nil, err
	}
	return kem.DeriveKeyPair(r.bytes(32))
}

// owner draws an owner of the case's kind.
func (v *validation) owner(r stream) (identity.Signer, error) {
	if v.owners == ownersEd25519 {
		return signer(r)
	}
	holder, err := v.scheme.NewHolder(r)
	if err != nil {
		return nil, err
	}
	return holder.Pseudonym(r)
}

// submitted is a request and the ledger that it is validated against.
type submitted struct {
	raw    []byte
	ledger view
}

// view holds the unspent tokens of a ledger by id.
type view map[string][]byte

func (v view) Token(_ context.Context, id token.ID) ([]byte, error) {
	if t, ok := v[string(id)]; ok {
		return t, nil
	}
	return nil, zkbench.ErrSpent
}

// Tokens implements validator.Tokens.
func (v view) Tokens(ctx context.Context, ids []token.ID) ([]ledger.Found, error) {
	return validator.TokenFunc(v.Token).Tokens(ctx, ids)
}

func (v *validation) Input(ctx context.Context, seq uint64) (any, error) {
	return v.submit(ctx, seq, "")
}

// Metrics adds the length of the request to the sizes of the case.
func (v *validation) Metrics(ctx context.Context) ([]record.Metric, error) {
	sub, err := v.submit(ctx, 0, "")
	if err != nil {
		return nil, err
	}
	return v.withSize(ctx, record.RequestSize, sub.raw)
}

// submit builds and signs the request with sequence number seq. If tampered is not empty,
// it tampers with the request in that way.
func (v *validation) submit(ctx context.Context, seq uint64, tampered string) (*submitted, error) {
	p, err := v.payment(ctx, seq)
	if err != nil {
		return nil, err
	}
	r := v.corpus("signers", seq)
	sub := &submitted{ledger: make(view)}
	signers := make([]identity.Signer, len(p.owned))
	for i := range p.owned {
		if signers[i], err = v.owner(r); err != nil {
			return nil, err
		}
		in := &p.owned[i].Input
		in.Token.Owner = signers[i].Identity()
		if sub.ledger[string(in.ID)], err = in.Token.Encode(); err != nil {
			return nil, err
		}
	}
	for j := range p.outputs {
		to, err := v.owner(r)
		if err != nil {
			return nil, err
		}
		random := r.bytes(noteLen) // nobody decrypts it here
		p.outputs[j].Owner, p.outputs[j].Note = to.Identity(), func(token.Opening) ([]byte, error) { return random, nil }
	}
	d, err := v.draft(ctx, p, request.ActionAnchor(v.ledger, []byte(p.anchor), 0), v.corpus("prover", seq))
	if err != nil {
		return nil, err
	}
	a := request.Action{Kind: token.Transfer, ProofType: v.proofType, Spends: make([]request.Spend, len(signers))}
	if a.Raw, err = d.Prove(ctx); err != nil {
		return nil, err
	}
	if tampered == tamperedProof { // a bit of its last scalar, so that it still decodes
		a.Raw[len(a.Raw)-1] ^= 1
	}
	req := &request.Request{Anchor: []byte(p.anchor), Actions: []request.Action{a}, Auditors: make([][]byte, 1)}
	message, role := req.Message(v.ledger), request.Owner
	if tampered == tamperedSignature { // a signature in another role
		role = request.IssuerRole
	}
	for i, signer := range signers {
		signed := request.ToSign(message, role, 0, signer.Identity())
		signature, err := signer.Sign(signed[:], r)
		if err != nil {
			return nil, err
		}
		a.Spends[i].Signatures = [][]byte{signature}
	}
	signed := request.ToSign(req.AuditMessage(message), request.Auditor, 0, v.auditor.Identity())
	if req.Auditors[0], err = v.auditor.Sign(signed[:], nil); err != nil {
		return nil, err
	}
	if sub.raw, err = req.Encode(); err != nil {
		return nil, err
	}
	switch tampered {
	case tamperedSpent:
		sub.ledger = view{}
	case tamperedStructure:
		sub.raw = sub.raw[:len(sub.raw)-1]
	}
	return sub, nil
}

func (v *validation) Run(ctx context.Context, input any) ([]byte, error) {
	s := input.(*submitted)
	_, err := v.validator.Validate(ctx, s.ledger, s.raw, blockTime)
	return nil, err
}

// Check makes sure that the timed validation rejects a changed request, and a request whose
// tokens are not on the ledger.
func (v *validation) Check(ctx context.Context, input any, _ []byte) error {
	s := input.(*submitted)
	raw := append([]byte(nil), s.raw...)
	raw[len(raw)/2] ^= 1
	if _, err := v.validator.Validate(ctx, s.ledger, raw, blockTime); err == nil {
		return errors.New("a tampered request was accepted")
	}
	if _, err := v.validator.Validate(ctx, view{}, s.raw, blockTime); !errors.Is(err, zkbench.ErrSpent) {
		return fmt.Errorf("a request whose tokens are spent was not refused for that: %v", err)
	}
	return nil
}

type batchValidation struct{ *validation }

func (b *batchValidation) Input(ctx context.Context, seq uint64) (any, error) {
	all := &submittedBatch{ledger: make(view)}
	for i := range b.batch {
		s, err := b.submit(ctx, seq*uint64(b.batch)+uint64(i), "")
		if err != nil {
			return nil, err
		}
		all.raws = append(all.raws, s.raw)
		maps.Copy(all.ledger, s.ledger)
	}
	return all, nil
}

type submittedBatch struct {
	raws   [][]byte
	ledger view
}

func (b *batchValidation) Run(ctx context.Context, input any) ([]byte, error) {
	s := input.(*submittedBatch)
	for i, r := range b.validator.ValidateBatch(ctx, s.ledger, s.raws, blockTime) {
		if r.Err != nil {
			return nil, fmt.Errorf("request %d: %w", i, r.Err)
		}
	}
	return nil, nil
}

// Check makes sure that the timed validation rejects one bad request in a batch, and only that one.
func (b *batchValidation) Check(ctx context.Context, input any, _ []byte) error {
	s := input.(*submittedBatch)
	raws := append([][]byte(nil), s.raws...)
	bad := len(raws) / 2
	raws[bad] = append([]byte(nil), raws[bad]...)
	raws[bad][len(raws[bad])/2] ^= 1
	for i, r := range b.validator.ValidateBatch(ctx, s.ledger, raws, blockTime) {
		if (r.Err != nil) != (i == bad) {
			return fmt.Errorf("with request %d tampered with, request %d: %v", bad, i, r.Err)
		}
	}
	return nil
}

// The ways in which a request can be tampered with.
const (
	tamperedSpent     = "spent"     // its tokens are not on the ledger
	tamperedSignature = "signature" // the owners have signed another message
	tamperedProof     = "proof"     // all have signed it, and the proof is wrong
	tamperedStructure = "structure" // its last byte is missing
)

// TamperedAxis returns the axis for the way in which a request is tampered with.
func TamperedAxis() workload.Axis {
	kinds := []string{tamperedSpent, tamperedSignature, tamperedProof, tamperedStructure}
	return workload.NameAxis(workload.Axis{Name: "tampered with", Key: "tampered", Flag: "tampered", Usage: "ways in which a request is tampered with"}, kinds, kinds)
}

// Reject returns the workload that rejects a request that was tampered with. It measures the cost of a rejection for
// each way of tampering (see TamperedAxis).
func Reject() workload.Def {
	return defineValidation("Reject", "rejecting a transfer that was tampered with", "reject a request of one transfer that was tampered with",
		func(v *validation, c workload.Case) workload.Instance {
			return &rejection{v, TamperedAxis().ValueOf(c)}
		}, TamperedAxis())
}

type rejection struct {
	*validation
	tampered string
}

// Input tampers with a request. It first makes sure that the genuine request is accepted.
func (r *rejection) Input(ctx context.Context, seq uint64) (any, error) {
	genuine, err := r.submit(ctx, seq, "")
	if err != nil {
		return nil, err
	}
	if _, err := r.validator.Validate(ctx, genuine.ledger, genuine.raw, blockTime); err != nil {
		return nil, err
	}
	return r.submit(ctx, seq, r.tampered)
}

// Run returns the name of the check that refuses the request.
func (r *rejection) Run(ctx context.Context, input any) ([]byte, error) {
	s := input.(*submitted)
	_, err := r.validator.Validate(ctx, s.ledger, s.raw, blockTime)
	c, ok := errors.AsType[*zkbench.CheckError](err)
	if !ok {
		return nil, fmt.Errorf("no check refused the request: %v", err)
	}
	return []byte(c.Check), nil
}

// Check makes sure that the request was refused for the way in which it was tampered with.
func (r *rejection) Check(_ context.Context, _ any, output []byte) error {
	want := map[string]string{
		tamperedSpent: validator.Inputs, tamperedSignature: validator.Owners,
		tamperedProof: validator.Proofs, tamperedStructure: validator.Structure,
	}[r.tampered]
	if string(output) != want {
		return fmt.Errorf("tampered=%s was refused by the check of %s, want %s", r.tampered, output, want)
	}
	return nil
}
