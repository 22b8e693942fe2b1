package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/policy"
	"github.com/zkbench/zkbench/token/request"
)

// Book is a ledger that a vault is compared with: a ledger.Ledger, or a party that answers for one.
type Book interface {
	Genesis() ledger.Genesis
	// Record returns the record of an anchor, if there is one.
	Record(ctx context.Context, anchor []byte) (ledger.Record, bool, error)
	// Tokens returns the unspent tokens of ids, or why there is none.
	Tokens(ctx context.Context, ids []token.ID) ([]ledger.Found, error)
}

var _ Book = ledger.Reader(nil)

// Discrepancy is a kind of Finding.
type Discrepancy string

// The ways in which a vault and a ledger differ.
const (
	TokenMissing   Discrepancy = "token missing"   // the ledger never had a token that the vault holds
	TokenSpent     Discrepancy = "token spent"     // the ledger says that a token is spent that the vault holds
	TokenDiffers   Discrepancy = "token differs"   // the ledger has another token under the id
	TokenUnspent   Discrepancy = "token unspent"   // the ledger has a token that the vault has found spent
	RequestLanded  Discrepancy = "request landed"  // the ledger has a submission that waits, or a signed request that the vault does not know there
	RequestRefused Discrepancy = "request refused" // the anchor of a submission that waits, or of a signed request, stands for another request
	RequestMissing Discrepancy = "request missing" // the ledger lacks, or has under another number, a request that the vault has found there
	PolicyWrong    Discrepancy = "policy wrong"    // an update of the policy that the vault has kept does not hold; the next Sync replaces it
)

// Finding is a difference between a vault and a ledger.
type Finding struct {
	Kind   Discrepancy
	Token  token.ID // of a finding on a token
	Anchor []byte   // of a finding on a request, or on an update
	Number uint64   // in the log, of the request if it is there; else 0
}

// String returns the finding in a line.
func (f Finding) String() string {
	switch {
	case f.Token != nil:
		return fmt.Sprintf("%s: %x", f.Kind, []byte(f.Token))
	case f.Number > 0:
		return fmt.Sprintf("%s: %x, number %d", f.Kind, f.Anchor, f.Number)
	case f.Anchor != nil:
		return fmt.Sprintf("%s: %x", f.Kind, f.Anchor)
	}
	return string(f.Kind)
}

// askedTogether is how many tokens a ledger is asked for at a time.
const askedTogether = 256

// Compare holds what the vault knows against the answers of a ledger: each token, each request of the history, each request that an auditor has
// signed. It changes nothing. The findings are what differs, none if all is in order. Sync or Reconcile first: what has changed since
// is found too. Compare returns the errors of vault and ledger, and ErrParams if the ledger is another one.
func (v *Vault) Compare(ctx context.Context, l Book) (findings []Finding, err error) {
	if err := sameLedger(v.genesis, l.Genesis()); err != nil {
		return nil, err
	}
	if v.first.Load() != nil {
		rules, wrong, err := v.kept(ctx)
		if err != nil {
			return nil, err
		}
		if wrong != nil {
			findings = append(findings, Finding{Kind: PolicyWrong, Anchor: policy.Anchor(rules.Version + 1)})
		}
	}
	for _, compare := range []func(context.Context, Book) ([]Finding, error){v.compareTokens, v.compareMoves, v.compareSigned} {
		more, err := compare(ctx, l)
		if err != nil {
			return findings, err
		}
		findings = append(findings, more...)
	}
	return findings, nil
}

func (v *Vault) compareTokens(ctx context.Context, l Book) (findings []Finding, err error) {
	var some []*held
	ask := func() error {
		if len(some) == 0 {
			return nil
		}
		ids := make([]token.ID, len(some))
		for i, h := range some {
			ids[i] = h.ID
		}
		found, err := l.Tokens(ctx, ids)
		if err == nil && len(found) != len(ids) {
			err = fmt.Errorf("%w: %d answers on %d tokens", zkbench.ErrEnv, len(found), len(ids))
		}
		if err != nil {
			return fmt.Errorf("ledger: %w", err)
		}
		for i, h := range some {
			kind, err := h.compare(found[i])
			if err != nil {
				return err
			}
			if kind != "" {
				findings = append(findings, Finding{Kind: kind, Token: h.ID})
			}
		}
		some = some[:0]
		return nil
	}
	for id, err := range v.keys(bucketTokens, nil, nil) {
		var h *held
		if err == nil {
			h, err = lookUp(v, token.ID(id), getToken)
		}
		if err != nil {
			return findings, err
		}
		if h == nil {
			continue
		}
		if some = append(some, h); len(some) == askedTogether {
			if err := ask(); err != nil {
				return findings, err
			}
		}
	}
	return findings, ask()
}

// compare is the kind of finding on a token, empty if there is none.
func (h *held) compare(found ledger.Found) (Discrepancy, error) {
	switch {
	case found.Err == nil:
		encoded, err := h.Token.Encode()
		switch {
		case err != nil:
			return "", err
		case !bytes.Equal(encoded, found.Token):
			return TokenDiffers, nil
		case h.state == spent:
			return TokenUnspent, nil
		}
	case errors.Is(found.Err, zkbench.ErrSpent):
		if h.state != spent {
			return TokenSpent, nil
		}
	case errors.Is(found.Err, ledger.ErrNotFound):
		return TokenMissing, nil
	default:
		return "", fmt.Errorf("ledger: %w", found.Err)
	}
	return "", nil
}

func (v *Vault) compareMoves(ctx context.Context, l Book) (findings []Finding, err error) {
	for key, err := range v.keys(bucketHistory, nil, nil) {
		var m *move
		if err == nil {
			m, err = lookUp(v, key, getMove)
		}
		if err != nil {
			return findings, err
		}
		if m == nil || m.Status == Refused || m.Status == Cancelled {
			continue // the anchor may stand for another request
		}
		if findings, err = v.compareRequest(ctx, l, findings, m.Anchor, m.digest, m.Number); err != nil {
			return findings, err
		}
	}
	return findings, nil
}

func (v *Vault) compareSigned(ctx context.Context, l Book) (findings []Finding, err error) {
	for anchor, err := range v.keys(bucketSigned, nil, nil) {
		var one *signed
		if err == nil {
			one, err = lookUp(v, anchor, getSigned)
		}
		if err != nil {
			return findings, err
		}
		if one == nil {
			continue
		}
		if findings, err = v.compareRequest(ctx, l, findings, anchor, one.digest, one.landed); err != nil {
			return findings, err
		}
	}
	return findings, nil
}

// compareRequest asks a ledger for a request that the vault has found under a number (0: not found). What the answer is of, its request says.
func (v *Vault) compareRequest(ctx context.Context, l Book, findings []Finding, anchor []byte, digest [32]byte, number uint64) ([]Finding, error) {
	r, found, err := l.Record(ctx, anchor)
	if err != nil {
		return findings, fmt.Errorf("anchor %x: ledger: %w", anchor, err)
	}
	same, on := false, v.genesis
	if number > 0 {
		on = v.genesis.ForRecord(number)
	}
	if there, err := request.Decode(r.Request); err == nil {
		same = there.Digest(on.ID()) == digest || digest == [32]byte{} // of a proposal that is not signed yet
	}
	finding := Finding{Anchor: bytes.Clone(anchor), Number: r.Seq}
	switch {
	case number > 0 && (!found || !same || r.Seq != number):
		finding.Kind = RequestMissing
	case number == 0 && found && !same:
		finding.Kind = RequestRefused
	case number == 0 && found:
		finding.Kind = RequestLanded
	default:
		return findings, nil
	}
	return append(findings, finding), nil
}
