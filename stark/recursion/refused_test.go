package recursion_test

import (
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/golden"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/recursion"
)

// refused fails the test unless an error is the one that is wanted, with this text.
func refused(t *testing.T, what string, err, want error, text string) {
	t.Helper()
	must.Fail(t, err, want, "%s", what)
	if err != nil {
		golden.Contains(t, err.Error(), text)
	}
}

// TestBadProofs: a proof that does not verify, of other heights, or none at all is refused before anything is proved,
// and named.
func TestBadProofs(t *testing.T) {
	t.Parallel()
	s := powers(t)
	two := power(t, s, 2, height)
	leaf := recursion.Child{System: s, Rows: []int{height}, Like: two.Statement}
	pair := must.Get(recursion.New(poseidon(), leaf, leaf))(t)
	for name, bad := range map[string]struct {
		recursion.Proof
		err  error
		says string
	}{
		"twice as high": {power(t, s, 3, 2*height), zkbench.ErrMalformed, "proof 1: malformed encoding: heights"},
		"half as high":  {power(t, s, 3, height/2), zkbench.ErrMalformed, "proof 1: malformed encoding: heights"},
		"nothing":       {recursion.Proof{Bytes: []byte{}, Statement: two.Statement}, zkbench.ErrMalformed, "proof 1: malformed encoding: heights"},
		"nil":           {recursion.Proof{Statement: two.Statement}, zkbench.ErrMalformed, "proof 1: there is none"},
		"another's":     {recursion.Proof{Bytes: two.Bytes, Statement: power(t, s, 3, height).Statement}, zkbench.ErrProof, "proof 1: proof rejected: what tables and statement send"},
	} {
		_, err := pair.Prove(t.Context(), executor.Serial(), []recursion.Proof{two, bad.Proof}, stark.Options{Span: func(phase string) func() {
			t.Errorf("%s: %s", name, phase)
			return func() {}
		}})
		refused(t, name, err, bad.err, bad.says)
	}
}
