package wallet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/cli/keyfile"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/service"
	"github.com/zkbench/zkbench/token/validator"
)

// RefusedError says that an auditor or a validator refused a request. The request is therefore not
// on the ledger.
type RefusedError struct {
	By     string // auditor or validator
	Anchor []byte
	Kept   bool // the request still holds its tokens in the wallet
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
	// Unsigned is how many requests on the ledger are not in the auditors' vaults: a vault is new, or was lost.
	Unsigned uint64

	purse    *Purse
	ledger   ledger.Store
	transfer *service.TransferService
	submit   ledger.Submitter
	auditors []*auditor // in the order of the policy
}

// auditor is an auditor that signs in this process.
type auditor struct {
	*service.AuditorService
	vault *service.Vault
}

// acceptedAuditor says what a file of an auditor's keys contains.
const acceptedAuditor = "PEM blocks of an auditor's signing key (or a line with its PKCS #11 URI) and of its X25519 or MLKEM768-X25519 key, and of the identities of authorities whose enrolments count"

// NewPayer returns a payer that pays from the purse p on the ledger l. The parameter auditorKeys
// contains the paths of the files with the keys of all auditors of the ledger's policy, in any
// order. Beside each of these files is that auditor's vault (its database), a file with the
// extension .vault; NewPayer creates the vault if it does not exist. NewPayer returns an error for
// everything that can be refused before a payment is made. The caller must close the payer. Closing
// the payer does not close the ledger.
func NewPayer(ctx context.Context, p *Purse, l ledger.Store, auditorKeys ...string) (_ *Payer, err error) {
	r := &Payer{purse: p, ledger: l}
	v, err := validator.New(p.params, l.Genesis(), executor.Pool(), token.Tuning{}, 64)
	if err == nil {
		err = v.Follow(ctx, l)
	}
	if err != nil {
		return nil, err
	}
	if r.submit, err = validator.NewSubmitter(v, l, nil); err != nil {
		return nil, err
	}
	if r.transfer, err = p.Transfers(); err != nil {
		return nil, err
	}
	if err := r.open(ctx, v.Policy(), auditorKeys); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// Close closes the auditors' vaults.
func (r *Payer) Close() (err error) {
	for _, a := range r.auditors {
		if a != nil {
			err = errors.Join(err, a.vault.Close())
		}
	}
	return err
}

// open opens the auditors of a policy.
func (r *Payer) open(ctx context.Context, rules *token.Policy, paths []string) error {
	const field = "auditor-key"
	r.auditors = make([]*auditor, len(rules.Auditors))
	for _, path := range paths {
		keys, err := keyfile.Read(field, path, acceptedAuditor)
		if err != nil {
			return err
		}
		signer := keys.Signer(rules.AuditorIdentities()...)
		if signer == nil || keys.Opening == nil {
			return &argument.ValueError{Field: field, Value: path, Accepted: fmt.Sprintf("%s; the auditor must be one of the %d of policy %d", acceptedAuditor, len(rules.Auditors), rules.Version)}
		}
		at := slices.IndexFunc(rules.Auditors, func(a token.Auditor) bool { return bytes.Equal(a.Identity, signer.Identity()) })
		if r.auditors[at] != nil {
			return &argument.ValueError{Field: field, Value: path, Accepted: "the keys of each auditor once"}
		}
		if !bytes.Equal(keys.Opening.PublicKey().Bytes(), rules.Auditors[at].Key) {
			return &argument.ValueError{Field: field, Value: path, Accepted: "a file with the key that policy " + fmt.Sprint(rules.Version) + " names for encrypting to this auditor"}
		}
		if r.auditors[at], err = r.openAuditor(ctx, path, signer, keys); err != nil {
			return fmt.Errorf("%s: %s: %w", field, path, err)
		}
	}
	for i, a := range r.auditors {
		if a == nil {
			return &argument.ValueError{
				Field: field, Value: strings.Join(paths, ","),
				Accepted: fmt.Sprintf("the secret-key files of all %d auditors of policy %d, who must sign every request; missing: %s",
					len(r.auditors), rules.Version, Owner(rules.Auditors[i].Identity)),
			}
		}
	}
	return nil
}

// openAuditor opens an auditor and makes it follow the ledger.
func (r *Payer) openAuditor(ctx context.Context, path string, signer identity.Signer, keys *keyfile.Keys) (_ *auditor, err error) {
	vaultPath := AuditorVault(path)
	vault, err := service.OpenVault(vaultPath, r.ledger.Genesis())
	if errors.Is(err, fs.ErrNotExist) {
		vault, err = service.CreateVault(vaultPath, r.ledger.Genesis())
	}
	if err != nil {
		return nil, err
	}
	a := &auditor{vault: vault}
	a.AuditorService, err = service.NewAuditorService(r.purse.params, token.Tuning{}, executor.Pool(), vault, service.Auditor{
		Signer: signer, Key: keys.Opening, Policy: service.SignAll{}, Authorities: keys.Identities,
	})
	if err == nil {
		_, err = a.Reconcile(ctx, r.ledger, func(ledger.Record) error { r.Unsigned++; return nil })
	}
	if err != nil {
		return nil, errors.Join(err, vault.Close())
	}
	return a, nil
}

// AuditorVault returns the path of an auditor's vault. The parameter keys is the path of the file
// with the auditor's keys.
func AuditorVault(keys string) string {
	return strings.TrimSuffix(keys, filepath.Ext(keys)) + ".vault"
}

// Pay makes the payments of the order o and returns their entry in the wallet's history. If it
// cannot make the request, it returns the error of TransferService.Transfer. If the request is
// refused, it returns a *RefusedError and releases the tokens that were reserved for the request.
// If it is not known whether the request is on the ledger, it returns an *UnknownError. If the request is on the ledger
// and the wallet cannot follow the ledger, it returns a *LandedError. If validators have not signed a head over the
// request yet, the movement is pending.
func (r *Payer) Pay(ctx context.Context, o service.Order) (*service.Movement, error) {
	sub, err := r.transfer.Transfer(ctx, o)
	return r.submitNew(ctx, sub, err)
}

// Consolidate merges the smallest tokens of a type into one. It returns the errors of Pay.
func (r *Payer) Consolidate(ctx context.Context, typ string) (*service.Movement, error) {
	sub, err := r.transfer.Consolidate(ctx, typ)
	return r.submitNew(ctx, sub, err)
}

// Cancel makes a pending payment invalid. The parameter anchor is the identifier of the payment's
// request. Cancel takes a token that the pending payment would spend, and makes a new payment that
// pays this token to the wallet itself. Once the new payment is on the ledger, the ledger can never
// accept the pending payment. Cancel returns the errors of Pay.
func (r *Payer) Cancel(ctx context.Context, anchor []byte) (*service.Movement, error) {
	sub, err := r.transfer.Cancel(ctx, anchor)
	return r.submitNew(ctx, sub, err)
}

// submitNew puts a new submission on the ledger. If it is refused, nobody else has seen it, so its
// tokens are freed.
func (r *Payer) submitNew(ctx context.Context, sub *service.Submission, err error) (*service.Movement, error) {
	if err != nil {
		return nil, err
	}
	m, err := r.submitAudited(ctx, sub)
	if refused, ok := errors.AsType[*RefusedError](err); ok {
		discarding := r.purse.Discard(context.WithoutCancel(ctx), sub.Request.Anchor)
		refused.Kept = discarding != nil
		err = errors.Join(err, discarding)
	}
	return m, err
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
			return r.submitAudited(ctx, &k.Submission)
		}
	}
	m, err := r.purse.movement(anchor)
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

// submitAudited has the auditors sign a submission, and submits it.
func (r *Payer) submitAudited(ctx context.Context, sub *service.Submission) (*service.Movement, error) {
	anchor := sub.Request.Anchor
	shown, information, err := sub.ForAuditors()
	if err != nil {
		return nil, err
	}
	sub.Request.Auditors = make([][]byte, len(r.auditors))
	for i, a := range r.auditors {
		if sub.Request.Auditors[i], _, err = a.Sign(ctx, shown, information); err != nil {
			return nil, &RefusedError{By: "auditor", Anchor: anchor, Kept: true, Err: err}
		}
	}
	raw, err := sub.Request.Encode()
	if err != nil {
		return nil, err
	}
	verdicts, err := r.submit.Submit(ctx, [][]byte{raw})
	if err != nil {
		return nil, &UnknownError{anchor, err}
	}
	if err := verdicts[0].Err; err != nil {
		if _, refused := errors.AsType[*zkbench.CheckError](err); refused && !errors.Is(err, zkbench.ErrOutcomeUnknown) {
			return nil, &RefusedError{By: "validator", Anchor: anchor, Kept: true, Err: err}
		}
		return nil, &UnknownError{anchor, err}
	}
	if err := r.purse.Sync(context.WithoutCancel(ctx), r.ledger); err != nil {
		return nil, &LandedError{anchor, verdicts[0].Record.Seq, err}
	}
	m, err := r.purse.movement(anchor)
	if err == nil && m == nil {
		err = fmt.Errorf("%w: the history does not have %x", zkbench.ErrEnv, anchor)
	}
	return m, err
}
