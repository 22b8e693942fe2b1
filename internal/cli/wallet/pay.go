package wallet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/client"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/policy"
	"github.com/zkbench/zkbench/token/service"
)

// RefusedError says that an auditor or a validator refused a request.
//
// If Kept is false, the request can never be on the ledger: it has not left this process, or the ledger has another
// request that rules it out. If Kept is true, the request still holds its tokens in the wallet. Another party has seen it,
// and whoever has refused it may still record it. To pay again before Payer.Cancel has succeeded may pay twice.
type RefusedError struct {
	By     string // auditor or validator
	Anchor []byte
	Kept   bool
	Err    error
}

func (e *RefusedError) Error() string { return fmt.Sprintf("the %s refuses: %v", e.By, e.Err) }

func (e *RefusedError) Unwrap() error { return e.Err }

// UnknownError says that it is not known whether a request is on the ledger. Until that is known,
// the wallet reserves the tokens that the request spends. Payer.Again submits the request again,
// and Payer.Cancel makes it invalid.
type UnknownError struct {
	Anchor []byte
	Err    error
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("not known whether %x is on the ledger: %v", e.Anchor, e.Err)
}

func (e *UnknownError) Unwrap() error { return e.Err }

// LandedError says that a request is on the ledger, and that the wallet could not follow the ledger up to it. The
// wallet reserves the tokens that the request spends until it can.
type LandedError struct {
	Anchor []byte
	Seq    uint64 // number of the request
	Err    error
}

func (e *LandedError) Error() string {
	return fmt.Sprintf("%x is on the ledger as request %d, but the wallet cannot follow: %v", e.Anchor, e.Seq, e.Err)
}

func (e *LandedError) Unwrap() error { return e.Err }

// Payer makes payments from a Purse. For each payment it asks the auditors of the ledger's
// policy to sign the request, and then puts the request on the ledger.
type Payer struct {
	// Unsigned is how many requests on the ledger are not in the vaults of the auditors that sign in this process: a
	// vault is new, or was lost.
	Unsigned uint64
	// Wait is how long a payment waits, after it was recorded, until validators have signed a head over it. It has an
	// effect only if the ledger is behind a server and the policy names validators.
	Wait time.Duration

	purse    *Purse
	ledger   Ledger
	submit   ledger.Submitter // the ledger
	transfer *service.TransferService
	rules    *policy.Current
	own      []*ownAuditor
	others   []*client.Auditor
}

// DefaultWait is a good choice for Payer.Wait.
const DefaultWait = 10 * time.Second

// NewPayer returns a payer that pays from the purse p on the ledger l. NewPayer returns an error for everything that can
// be refused before a payment is made. The caller must close the payer. Closing the payer does not close the ledger.
func NewPayer(ctx context.Context, p *Purse, l Ledger, a Auditors) (_ *Payer, err error) {
	r := &Payer{purse: p, ledger: l, submit: l}
	if r.rules, err = policy.NewCurrent(l.Genesis(), &p.params.Policy, nil); err != nil {
		return nil, err
	}
	if r.transfer, err = p.Transfers(); err != nil {
		return nil, err
	}
	rules, err := r.currentRules(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.open(ctx, rules, a); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// Pay makes the payments of the order o and returns their entry in the wallet's history. If it
// cannot make the request, it returns the error of TransferService.Transfer. If the request is
// refused, it returns a *RefusedError, which says whether the request still holds its tokens.
// If it is not known whether the request is on the ledger, it returns an *UnknownError. If the request is on the ledger
// and the wallet cannot follow the ledger, it returns a *LandedError. If validators have not signed a head over the
// request yet, the movement is pending.
func (r *Payer) Pay(ctx context.Context, o service.Order) (*service.Movement, error) {
	sub, err := r.transfer.Transfer(ctx, o)
	return r.submitNew(ctx, sub, err, false)
}

// PayKept pays like Pay, but a payment that could not be submitted stays pending. Only a refusal before anybody else has
// seen the request frees its tokens; then nothing can be paid under its anchor.
func (r *Payer) PayKept(ctx context.Context, o service.Order) (*service.Movement, error) {
	sub, err := r.transfer.Transfer(ctx, o)
	return r.submitNew(ctx, sub, err, true)
}

// Consolidate merges the smallest tokens of a type into one. It returns the errors of Pay.
func (r *Payer) Consolidate(ctx context.Context, typ string) (*service.Movement, error) {
	sub, err := r.transfer.Consolidate(ctx, typ)
	return r.submitNew(ctx, sub, err, false)
}

// Cancel makes a pending payment invalid. The parameter anchor is the identifier of the payment's
// request. Cancel takes a token that the pending payment would spend, and makes a new payment that
// pays this token to the wallet itself. Once the new payment is on the ledger, the ledger can never
// accept the pending payment. Cancel returns the errors of Pay.
func (r *Payer) Cancel(ctx context.Context, anchor []byte) (*service.Movement, error) {
	sub, err := r.transfer.Cancel(ctx, anchor)
	return r.submitNew(ctx, sub, err, false)
}

// submitNew puts a new submission on the ledger. If that fails and nobody else has seen the submission, its tokens are
// freed; if keep is true, only if it was refused.
func (r *Payer) submitNew(ctx context.Context, sub *service.Submission, err error, keep bool) (*service.Movement, error) {
	if err != nil {
		return nil, err
	}
	m, left, err := r.submitAudited(ctx, sub)
	refused, isRefusal := errors.AsType[*RefusedError](err)
	if err == nil || left || keep && !isRefusal {
		return m, err
	}
	discarding := r.purse.Discard(context.WithoutCancel(ctx), sub.Request.Anchor)
	if isRefusal {
		refused.Kept = discarding != nil
	}
	return nil, errors.Join(err, discarding)
}

// Again submits the pending payment with the given anchor (the identifier of a request) once more.
// The request is unchanged, and a ledger accepts it only once. If the payment is already on the
// ledger, Again returns its entry in the wallet's history. If the payment is refused, the wallet
// keeps its tokens reserved until Cancel is called.
func (r *Payer) Again(ctx context.Context, anchor []byte) (*service.Movement, error) {
	for k, err := range r.purse.Submissions() {
		if err != nil {
			return nil, err
		}
		if bytes.Equal(k.Request.Anchor, anchor) {
			m, _, err := r.submitAudited(ctx, &k.Submission)
			return m, err
		}
	}
	m, err := r.purse.Movement(anchor)
	switch {
	case err != nil:
		return nil, err
	case m == nil || !m.Made:
		return nil, fmt.Errorf("%w: the wallet has made no payment %x", zkbench.ErrParams, anchor)
	case m.Status != service.Landed:
		return nil, fmt.Errorf("%w: the payment %x is %v, and the ledger can never accept it", zkbench.ErrParams, anchor, m.Status)
	}
	return m, nil
}

// currentRules follows the updates of the policy, and returns the current one. If the wallet has seen a later one, it returns
// ledger.ErrRolledBack: information must not be encrypted to an auditor that the ledger has replaced.
func (r *Payer) currentRules(ctx context.Context) (*token.Policy, error) {
	if err := r.rules.Follow(ctx, r.ledger); err != nil {
		return nil, err
	}
	rules := r.rules.Load()
	if seen := r.transfer.Rules().Version; rules.Version < seen {
		return nil, fmt.Errorf("%w: it had policy %d, now it has policy %d", ledger.ErrRolledBack, seen, rules.Version)
	}
	return rules, nil
}

// submitAudited has the auditors sign a submission, and submits it. It reports whether the submission may have left this
// process: then it may be recorded, whatever the answer.
func (r *Payer) submitAudited(ctx context.Context, sub *service.Submission) (_ *service.Movement, left bool, err error) {
	anchor := sub.Request.Anchor
	rules, err := r.currentRules(ctx)
	if err != nil {
		return nil, false, err
	}
	if err := sub.Audit(ctx, rules, r.signers(&left)...); err != nil {
		if left && (ctx.Err() != nil || errors.Is(err, zkbench.ErrEnv)) {
			return nil, left, &UnknownError{anchor, err}
		}
		return r.refused(ctx, left, &RefusedError{By: "auditor", Anchor: anchor, Kept: true, Err: err})
	}
	raw, err := sub.Request.Encode()
	if err != nil {
		return nil, left, err
	}
	verdicts, err := r.submit.Submit(ctx, [][]byte{raw})
	if err != nil {
		return nil, true, &UnknownError{anchor, err}
	}
	if err := verdicts[0].Err; err != nil {
		if _, refused := errors.AsType[*zkbench.CheckError](err); refused && !errors.Is(err, zkbench.ErrOutcomeUnknown) {
			return r.refused(ctx, left || !r.ledger.own(), &RefusedError{By: "validator", Anchor: anchor, Kept: true, Err: err})
		}
		return nil, true, &UnknownError{anchor, err}
	}
	m, err := r.landed(ctx, rules, anchor, verdicts[0].Record.Seq)
	return m, true, err
}

// landed follows the ledger up to a payment that it has recorded.
func (r *Payer) landed(ctx context.Context, rules *token.Policy, anchor []byte, number uint64) (*service.Movement, error) {
	if server, ok := r.ledger.(interface {
		WaitHead(ctx context.Context, leaves uint64, wait time.Duration) ([]byte, error)
	}); ok && rules.HeadThreshold > 0 {
		_, _ = server.WaitHead(ctx, number+1, r.Wait) // what is wrong with the head, Sync says
	}
	if err := r.outcome(ctx); err != nil {
		return nil, &LandedError{anchor, number, err}
	}
	m, err := r.purse.Movement(anchor)
	switch {
	case err != nil:
		return nil, err
	case m == nil:
		return nil, fmt.Errorf("%w: the history does not have %x", zkbench.ErrEnv, anchor)
	case m.Status == service.Landed, m.Status == service.Pending && rules.HeadThreshold > 0:
		return m, nil
	}
	return nil, &UnknownError{anchor, fmt.Errorf("the answer was that it is request %d, and the log does not have it", number)}
}

// outcome follows the ledger, also for a caller that has gone, but not as long as a server likes to send.
func (r *Payer) outcome(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), outcomeTime)
	defer cancel()
	return r.purse.Sync(ctx, r.ledger)
}

// outcomeTime is how long a payer follows the ledger for the outcome of a payment.
const outcomeTime = 2 * time.Minute

// refused finds out from the log what became of a refused submission that has left this process.
func (r *Payer) refused(ctx context.Context, left bool, refused *RefusedError) (*service.Movement, bool, error) {
	if !left || r.outcome(ctx) != nil {
		return nil, left, refused
	}
	m, err := r.purse.Movement(refused.Anchor)
	if err == nil && m != nil && m.Status == service.Landed {
		return m, left, nil
	}
	refused.Kept = err != nil || m == nil || m.Status == service.Pending
	return nil, left, refused
}
