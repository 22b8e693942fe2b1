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

// Book is a ledger with which a vault is compared: a ledger.Reader, or another party that answers in place of
// a ledger.
type Book interface {
	Genesis() ledger.Genesis
	// Record returns the record with an anchor, if there is one.
	Record(ctx context.Context, anchor []byte) (ledger.Record, bool, error)
	// Tokens returns the unspent token with each id, or why there is none.
	Tokens(ctx context.Context, ids []token.ID) ([]ledger.Found, error)
}

var _ Book = ledger.Reader(nil)

// Discrepancy says how a vault and a ledger differ.
type Discrepancy string

// The ways in which a vault and a ledger differ.
const (
	TokenMissing   Discrepancy = "token missing"   // the ledger never had a token that the vault has
	TokenSpent     Discrepancy = "token spent"     // the ledger has spent a token that is not spent in the vault
	TokenDiffers   Discrepancy = "token differs"   // the ledger has another token under the id
	TokenUnspent   Discrepancy = "token unspent"   // the ledger has not spent a token that is spent in the vault
	RequestLanded  Discrepancy = "request landed"  // the ledger has a pending submission, or a signed request that the vault has not found there
	RequestRefused Discrepancy = "request refused" // another request on the ledger has the anchor of a pending submission or of a signed request
	RequestMissing Discrepancy = "request missing" // the ledger lacks a request that the vault has found there, or has it under another number
	PolicyWrong    Discrepancy = "policy wrong"    // an update of the policy in the vault is not valid; the next Sync replaces it
)

// Discrepancies returns the ways in which Compare finds that a vault and a ledger differ.
func Discrepancies() []Discrepancy {
	return []Discrepancy{TokenMissing, TokenSpent, TokenDiffers, TokenUnspent, RequestLanded, RequestRefused, RequestMissing, PolicyWrong}
}

// Finding is a difference between a vault and a ledger.
type Finding struct {
	Kind   Discrepancy
	Token  token.ID // set if the finding is about a token
	Anchor []byte   // set if the finding is about a request or an update
	Number uint64   // the request's number in the ledger's log; 0 if it is not there
}

// String returns the finding in one line.
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

// askedTogether is the number of tokens in one question to a ledger.
const askedTogether = 256

// Compare compares what the vault knows with a ledger's answers: each token, each request of the history, and
// each request that an auditor has signed. It returns the differences, and changes nothing. Call Sync or
// Reconcile first, because anything that the ledger has recorded since the last such call is a difference
// too. Compare returns the errors of vault and ledger, and ErrParams if the ledger is not the vault's.
func (v *Vault) Compare(ctx context.Context, l Book) (findings []Finding, err error) {
	if err := sameLedger(v.genesis, l.Genesis()); err != nil {
		return nil, err
	}
	if v.first.Load() != nil {
		rules, wrong, err := v.storedPolicy(ctx)
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

// Compare compares what the auditor has signed with a ledger, like Vault.Compare. Call Reconcile first.
func (s *AuditorService) Compare(ctx context.Context, l Book) ([]Finding, error) {
	return s.vault.Compare(ctx, l)
}

// Compare compares what the issuer has issued with a ledger, like Vault.Compare. Call Sync first.
func (s *IssueService) Compare(ctx context.Context, l Book) ([]Finding, error) {
	return s.vault.Compare(ctx, l)
}

func (v *Vault) compareTokens(ctx context.Context, l Book) (findings []Finding, err error) {
	var some []*tokenRecord
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
		var h *tokenRecord
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

// compare returns the kind of finding about a token, or "" if there is none.
func (h *tokenRecord) compare(found ledger.Found) (Discrepancy, error) {
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
			continue // another request may have the anchor
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

// compareRequest asks a ledger for a request that the vault has found under a number (0: not found). It
// computes the digest from the request in the answer.
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
