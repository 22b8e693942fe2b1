package plonkish

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/srs"
)

// small is a proved statement of a few rows.
func small(t testing.TB) statement {
	b := NewBuilder(Plonk())
	chain(b, 3, 2)
	s := statement{Circuit: must.Get(b.Build())(t)}
	s.ProvingKey, s.public = setup(t, s.Circuit), s.Public()
	s.proof = must.Get(s.Prove(t.Context(), executor.Serial(), s.Circuit, Options{Context: bound}))(t)
	return s
}

func (s *statement) claim() Claim { return Claim{s.Verifying(), s.proof, s.public, bound, true} }

// TestStatementIsNamed: a wrong number of public values is refused as that.
func TestStatementIsNamed(t *testing.T) {
	s := small(t)
	for _, public := range [][]fr.Element{nil, s.public[1:], append(slices.Clone(s.public), fr.Element{})} {
		err := s.VerifyInsecure(s.proof, public, bound)
		if want := fmt.Sprintf("%d public values; the circuit has 2", len(public)); !errors.Is(err, zkbench.ErrProof) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	err := VerifyBatch(t.Context(), executor.Serial(), []Claim{s.claim(), {s.Verifying(), s.proof, nil, bound, true}})
	golden.Equal(t, "a claim's error", "claim 1: proof rejected: 0 public values; the circuit has 2", err.Error())
}

// TestStates: what weights are drawn from depends on all of a statement and its proof, the last point too.
func TestStates(t *testing.T) {
	s := small(t)
	state := func(c Claim) [64]byte { return must.Get(c.equation())(t).state }
	states := map[[64]byte]string{state(s.claim()): "the claim"}
	differs := func(what string, c Claim) {
		if other, ok := states[state(c)]; ok {
			t.Errorf("%s and %s have one state", what, other)
		}
		states[state(c)] = what
	}
	c := s.claim()
	c.Context = nil
	differs("another context", c)
	c = s.claim()
	c.Public = swap(c.Public)
	differs("other public values", c)
	for i := range 2 {
		p := must.Get(s.decode(s.proof))(t)
		p.opening[i].Add(&p.opening[i], &s.one)
		c = s.claim()
		c.Proof = p.encode()
		differs(fmt.Sprintf("point %d of the opening", i), c)
	}
}

// TestWeights: the first weight of a batch depends on each state, to its last byte, and on each byte of the
// local randomness, of which 32 are read.
func TestWeights(t *testing.T) {
	local := bytes.Repeat([]byte{7}, 32)
	draw := func(local []byte, equations ...*equation) fr.Element {
		return must.Get(newWeights(equations, bytes.NewReader(local)))(t).Next()
	}
	states := func(changed int) []*equation {
		all := []*equation{{}, nil, {}}
		if changed >= 0 {
			all[changed/64*2].state[changed%64] = 1
		}
		return all
	}
	first := draw(local, states(-1)...)
	golden.Equal(t, "the same weight", first, draw(append(slices.Clone(local), 8), states(-1)...))
	for i := range 128 {
		if draw(local, states(i)...) == first {
			t.Errorf("byte %d of the states", i)
		}
	}
	for i := range local {
		other := slices.Clone(local)
		other[i]++
		if draw(other, states(-1)...) == first {
			t.Errorf("byte %d of the local randomness", i)
		}
	}
	must.FailGet(newWeights(nil, bytes.NewReader(local[:31])))(t, io.ErrUnexpectedEOF, "31 random bytes")
}

var errFault = errors.New("a fault")

// faulty is an executor whose call of that number ends with a fault, or does nothing and says so of none.
type faulty struct {
	executor.Executor
	call    int
	silent  bool
	reached bool
}

func (f *faulty) Do(ctx context.Context, n int, task func(ctx context.Context, i int) error) error {
	f.call--
	if f.call != -1 {
		return f.Executor.Do(ctx, n, task)
	}
	f.reached = true
	if f.silent {
		return nil
	}
	return errFault
}

// TestFaultsAreTold: wherever an executor fails, setup, expansion, proof and batch end with its error.
func TestFaultsAreTold(t *testing.T) {
	s := small(t)
	bad := s.claim()
	bad.Context = nil
	for what, do := range map[string]func(ex executor.Executor) error{
		"setup": func(ex executor.Executor) error { _, err := Setup(t.Context(), ex, s.Circuit, s.srs); return err },
		"setup, verifying": func(ex executor.Executor) error {
			_, err := SetupVerifying(t.Context(), ex, s.Circuit, s.srs)
			return err
		},
		"expansion": func(ex executor.Executor) error {
			k := *s.ProvingKey
			err := k.Expand(t.Context(), ex)
			if (k.expanded != nil) == (err != nil) {
				t.Errorf("expanded %v after %v", k.expanded != nil, err)
			}
			return err
		},
		"proof": func(ex executor.Executor) error { _, err := s.Prove(t.Context(), ex, s.Circuit, Options{}); return err },
		"batch": func(ex executor.Executor) error { return VerifyBatch(t.Context(), ex, []Claim{s.claim(), s.claim()}) },
		"batch, bad claims": func(ex executor.Executor) error {
			err := VerifyBatch(t.Context(), ex, []Claim{bad, s.claim(), s.claim(), bad})
			if errors.Is(err, errFault) {
				if _, ok := errors.AsType[*ClaimError](err); ok {
					t.Errorf("a claim is named for a fault: %v", err)
				}
				return err
			}
			if !errors.Is(err, zkbench.ErrProof) {
				t.Errorf("bad claims: %v", err)
			}
			return nil
		},
	} {
		for call := 0; ; call++ {
			ex := &faulty{Executor: executor.Serial(), call: call}
			err := do(ex)
			if !ex.reached {
				if must.Do(t, err, what); call < 2 {
					t.Errorf("%s: %d calls of the executor", what, call)
				}
				break
			}
			must.Fail(t, err, errFault, "%s, call %d", what, call)
		}
	}
	must.FailGet(SetupVerifying(t.Context(), executor.Serial(), s.Circuit, must.Get(srs.Insecure(t.Context(), executor.Serial(), 4*s.Size(), 1))(t)))(t, zkbench.ErrParams, "another size")
}

// TestSilentFault: a sum of a batch that was not computed is no acceptance, though no claim fails by itself.
func TestSilentFault(t *testing.T) {
	s := small(t)
	ex := &faulty{Executor: executor.Serial(), call: 1, silent: true} // the first call runs the transcripts
	err := VerifyBatch(t.Context(), ex, []Claim{s.claim(), s.claim()})
	must.Fail(t, err, zkbench.ErrProof, "a sum that is none")
	golden.Equal(t, "claims that are named", 2, len(err.(interface{ Unwrap() []error }).Unwrap()))
}

// TestClose: all memory is given back, its errors are told, and a key that has taken none goes on.
func TestClose(t *testing.T) {
	s := small(t)
	must.Do(t, s.Close())
	must.Get(s.Prove(t.Context(), executor.Serial(), s.Circuit, Options{}))(t)
	k, closed := *s.ProvingKey, 0
	must.Do(t, k.Expand(t.Context(), executor.Serial()))
	must.Do(t, k.Expand(t.Context(), executor.Serial()))
	golden.Equal(t, "what an expanded key gives back", 1, len(k.unmap))
	for range 2 {
		k.unmap = append(k.unmap, func() error { closed++; return errFault })
	}
	must.Fail(t, k.Close(), errFault, "memory that is not given back")
	golden.Equal(t, "memory given back", 2, closed)
	must.FailGet(k.Prove(t.Context(), executor.Serial(), s.Circuit, Options{}))(t, zkbench.ErrParams, "a closed key")
}

// TestNoMemory: a circuit that memory has no room for gets no keys.
func TestNoMemory(t *testing.T) {
	s := small(t)
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1))
	must.FailGet(Setup(t.Context(), executor.Serial(), s.Circuit, s.srs))(t, zkbench.ErrLimit, "no memory")
	debug.SetMemoryLimit(math.MaxInt64)
	must.FailGet(setupIn(t.Context(), executor.Serial(), s.Circuit, s.srs, 1000))(t, zkbench.ErrLimit, "memory for domains, and not for columns")
}

// TestInsecure: a key says whether τ is known, and so does its encoding.
func TestInsecure(t *testing.T) {
	s := small(t)
	golden.Equal(t, "over a string for tests", true, s.Insecure())
	again := &srs.SRS{Canonical: s.srs.Canonical, Lagrange: s.srs.Lagrange} // which nobody vouches for either
	golden.Equal(t, "over its points", true, must.Get(SetupVerifying(t.Context(), executor.Serial(), s.Circuit, again))(t).Insecure())
	in := s.Verifying().Bytes()
	golden.Equal(t, "read", true, must.Get(ReadVerifyingKey(Plonk(), in))(t).Insecure())
	must.Fail(t, s.Verify(s.proof, s.public, bound), zkbench.ErrParams, "a key that anybody can prove anything by")
	claim := s.claim()
	claim.Insecure = false
	err := VerifyBatch(t.Context(), executor.Serial(), []Claim{s.claim(), claim})
	var named *ClaimError
	if !errors.As(err, &named) || named.Claim != 1 || !errors.Is(err, zkbench.ErrParams) {
		t.Errorf("a batch: %v", err)
	}
	secure := *s.Verifying()
	secure.insecure = false
	must.Do(t, secure.Verify(s.proof, s.public, bound))
	in[40] = 0
	golden.Equal(t, "read as secure", false, must.Get(ReadVerifyingKey(Plonk(), in))(t).Insecure())
}

// TestProofBytes: the memory of a small proof is, a row, that of 7 columns and pieces in Plonk, and of the pass over the
// cosets: 6 columns that the circuit decides, and 20 vectors on the only part, which take more than two lists and a sum.
func TestProofBytes(t *testing.T) {
	s := small(t)
	element := s.form.Bytes(1<<10) >> 10
	golden.Equal(t, "bytes of an element", element, s.elementBytes())
	golden.Equal(t, "bytes of a proof in Plonk, a row", (7+6)*fr.Bytes+20*element, s.proofBytes(s.n))
}
