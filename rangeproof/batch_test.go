package rangeproof_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"testing"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/testing/exectest"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/rangeproof"
)

// recorder is an equation that never holds and keeps the weights it is given.
type recorder struct{ drawn *[]scalar }

func (r recorder) Accumulate(acc *group.Accumulator[scalar, point], w *group.Weights[scalar, point]) {
	x, y := w.Next(), w.Next()
	*r.drawn = append(*r.drawn, x, y)
	acc.AddFixed(0, &x)
}

// random reads zeros, except that its value is the last byte of a read of 32 bytes.
type random byte

func (r random) Read(p []byte) (int, error) {
	clear(p)
	if len(p) == 32 {
		p[31] = byte(r)
	}
	return len(p), nil
}

// wide cuts operations into several tasks.
type wide struct {
	executor.Executor
	tasks int
}

func (w wide) Width() int { return w.tasks }

func oneGenerator(t *testing.T) *bnBasis {
	t.Helper()
	return must.Get(group.NewBasis(group.BN254(), []group.Family{{Name: "g", Count: 1}}, group.TableOptions{Window: 2, Spacing: 8}))(t)
}

// TestWeights: every item of every check, those of the bisection included, has
// weights of its own; they change with the local randomness, and where that
// repeats with any item's state.
func TestWeights(t *testing.T) {
	basis := oneGenerator(t)
	seen := make(map[scalar]string)
	count := 5
	run := func(name string, ex executor.Executor, last byte) {
		drawn := make([][]scalar, count)
		items := make([]rangeproof.Replayed[scalar, point], len(drawn))
		for i := range items {
			items[i].Equations = recorder{&drawn[i]}
			items[i].State[0] = byte(i)
		}
		items[4].State[63] = last
		must.Fail(t, rangeproof.VerifyBatch(ctx, ex, basis, "test", items), zkbench.ErrProof, "%s", name)
		for i := range drawn {
			for _, w := range drawn[i] {
				if other, dup := seen[w]; dup {
					t.Fatalf("%s: item %d has a weight of %s", name, i, other)
				}
				seen[w] = name
			}
		}
	}
	run("serial", serial, 0)
	run("serial again", serial, 0)
	run("two tasks", wide{serial, 2}, 0)
	count = 12
	run("three parts", exectest.Wide(3), 0)
	run("two parts", exectest.Wide(2), 0)
	count = 5
	system := rand.Reader
	defer func() { rand.Reader = system }()
	rand.Reader = random(0)
	run("no randomness", serial, 0)
	run("no randomness, another state", serial, 1)
	rand.Reader = random(1)
	run("other randomness in the last byte", serial, 0)
}

// fixedError is an equation that is off by its value, times its weight.
type fixedError scalar

func (e fixedError) Accumulate(acc *group.Accumulator[scalar, point], w *group.Weights[scalar, point]) {
	x, off := w.Next(), scalar(e)
	x.Mul(&x, &off)
	acc.AddFixed(0, &x)
}

// TestEveryPartCounts: where a batch is cut into parts, a bad proof is found in each of them, and so are two whose errors
// cancel where the first, second, third or fourth proofs of two parts have one weight.
func TestEveryPartCounts(t *testing.T) {
	t.Parallel()
	basis := oneGenerator(t)
	one := fr.One()
	var minus scalar
	minus.Neg(&one)
	for _, width := range []int{2, 3} {
		n := 4 * width // leastItems in each part
		verify := func(wrong map[int]scalar) {
			t.Helper()
			items := make([]rangeproof.Replayed[scalar, point], n)
			for i := range items {
				items[i].Equations = fixedError(wrong[i])
			}
			err := rangeproof.VerifyBatch(ctx, exectest.Wide(width), basis, "test", items)
			bad, only := zkbench.CheckErrors(err)
			if !only || len(bad) != len(wrong) {
				t.Errorf("width %d, wrong are %v: %v", width, wrong, err)
			}
			for _, b := range bad {
				if _, is := wrong[b.Action]; !is {
					t.Errorf("width %d, wrong are %v: item %d named", width, wrong, b.Action)
				}
			}
		}
		for i := range n {
			verify(map[int]scalar{i: one})
			for j := i + 4; j < n; j += 4 {
				verify(map[int]scalar{i: one, j: minus})
			}
		}
	}
}

// fickle is an equation that fails when it is merged with others, and holds when it is checked
// alone, as a fault in the merged path would make it.
type fickle struct{ calls *int }

func (f fickle) Accumulate(acc *group.Accumulator[scalar, point], w *group.Weights[scalar, point]) {
	x := w.Next()
	if *f.calls++; *f.calls <= 2 {
		acc.AddFixed(0, &x)
	}
}

// TestBisectionFailsClosed: where the sum of all fails and every part holds,
// all are refused.
func TestBisectionFailsClosed(t *testing.T) {
	t.Parallel()
	basis := oneGenerator(t)
	calls := 0
	items := make([]rangeproof.Replayed[scalar, point], 2)
	for i := range items {
		items[i].Equations = fickle{&calls}
	}
	must.Fail(t, rangeproof.VerifyBatch(ctx, serial, basis, "test", items), zkbench.ErrProof, "accepted")
}

// holding is an equation without terms.
type holding struct{}

func (holding) Accumulate(*group.Accumulator[scalar, point], *group.Weights[scalar, point]) {
}

// TestFailedReplaysAreNamed: a proof that failed before its equations is named with its cause,
// beside one whose equations fail and among good ones, into however many tasks they are cut.
func TestFailedReplaysAreNamed(t *testing.T) {
	t.Parallel()
	basis := oneGenerator(t)
	var drawn []scalar
	cause := fmt.Errorf("%w: zero challenge", zkbench.ErrProof)
	kinds := map[rune]rangeproof.Replayed[scalar, point]{
		'h': {Equations: holding{}}, 'f': {Equations: recorder{&drawn}}, 'r': {Err: cause},
	}
	for _, want := range []string{"h", "r", "hrhfhr", "fhhh", "hfhh", "hhfh", "hhhf"} {
		items := make([]rangeproof.Replayed[scalar, point], len(want))
		for i, kind := range want {
			items[i] = kinds[kind]
		}
		for width := 1; width <= 4; width++ {
			got := bytes.Repeat([]byte{'h'}, len(want))
			err := rangeproof.VerifyBatch(ctx, wide{serial, width}, basis, "test", items)
			joined, ok := err.(interface{ Unwrap() []error })
			if !ok && err != nil {
				t.Fatal(err)
			}
			if ok {
				for _, err := range joined.Unwrap() {
					var named *zkbench.CheckError
					if !errors.As(err, &named) || named.Check != "test" || named.Index != -1 || !errors.Is(err, zkbench.ErrProof) {
						t.Fatalf("%s: %v", want, err)
					}
					got[named.Action] = 'f'
					if errors.Is(err, cause) {
						got[named.Action] = 'r'
					}
				}
			}
			if string(got) != want {
				t.Errorf("items are %s, want %s: %v", got, want, err)
			}
		}
	}
}

// TestCommitmentsAreInTheSubgroup: a commitment with a component of small order
// is refused when it is decoded.
func TestCommitmentsAreInTheSubgroup(t *testing.T) {
	t.Parallel()
	g := group.BLS12381()
	// (0, 2) is on the curve y² = x³ + 4 and has order three.
	enc := make([]byte, 48)
	enc[0] = 0x80
	var small [1]bls12381.G1Affine
	must.Do(t, g.DecodePoints(small[:], enc, group.OnCurve))
	s := systems(t, g, 4, group.TableOptions{Window: 4, Spacing: 8})[0]
	commitments, proof := proved(t, s, nil, 5)
	var v bls12381.G1Affine
	must.Get(v.SetBytes(commitments))(t)
	v.Add(&v, &small[0])
	var d *zkbench.DecodeError
	if _, err := s.Decode(nil, 1, g.AppendPoints(nil, v), proof); !errors.As(err, &d) || d.Path != "commitments[0]" {
		t.Errorf("commitment outside the subgroup: %v", err)
	}
}
