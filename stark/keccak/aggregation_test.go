package keccak_test

import (
	"bytes"
	"context"
	"math"
	"slices"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/keccak"
	"github.com/zkbench/zkbench/stark/recursion"
)

// smallTreeParams returns parameters that promise nothing, for tests.
func smallTreeParams() recursion.TreeParams {
	params := func(name string, degree, logBlowup int) stark.Params {
		return stark.Params{Name: name, Bits: stark.Unproven, Degree: degree, LogBlowup: logBlowup, Queries: 2, Grinding: 1, Stack: 4, LogFold: 3, LogFinal: 3, LogCap: 1}
	}
	return recursion.TreeParams{Child: params("child", 2, 1), Inner: params("inner", 2, 3), Last: params("last", 3, 3)}
}

// TestAggregation: of two batches one proof, which holds for what is claimed of each and for nothing else, and
// batches of another form are refused.
func TestAggregation(t *testing.T) {
	t.Parallel()
	a := must.Get(keccak.NewAggregation(smallTreeParams(), keccak.Batch{Messages: 2, Blocks: 4}, 2))(t)
	message := func(b byte, n int) []byte { return bytes.Repeat([]byte{b}, n) }
	batches := [][][]byte{{message(1, 0), message(2, 136)}, {message(3, 271), message(4, 135)}}
	about := []byte("transaction 7")
	proof := must.Get(a.Prove(t.Context(), executor.Pool(), batches, about, stark.Options{}))(t)
	claims := func() (all [][]keccak.Claim) {
		for _, messages := range batches {
			all = append(all, keccak.Claims(messages, stark.Exposed))
		}
		return all
	}
	must.Do(t, a.Verify(proof, claims(), about))
	must.Fail(t, a.Verify(proof, claims(), []byte("transaction 8")), zkbench.ErrProof, "another transaction")
	must.Fail(t, a.Verify(proof, claims(), nil), zkbench.ErrProof, "no transaction")
	for name, change := range map[string]func(c [][]keccak.Claim){
		"a digest":           func(c [][]keccak.Claim) { c[1][0].Digest[31] ^= 1 },
		"a length":           func(c [][]keccak.Claim) { c[0][0].Length++ },
		"batches exchanged":  func(c [][]keccak.Claim) { c[0], c[1] = c[1], c[0] },
		"messages exchanged": func(c [][]keccak.Claim) { c[0][0], c[0][1] = c[0][1], c[0][0] },
		"one batch twice":    func(c [][]keccak.Claim) { c[1] = c[0] },
	} {
		other := claims()
		change(other)
		must.Fail(t, a.Verify(proof, other, about), zkbench.ErrProof, "%s", name)
	}
	must.Fail(t, a.Verify(proof, claims()[:1], about), zkbench.ErrParams, "a batch less")
	must.Fail(t, a.Verify(proof, [][]keccak.Claim{claims()[0], claims()[1][:1]}, about), zkbench.ErrParams, "a message less")
	for name, wrong := range map[string][][]byte{
		"a message less":   batches[0][:1],
		"a message more":   slices.Concat(batches[0], batches[0][:1]),
		"a block too many": {message(1, 136), message(2, 400)},
	} {
		_, err := a.Prove(t.Context(), executor.Serial(), [][][]byte{wrong, batches[1]}, about, stark.Options{})
		must.Fail(t, err, zkbench.ErrParams, "%s", name)
	}
	_, err := a.Prove(t.Context(), executor.Serial(), batches[:1], about, stark.Options{})
	must.Fail(t, err, zkbench.ErrParams, "a batch less")
	for name, form := range map[string]keccak.Batch{"no message": {0, 1}, "no block": {1, 0}, "less blocks than messages": {3, 2}, "more than there are rows": {1 << 28, 1 << 28}, "more than there are numbers": {1, math.MaxInt}} {
		_, err := keccak.NewAggregation(smallTreeParams(), form, 1)
		must.Fail(t, err, zkbench.ErrParams, "%s", name)
	}
	_, err = keccak.NewAggregation(smallTreeParams(), keccak.Batch{Messages: 1, Blocks: 1}, 0)
	must.Fail(t, err, zkbench.ErrParams, "no batch")
}

// TestAggregationExecutors: an aggregation has the same programs and makes the same proof on every executor.
func TestAggregationExecutors(t *testing.T) {
	t.Parallel()
	batch := keccak.Batch{Messages: 1, Blocks: 1}
	batches := [][][]byte{{{1}}, {{2}}, {{3}}}
	want := must.Get(keccak.NewAggregation(smallTreeParams(), batch, len(batches)))(t)
	proof := must.Get(want.Prove(t.Context(), executor.Serial(), batches, nil, stark.Options{}))(t)
	for _, ex := range []executor.Executor{executor.Pool(), executor.Unbounded(), executor.NewRecorder(3)} {
		a := must.Get(keccak.NewAggregationOn(t.Context(), ex, smallTreeParams(), batch, len(batches)))(t)
		if a.Tree().System().Digest() != want.Tree().System().Digest() {
			t.Errorf("%s: another system than with serial", ex.Name())
		}
		if !bytes.Equal(proof, must.Get(a.Prove(t.Context(), ex, batches, nil, stark.Options{}))(t)) {
			t.Errorf("%s: another proof than with serial", ex.Name())
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := keccak.NewAggregationOn(ctx, executor.Pool(), smallTreeParams(), batch, 1)
	must.Fail(t, err, context.Canceled, "cancelled")
}
