package service

import (
	"context"
	"crypto/hpke"
	"encoding/binary"
	"fmt"
	"sync"

	"go.etcd.io/bbolt"
	"golang.org/x/crypto/cryptobyte"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/audit"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/internal/wire"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/validator"
)

// AuditorService checks and signs requests, and keeps what it has signed. It is safe
// for concurrent use.
type AuditorService struct {
	auditor   *audit.Auditor
	validator *validator.Validator // of signatures; it verifies no proof
	ledger    token.LedgerID
	vault     *Vault
	signer    identity.Signer
	ids       *identity.Set
	policy    Policy

	// adopting is held while auditor and validator come under another policy, and shared by who asks them about one request.
	adopting sync.RWMutex
}

// Policy decides, by what a request does, whether an auditor signs it. The error is why not: who asked gets it as an
// ErrPolicy. All that the report names has been checked, the signatures of issuers and owners too.
type Policy func(ctx context.Context, report *audit.Report) error

// SignAll is the policy of an auditor who only keeps records.
func SignAll(context.Context, *audit.Report) error { return nil }

// Auditor is who audits, and how.
type Auditor struct {
	Signer      identity.Signer // one of the policy's auditors
	Key         hpke.PrivateKey // its key of HPKE
	Policy      Policy
	Authorities []identity.Identity // whose enrolments count
}

// NewAuditorService returns the service of an auditor. Whom an update of the policy names learns of it by Reconcile, so that the
// signer is one is for Sign to check. The error is an ErrParams.
func NewAuditorService(params *token.PublicParams, tuning token.Tuning, ex executor.Executor, vault *Vault, a Auditor) (*AuditorService, error) {
	if err := vault.adopt(params); err != nil {
		return nil, err
	}
	if a.Policy == nil {
		return nil, refuse("no policy; SignAll signs all that is in order")
	}
	auditor, err := audit.New(params, vault.genesis, ex, tuning, a.Key, a.Authorities...)
	if err != nil {
		return nil, err
	}
	small := token.Tuning{Table: group.TableOptions{Window: 2, Spacing: 64}}
	v, err := validator.New(params, vault.genesis, ex, small, cachedIdentities)
	if err != nil {
		return nil, err
	}
	ids, err := identity.NewSet(1, nil)
	if err != nil {
		return nil, err
	}
	s := &AuditorService{ids: ids, auditor: auditor, validator: v, ledger: vault.genesis.ID(), vault: vault, signer: a.Signer, policy: a.Policy}
	return s, s.adopt(context.Background())
}

// adopt has those who check follow the policy that the vault has.
func (s *AuditorService) adopt(ctx context.Context) error {
	s.adopting.Lock()
	defer s.adopting.Unlock()
	if err := s.auditor.Follow(ctx, updates{s.vault}); err != nil {
		return err
	}
	return s.validator.Follow(ctx, updates{s.vault})
}

// Check decodes a request and the information that came with it, and holds one
// against the other. It signs and keeps nothing. The error is that of the decoders, or
// audit.Auditor's.
func (s *AuditorService) Check(ctx context.Context, rawRequest, rawInformation []byte) (*audit.Report, error) {
	_, report, err := s.check(ctx, rawRequest, rawInformation)
	return report, err
}

func (s *AuditorService) check(ctx context.Context, rawRequest, rawInformation []byte) (*request.Request, *audit.Report, error) {
	r, err := request.Decode(rawRequest)
	if err != nil {
		return nil, nil, err
	}
	info, err := audit.Decode(rawInformation)
	if err != nil {
		return nil, nil, err
	}
	report, err := s.auditor.Check(ctx, r, info)
	return r, report, err
}

// Sign is Check, and signs what issuers and owners have signed as the parameters ask and the policy lets pass;
// else the error is that of validator.Validator's Authorized, or the policy's, and nothing is kept. Who is no auditor of the ledger's policy,
// as far as Reconcile has followed it, gets an ErrParams.
// Request and information are durable, by anchor, before the signature leaves. Two
// requests of one anchor that say different things are never both signed: the second is
// an ErrAnchorConflict. One that says the same gets a signature again, whoever has
// signed it how. A signature is good under the policy of its time: after an update the auditor is asked again.
//
// Whoever makes up a token can sign for it as its owner, and gets an anchor signed that
// way: who may call Sign is for the caller to decide.
func (s *AuditorService) Sign(ctx context.Context, rawRequest, rawInformation []byte) (signature []byte, report *audit.Report, err error) {
	id, err := identityOf(s.ids, "auditors", s.vault.rules().AuditorIdentities(), s.signer)
	if err != nil {
		return nil, nil, err
	}
	r, report, err := s.authorized(ctx, rawRequest, rawInformation)
	if err != nil {
		return nil, nil, err
	}
	if err := s.policy(ctx, report); err != nil {
		return nil, nil, fmt.Errorf("%w: the auditor: %w", zkbench.ErrPolicy, err)
	}
	message := r.Message(s.ledger)
	toSign := request.ToSign(r.AuditMessage(message), request.Auditor, report.Policy, id)
	if signature, err = s.signer.Sign(toSign[:], nil); err != nil {
		return nil, nil, err
	}
	digest := r.Digest(s.ledger)
	one := &signed{digest: digest, request: rawRequest, information: rawInformation}
	err = s.vault.update(ctx, func(tx *bbolt.Tx) error {
		before, err := getSigned(tx, r.Anchor)
		switch {
		case err != nil:
			return err
		case before == nil:
			return putSigned(tx, r.Anchor, one)
		case before.digest != digest:
			return fmt.Errorf("%w: another one was signed", zkbench.ErrAnchorConflict)
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	return signature, report, nil
}

// authorized is check of a request that issuers and owners have signed, all under one policy.
func (s *AuditorService) authorized(ctx context.Context, rawRequest, rawInformation []byte) (*request.Request, *audit.Report, error) {
	s.adopting.RLock()
	defer s.adopting.RUnlock()
	r, report, err := s.check(ctx, rawRequest, rawInformation)
	if err == nil {
		err = s.validator.Authorized(ctx, rawRequest)
	}
	return r, report, err
}

// Signed returns the request and the information that were signed under an anchor,
// nil if none was.
func (s *AuditorService) Signed(anchor []byte) (rawRequest, rawInformation []byte, err error) {
	one, err := lookUp(s.vault, anchor, getSigned)
	if one == nil || err != nil {
		return nil, nil, err
	}
	return one.request, one.information, nil
}

// signed is what an auditor has signed: digest(32) landed(8) request information, these behind a
// length of 4 bytes.
type signed struct {
	digest               [32]byte
	landed               uint64 // its number in the ledger's log; 0: not known to be there
	request, information []byte
}

func putSigned(tx *bbolt.Tx, anchor []byte, one *signed) error {
	var b cryptobyte.Builder
	b.AddBytes(one.digest[:])
	b.AddUint64(one.landed)
	for _, data := range [][]byte{one.request, one.information} {
		b.AddUint32(uint32(len(data))) // decoded, so within the limits
		b.AddBytes(data)
	}
	body, err := b.Bytes()
	if err != nil {
		return err
	}
	return put(tx, bucketSigned, anchor, body)
}

func getSigned(tx *bbolt.Tx, anchor []byte) (*signed, error) {
	body, err := get(tx, bucketSigned, anchor)
	if body == nil || err != nil {
		return nil, err
	}
	f := wire.NewFields(body, "signed", maxRecord)
	one := new(signed)
	copy(one.digest[:], f.Bytes("digest", len(one.digest)))
	if n := f.Bytes("landed", 8); f.OK() {
		one.landed = binary.BigEndian.Uint64(n)
	}
	one.request = f.Prefixed("request", 4, 1, token.MaxRequest)
	one.information = f.Prefixed("information", 4, 1, audit.MaxInformation)
	return one, damaged(bucketSigned, f.End("signed"))
}
