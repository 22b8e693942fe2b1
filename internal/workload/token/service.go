package token

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/audit"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/service"
	"github.com/zkbench/zkbench/token/validator"
)

// AuditorServiceCheck returns the workload that performs the checks that an auditor's
// service makes before it signs a transfer.
func AuditorServiceCheck() workload.Def {
	def := defineService("AuditorServiceCheck", "auditing a transfer", "audit a request of one transfer: decode it and its audit information, recompute every commitment, match identities",
		token.Transfer, func(s *services) (workload.Instance, error) { return &auditing{s}, nil })
	def.Alias = "audit"
	return def
}

// services is a token system with one issuer and one auditor, and a folder for vaults.
type services struct {
	*setup
	params    *token.PublicParams
	genesis   ledger.Genesis
	dir       string
	issuer    identity.Signer
	authority identity.Signer
	auditor   *service.AuditorService
	validator func() (*validator.Validator, error) // used by checks
	payees    *service.Keys                        // of all payees, if owners are pseudonyms
	vaults    []*service.Vault
}

// defineService returns a workload. instance makes the Instance of a case from its services.
func defineService(name, noun, doc string, kind token.Kind, instance func(*services) (workload.Instance, error)) workload.Def {
	def := define(name, noun, doc, kind, nil, OwnerAxis())
	def.New = func(ctx context.Context, c workload.Case, seed uint64) (_ workload.Instance, err error) {
		s := new(services)
		defer func() {
			if err != nil {
				err = errors.Join(err, s.Close())
			}
		}()
		if err := s.setUp(ctx, c, kind, seed); err != nil {
			return nil, err
		}
		return instance(s)
	}
	return def
}

func (s *services) setUp(ctx context.Context, c workload.Case, kind token.Kind, seed uint64) (err error) {
	if s.setup, err = newSetup(ctx, c, token.Tuning{}, kind, seed); err != nil {
		return err
	}
	if s.issuer, err = signer(s.corpus("issuer", 0)); err != nil {
		return err
	}
	auditor, err := signer(s.corpus("auditor", 0))
	if err != nil {
		return err
	}
	if s.authority, err = signer(s.corpus("authority", 0)); err != nil {
		return err
	}
	if s.params, err = token.NewPublicParams(c.Get("curve"), s.bits, s.proofType); err != nil {
		return err
	}
	s.params.Policy.Issuers = []token.Issuer{{Identity: s.issuer.Identity()}}
	if s.params.Policy.Auditors, err = auditors(auditor, s.corpus("auditor's key", 0)); err != nil {
		return err
	}
	if s.genesis, err = genesisOf(s.params, s.corpus("ledger", 0)); err != nil {
		return err
	}
	if s.dir, err = os.MkdirTemp("", "zkbench-service-*"); err != nil {
		return err
	}
	vault, err := s.vault("auditor")
	if err != nil {
		return err
	}
	key, err := auditorKey(s.corpus("auditor's key", 0))
	if err != nil {
		return err
	}
	if s.auditor, err = service.NewAuditorService(s.params, token.Tuning{}, s.ex, vault, service.Auditor{
		Signer: auditor, Key: key, Policy: service.SignAll{}, Authorities: []identity.Identity{s.authority.Identity()},
	}); err != nil {
		return err
	}
	s.validator = sync.OnceValues(func() (*validator.Validator, error) {
		return validator.New(s.params, s.genesis, s.ex, token.Tuning{}, cachedIdentities)
	})
	s.payees, err = s.keys("payees")
	return err
}

// keys returns the keys of a party: one key, or the pseudonyms of an enrolled holder.
func (s *services) keys(name string) (*service.Keys, error) {
	r := s.corpus(name, 0)
	if s.owners == ownersEd25519 {
		key, err := signer(r)
		if err != nil {
			return nil, err
		}
		return service.NewKey(s.genesis, key)
	}
	scheme, err := identity.NewScheme(s.params.Curve)
	if err != nil {
		return nil, err
	}
	holder, err := scheme.NewHolder(r)
	if err != nil {
		return nil, err
	}
	req, err := holder.Request(name, r)
	if err != nil {
		return nil, err
	}
	certificate, err := scheme.Enrol(name, req, s.authority)
	if err != nil {
		return nil, err
	}
	return service.NewPseudonyms(s.params, s.genesis, holder, certificate, s.authority.Identity())
}

func (s *services) vault(name string) (*service.Vault, error) {
	v, err := service.CreateVault(filepath.Join(s.dir, name), s.genesis)
	if err == nil {
		s.vaults = append(s.vaults, v)
	}
	return v, err
}

func (s *services) Close() error {
	var errs []error
	for _, v := range s.vaults {
		errs = append(errs, v.Close())
	}
	if s.dir != "" {
		errs = append(errs, os.RemoveAll(s.dir))
	}
	return errors.Join(errs...)
}

// address draws a new address for the case's kind of owners.
func (s *services) address(r stream) (service.Address, error) {
	keys := s.payees
	if s.owners == ownersEd25519 {
		key, err := signer(r)
		if err != nil {
			return service.Address{}, err
		}
		if keys, err = service.NewKey(s.genesis, key); err != nil {
			return service.Address{}, err
		}
	}
	return keys.Address(&s.params.Policy, r)
}

// known returns the audit information about the owner of an address.
func known(to *service.Address) []audit.Owner { return []audit.Owner{to.Members[0].Audit} }

// payments returns payments of values to newly drawn addresses.
func (s *services) payments(seq uint64, values []uint64) ([]service.Payment, error) {
	r := s.corpus("payments", seq)
	out := make([]service.Payment, len(values))
	for i, v := range values {
		to, err := s.address(r)
		if err != nil {
			return nil, err
		}
		out[i] = service.Payment{To: to, Value: v}
	}
	return out, nil
}

// encodeSubmission returns what a service sends: request and audit information, each
// after its length in 4 bytes.
func encodeSubmission(sub *service.Submission) ([]byte, error) {
	raw, err := sub.Request.Encode()
	if err != nil {
		return nil, err
	}
	info, err := sub.Information.Encode()
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, 8+len(raw)+len(info))
	for _, part := range [][]byte{raw, info} {
		out = append(binary.BigEndian.AppendUint32(out, uint32(len(part))), part...)
	}
	return out, nil
}

func cutSubmission(output []byte) (raw, info []byte, err error) {
	for _, part := range []*[]byte{&raw, &info} {
		if len(output) < 4 || uint64(binary.BigEndian.Uint32(output)) > uint64(len(output)-4) {
			return nil, nil, errors.New("not a submission")
		}
		n := 4 + int(binary.BigEndian.Uint32(output))
		*part, output = output[4:n], output[n:]
	}
	return raw, info, nil
}

// accept has the auditor sign an encoded submission, and the validator accept it on a
// ledger. It also makes sure that the validator rejects the request without the signature.
func (s *services) accept(ctx context.Context, tokens validator.Tokens, output []byte) (*audit.Report, error) {
	raw, info, err := cutSubmission(output)
	if err != nil {
		return nil, err
	}
	signature, report, err := s.auditor.Sign(ctx, raw, info)
	if err != nil {
		return nil, fmt.Errorf("the auditor: %w", err)
	}
	r, err := request.Decode(raw)
	if err != nil {
		return nil, err
	}
	v, err := s.validator()
	if err != nil {
		return nil, err
	}
	if len(r.Auditors) != 1 {
		return nil, fmt.Errorf("the request has places for %d auditors' signatures, want 1", len(r.Auditors))
	}
	for _, signed := range []bool{false, true} {
		if signed {
			r.Auditors[0] = signature
		}
		if raw, err = r.Encode(); err != nil {
			return nil, err
		}
		_, err = v.Validate(ctx, tokens, raw, blockTime)
		if !signed && err == nil {
			return nil, errors.New("a request that no auditor has signed was accepted")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("the validator: %w", err)
	}
	return report, nil
}

// held lists the pending submissions in a workload's vault that are still to be discarded.
// As in practice, each operation leaves a durable one. Without discarding them, a long load
// would run out of tokens and grow the vault. So after turn operations, one operation
// discards all their submissions in one write, and waits for it. The measured time of each
// operation includes 1/turn of such a write on average.
type held struct {
	vault *service.Vault

	mu      sync.Mutex
	anchors [][]byte
}

const turn = 32

// keep encodes a submission and adds it to the list. If the list is then full, it discards
// all submissions in it.
func (h *held) keep(ctx context.Context, sub *service.Submission) ([]byte, error) {
	output, err := encodeSubmission(sub)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	h.anchors = append(h.anchors, sub.Request.Anchor)
	var full [][]byte
	if len(h.anchors) == turn {
		full, h.anchors = h.anchors, nil
	}
	h.mu.Unlock()
	if full == nil {
		return output, nil
	}
	return output, h.vault.Discard(ctx, full...)
}

// auditing checks requests that are built without a wallet. The tokens that a wallet
// selects depend on what it did before, and an input must not depend on that.
type auditing struct{ *services }

// audited holds what an auditor receives: a request and its audit information.
type audited struct{ raw, info []byte }

func (a *auditing) Input(ctx context.Context, seq uint64) (any, error) {
	p, err := a.payment(ctx, seq)
	if err != nil {
		return nil, err
	}
	r := a.corpus("owners", seq)
	var info audit.Action
	for i := range p.owned {
		to, err := a.address(r)
		if err != nil {
			return nil, err
		}
		p.owned[i].Token.Owner = to.Owner
		info.Inputs = append(info.Inputs, audit.Item{Opening: p.owned[i].Opening, Owners: known(&to)})
	}
	for j := range p.outputs {
		to, err := a.address(r)
		if err != nil {
			return nil, err
		}
		p.outputs[j].Owner = to.Owner
		info.Outputs = append(info.Outputs, audit.Item{Owners: known(&to)})
	}
	d, err := a.draft(ctx, p, request.ActionAnchor(a.genesis.ID(), []byte(p.anchor), 0), a.corpus("prover", seq))
	if err != nil {
		return nil, err
	}
	for j := range d.Openings {
		info.Outputs[j].Opening = d.Openings[j]
	}
	ra := request.Action{Kind: token.Transfer, ProofType: a.proofType, Spends: make([]request.Spend, a.in)}
	if ra.Raw, err = d.Prove(ctx); err != nil {
		return nil, err
	}
	in := new(audited)
	if in.raw, err = (&request.Request{Anchor: []byte(p.anchor), Actions: []request.Action{ra}}).Encode(); err != nil {
		return nil, err
	}
	in.info, err = (&audit.Information{Actions: []audit.Action{info}}).Encode()
	return in, err
}

func (a *auditing) Run(ctx context.Context, input any) ([]byte, error) {
	in := input.(*audited)
	_, err := a.auditor.Check(ctx, in.raw, in.info)
	return nil, err
}

// Check makes sure that the timed audit rejects a wrong opening.
func (a *auditing) Check(ctx context.Context, input any, _ []byte) error {
	in := input.(*audited)
	info, err := audit.Decode(in.info)
	if err != nil {
		return err
	}
	info.Actions[0].Outputs[0].Opening.Value ^= 1
	bad, err := info.Encode()
	if err != nil {
		return err
	}
	if _, err := a.auditor.Check(ctx, in.raw, bad); err == nil {
		return errors.New("a wrong opening passed the audit")
	}
	return nil
}
