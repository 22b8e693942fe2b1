package service

import (
	"bytes"
	"context"
	"crypto/hpke"
	"fmt"
	"slices"
	"sync"

	"go.etcd.io/bbolt"
	"golang.org/x/crypto/cryptobyte"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/audit"
	"github.com/zkbench/zkbench/token/entry"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/internal/wire"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/validator"
)

// AuditorService checks and signs requests, and stores what it has signed. It is safe for concurrent use.
type AuditorService struct {
	auditor   *audit.Auditor
	validator *validator.Validator // checks signatures; it verifies no proof
	ledger    token.LedgerID
	vault     *Vault
	signer    identity.Signer
	key       hpke.PublicKey // nil: none
	ids       *identity.Set
	policy    Policy

	anchors turns // of requests about which the policy is asked

	// adopting is locked while auditor and validator change to another policy, and read-locked while they check
	// one request.
	adopting sync.RWMutex
}

// Policy decides which requests an auditor signs, and learns whether each signed request was recorded on the
// ledger. Its methods are called concurrently.
type Policy interface {
	// Allow returns nil if the auditor may sign the request that the report describes. Everything in the report
	// has been checked, and so have the signatures of issuers and owners. An error is the reason for a refusal;
	// Sign returns it inside an ErrPolicy. Sign calls Allow once for each request that it signs, and not when
	// it signs the same request again. If the process ends between the answer and the signature, Sign calls
	// Allow again, with the same anchor and digest.
	Allow(ctx context.Context, report *audit.Report) error
	// Settled receives from Reconcile the outcome of each signed request. The parameter landed is true if the
	// request is on the ledger. It is false if the request can never be recorded, because another request has
	// the same anchor or has spent one of its tokens. If Settled returns an error, Reconcile stops, and the
	// next Reconcile calls Settled again. After a crash Settled may be called twice for a request.
	Settled(ctx context.Context, anchor []byte, digest [32]byte, landed bool) error
}

// SignAll is the policy of an auditor that signs every valid request. The AuditorService still stores what it
// has signed.
type SignAll struct{}

// Allow implements Policy.
func (SignAll) Allow(context.Context, *audit.Report) error { return nil }

// Settled implements Policy.
func (SignAll) Settled(context.Context, []byte, [32]byte, bool) error { return nil }

// PolicyFunc is a function that serves as a Policy: Allow calls it. Such a policy ignores what becomes of the
// requests that it allows.
type PolicyFunc func(ctx context.Context, report *audit.Report) error

// Allow implements Policy.
func (f PolicyFunc) Allow(ctx context.Context, report *audit.Report) error { return f(ctx, report) }

// Settled implements Policy.
func (PolicyFunc) Settled(context.Context, []byte, [32]byte, bool) error { return nil }

// Auditor configures an AuditorService: who audits, and under which Policy.
type Auditor struct {
	Signer      identity.Signer // an auditor of the ledger's policy
	Key         hpke.PrivateKey // the auditor's HPKE key
	Policy      Policy
	Authorities []identity.Identity // the authorities whose enrolments are accepted
}

// NewAuditorService returns a service that audits with the signer in a. This signer need not be an auditor yet:
// Reconcile follows policy updates, and Sign checks the signer against the current policy. NewAuditorService
// returns ErrParams if a.Policy is nil, or if params are not those of the vault's ledger.
func NewAuditorService(params *token.PublicParams, tuning token.Tuning, ex executor.Executor, vault *Vault, a Auditor) (*AuditorService, error) {
	if err := vault.adopt(params); err != nil {
		return nil, err
	}
	if a.Policy == nil {
		return nil, refuse("no policy; SignAll{} signs all that is in order")
	}
	auditor, err := audit.New(params, vault.genesis, ex, tuning, a.Key, a.Authorities...)
	if err != nil {
		return nil, err
	}
	v, err := validator.New(params, vault.genesis, ex, token.LeastTables(), cachedIdentities)
	if err != nil {
		return nil, err
	}
	ids, err := identity.NewSet(1, nil)
	if err != nil {
		return nil, err
	}
	s := &AuditorService{ids: ids, auditor: auditor, validator: v, ledger: vault.genesis.ID(), vault: vault, signer: a.Signer, policy: a.Policy}
	if a.Key != nil {
		s.key = a.Key.PublicKey()
	}
	return s, s.adopt(context.Background())
}

// Rules returns the ledger's policy as far as Reconcile has followed it. The caller must not modify it.
func (s *AuditorService) Rules() *token.Policy { return s.vault.rules() }

// Identity returns the auditor's identity as Rules names it, or the signer's own if Rules does not name it.
func (s *AuditorService) Identity() identity.Identity {
	if id, err := identityOf(s.ids, "auditors", s.Rules().AuditorIdentities(), s.signer); err == nil {
		return id
	}
	return s.signer.Identity()
}

// Key returns the auditor's HPKE key, to which information for the auditor is sealed, or nil if there is none.
func (s *AuditorService) Key() hpke.PublicKey { return s.key }

// Followed returns the number of the last record of the log that Reconcile has seen.
func (s *AuditorService) Followed() (last uint64, err error) { return s.vault.seen(reconciled) }

// adopt makes auditor and validator follow the policy that the vault has.
func (s *AuditorService) adopt(ctx context.Context) error {
	s.adopting.Lock()
	defer s.adopting.Unlock()
	kept := updates{s.vault, s.vault.rules().Version}
	if err := s.auditor.Follow(ctx, kept); err != nil {
		return err
	}
	return s.validator.Follow(ctx, kept)
}

// Check decodes a request and the information that came with it, and checks the request against the
// information. It signs and stores nothing. Check returns the errors of the decoders and of
// audit.Auditor.Check.
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

// Sign checks a request as Check does. It signs the request if issuers and owners have signed as the ledger's
// policy requires, and if the auditor's own Policy allows it. If Sign does not sign the request, it stores
// nothing. It then returns the error of Check or of validator.Validator.Authorized, or an ErrPolicy with the
// error of the auditor's Policy. Sign returns ErrParams if the signer is not an auditor under the ledger's
// policy that Reconcile last followed.
//
// Before Sign returns the signature, it has stored the request and the information durably under the request's
// anchor. Sign signs only one request per anchor. It returns ErrAnchorConflict for a second request with the
// same anchor if that request has other content, or if other members of a threshold sign for its inputs. If
// Sign is called again with the same request, it returns a signature again, even if the owners have made new
// signatures. A signature is valid only under the policy that was current when it was made: after a policy
// update the auditor must sign again.
//
// Anyone can invent a token, sign a request as its owner, and so use up an anchor. Restrict who may call Sign.
func (s *AuditorService) Sign(ctx context.Context, rawRequest, rawInformation []byte) (signature []byte, report *audit.Report, err error) {
	id, err := identityOf(s.ids, "auditors", s.vault.rules().AuditorIdentities(), s.signer)
	if err != nil {
		return nil, nil, err
	}
	r, report, err := s.authorized(ctx, rawRequest, rawInformation)
	if err != nil {
		return nil, nil, err
	}
	done, err := s.anchors.take(ctx, r.Anchor)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	parsed, err := entry.Parse(s.ledger, s.validator.PointLen(), rawRequest)
	if err != nil {
		return nil, nil, err
	}
	one := &signed{digest: report.Digest, request: rawRequest, information: rawInformation}
	before, err := lookUp(s.vault, r.Anchor, getSigned)
	switch {
	case err != nil:
	case before == nil:
		if err = s.policy.Allow(ctx, report); err != nil {
			err = fmt.Errorf("%w: the auditor: %w", zkbench.ErrPolicy, err)
		}
	default:
		err = before.checkSame(one.digest, r)
	}
	if err != nil {
		return nil, nil, err
	}
	toSign := request.ToSign(r.AuditMessage(r.Message(s.ledger)), request.Auditor, report.Policy, id)
	if signature, err = s.signer.Sign(toSign[:], nil); err != nil {
		return nil, nil, err
	}
	ctx = context.WithoutCancel(ctx) // the policy has counted the request, and must learn what becomes of it
	err = s.vault.update(ctx, func(tx *bbolt.Tx) error {
		before, err := getSigned(tx, r.Anchor)
		switch {
		case err != nil:
			return err
		case before != nil:
			return before.checkSame(one.digest, r)
		}
		for _, id := range parsed.Entry.Spends {
			if err := put(tx, bucketAudited, inputKey(id, r.Anchor), nil); err != nil {
				return err
			}
		}
		return putSigned(tx, r.Anchor, one)
	})
	if err != nil {
		return nil, nil, err
	}
	return signature, report, nil
}

// turns gives an anchor to one caller at a time. The zero value is ready to use.
type turns struct {
	mu   sync.Mutex
	busy map[string]chan struct{} // closed when the anchor is free again
}

// take waits until the anchor is free, and reserves it until done is called. If ctx ends before, take returns
// the context's cause.
func (t *turns) take(ctx context.Context, anchor []byte) (done func(), err error) {
	for {
		t.mu.Lock()
		wait, taken := t.busy[string(anchor)]
		if !taken {
			if t.busy == nil {
				t.busy = make(map[string]chan struct{})
			}
			free := make(chan struct{})
			t.busy[string(anchor)] = free
			t.mu.Unlock()
			return func() {
				t.mu.Lock()
				defer t.mu.Unlock()
				delete(t.busy, string(anchor))
				close(free)
			}, nil
		}
		t.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// authorized does what check does, and checks that issuers and owners have signed. The policy does not change
// meanwhile.
func (s *AuditorService) authorized(ctx context.Context, rawRequest, rawInformation []byte) (*request.Request, *audit.Report, error) {
	s.adopting.RLock()
	defer s.adopting.RUnlock()
	r, report, err := s.check(ctx, rawRequest, rawInformation)
	if err == nil {
		err = s.validator.Authorized(ctx, rawRequest)
	}
	return r, report, err
}

// Signed returns the request and the information that were signed under an anchor, or nil if no request was
// signed under it.
func (s *AuditorService) Signed(anchor []byte) (rawRequest, rawInformation []byte, err error) {
	one, err := lookUp(s.vault, anchor, getSigned)
	if one == nil || err != nil {
		return nil, nil, err
	}
	return one.request, one.information, nil
}

// signed is the record of a request that an auditor has signed: digest(32) landed(8) refused(1) request
// information. Request and information follow a length of 4 bytes.
type signed struct {
	digest               [32]byte
	landed               uint64 // its number in the ledger's log; 0: not found there
	refused              bool   // it will never be there
	request, information []byte
}

// checkSame returns ErrAnchorConflict unless a request with that digest is the one that was signed: it says the
// same, and the same identities sign for its inputs.
func (s *signed) checkSame(digest [32]byte, r *request.Request) error {
	if s.digest != digest {
		return fmt.Errorf("%w: another one was signed", zkbench.ErrAnchorConflict)
	}
	before, err := request.Decode(s.request)
	if err != nil {
		return damaged(bucketSigned, err)
	}
	sameWitness := func(a, b request.Spend) bool { return bytes.Equal(a.Unlock, b.Unlock) }
	if !slices.EqualFunc(r.Actions, before.Actions, func(a, b request.Action) bool { return slices.EqualFunc(a.Spends, b.Spends, sameWitness) }) {
		return fmt.Errorf("%w: it was signed with another witness", zkbench.ErrAnchorConflict)
	}
	return nil
}

// open reports whether the outcome of the request is still unknown.
func (s *signed) open() bool { return s.landed == 0 && !s.refused }

func putSigned(tx *bbolt.Tx, anchor []byte, one *signed) error {
	var b cryptobyte.Builder
	b.AddBytes(one.digest[:])
	b.AddUint64(one.landed)
	b.AddUint8(bit(one.refused))
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
	one.landed = f.Uint64("landed")
	one.refused = f.Number("refused", 1, 0, 1) == 1
	one.request = f.Prefixed("request", 4, 1, token.MaxRequest)
	one.information = f.Prefixed("information", 4, 1, audit.MaxInformation)
	return one, damaged(bucketSigned, f.End("signed"))
}
