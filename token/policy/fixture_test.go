package policy_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"slices"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/policy"
)

var (
	home    = token.LedgerID{1}
	genesis = ledger.Genesis{Nonce: [32]byte{1}} // of another ledger, to follow
)

func key(t must.TB, name string) identity.Signer {
	t.Helper()
	seed := sha256.Sum256([]byte(name))
	return must.Get(identity.NewEd25519Signer(ed25519.NewKeyFromSeed(seed[:])))(t)
}

// administrators returns the administrators with these names and the given threshold.
func administrators(t must.TB, threshold int, names ...string) token.Administrators {
	t.Helper()
	a := token.Administrators{Threshold: threshold}
	for _, name := range names {
		a.Identities = append(a.Identities, key(t, name).Identity())
	}
	slices.SortFunc(a.Identities, bytes.Compare)
	return a
}

// first returns the policy of parameters with three administrators, two of whom can change it.
func first(t must.TB) *token.Policy {
	t.Helper()
	p := token.DefaultPolicy()
	p.Administrators = administrators(t, 2, "anna", "ben", "carl")
	return &p
}

// updated returns the update from current to the policy that edit makes, signed by the administrators with
// these names.
func updated(t must.TB, current *token.Policy, edit func(p *token.Policy), names ...string) *policy.Update {
	t.Helper()
	return updatedOn(t, home, current, edit, names...)
}

// updatedOn does what updated does, for the ledger id.
func updatedOn(t must.TB, id token.LedgerID, current *token.Policy, edit func(p *token.Policy), names ...string) *policy.Update {
	t.Helper()
	next := current.Clone()
	edit(next)
	u := must.Get(policy.New(id, current, next))(t)
	for _, name := range names {
		must.Do(t, u.Sign(current, key(t, name)))
	}
	return u
}

// narrower changes one limit of a policy.
func narrower(p *token.Policy) { p.Limits.Inputs-- }

// refused fails the test unless err names the check, the index and the cause.
func refused(t testing.TB, name string, err error, check string, index int, cause error) {
	t.Helper()
	c, ok := errors.AsType[*zkbench.CheckError](err)
	if !ok || c.Check != check || c.Index != index || !errors.Is(err, cause) {
		t.Errorf("%s: %v, want %s %d: %v", name, err, check, index, cause)
	}
}

// source contains what a ledger has recorded, by anchor.
type source map[string]ledger.Record

func (s source) Record(_ context.Context, anchor []byte) (ledger.Record, bool, error) {
	r, found := s[string(anchor)]
	return r, found, nil
}

// record records an update as a ledger would.
func (s source) record(t must.TB, u *policy.Update) {
	t.Helper()
	anchor := policy.Anchor(u.Policy.Version)
	s[string(anchor)] = ledger.Record{Entry: ledger.Entry{
		Anchor: anchor, Request: must.Get(u.Encode())(t), Policy: u.Policy.Version - 1, Update: true,
	}}
}
