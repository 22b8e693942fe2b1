package group_test

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"runtime/metrics"
	"slices"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
)

// wide claims to run many tasks at once and runs them in reverse: the sums are
// cut into many pieces.
type wide struct{ executor.Executor }

func (wide) Name() string { return "wide" }
func (wide) Width() int   { return 7 }
func (w wide) Do(ctx context.Context, n int, task func(context.Context, int) error) error {
	return w.Executor.Do(ctx, n, func(ctx context.Context, i int) error { return task(ctx, n-1-i) })
}

// executors returns all executors that a sum may run under, or in the short form the two that
// differ most.
func executors() []executor.Executor {
	all := []executor.Executor{executor.Serial(), wide{executor.Serial()}, executor.Unbounded(), executor.Pool()}
	return all[:testsize.Pick(2, len(all), len(all))]
}

// terms holds points and scalars with the sums of their first n products, added one by one.
type terms[S, P any] struct {
	points  []P
	scalars []S
	sums    []P // len(points)+1
}

// terms returns n terms that hold, at any length above 16, every special case:
// edge scalars, the identity, repeated points, opposite points with equal
// scalars, and points whose products coincide.
func (s *suite[S, P]) terms(n int) *terms[S, P] {
	const distinct = 130
	rng := random()
	edges := s.scalars(s.edges())
	out := &terms[S, P]{sums: make([]P, 1, n+1)}
	var products []P
	base := s.base("terms")
	for i := range n {
		if i >= distinct {
			// Repeating is cheap and harder: whole runs of equal digits.
			out.points = append(out.points, out.points[i-distinct])
			out.scalars = append(out.scalars, out.scalars[i-distinct])
			products = append(products, products[i-distinct])
		} else {
			var p P
			k := s.randomScalar(rng)
			s.MulPoint(&p, &base, &k)
			k = s.randomScalar(rng)
			if i%2 == 1 {
				k = edges[i/2%len(edges)]
			}
			switch i % 11 {
			case 3:
				p = out.points[i-1]
			case 5:
				p, k = out.points[i-1], out.scalars[i-1]
			case 7:
				s.NegPoint(&p, &out.points[i-1])
				k = out.scalars[i-1]
			case 9:
				p = *new(P)
			case 10:
				s.AddPoints(&p, &out.points[i-4], &out.points[i-4])
			}
			var product P
			s.MulPoint(&product, &p, &k)
			out.points, out.scalars, products = append(out.points, p), append(out.scalars, k), append(products, product)
		}
		var sum P
		s.AddPoints(&sum, &out.sums[i], &products[i])
		out.sums = append(out.sums, sum)
	}
	return out
}

func (s *suite[S, P]) testMSM(t *testing.T) {
	all := s.all
	check := func(what string, ex executor.Executor, points []P, scalars []S, want *P) {
		t.Helper()
		pointsBefore, scalarsBefore := slices.Clone(points), slices.Clone(scalars)
		got := must.Get(s.MSM(t.Context(), ex, points, scalars))(t)
		if !s.EqualPoints(&got, want) {
			t.Errorf("%s exec=%s: MSM differs from the sum of products", what, ex.Name())
		}
		for i := range points {
			if !s.EqualPoints(&points[i], &pointsBefore[i]) || !s.Equal(&scalars[i], &scalarsBefore[i]) {
				t.Fatalf("%s: MSM changed its input", what)
			}
		}
	}
	sizes := []int{0, 1, 2, 3, 7, 8, 16, 33, 64, 65, 130, 161, 330}
	for _, ex := range executors() {
		for _, n := range testsize.Pick([]int{0, 1, 3, 8, 33, 130}, sizes, sizes) {
			check(fmt.Sprintf("n=%d", n), ex, all.points[:n], all.scalars[:n], &all.sums[n])
		}
	}

	// The same point everywhere, one scalar everywhere, zeros, and a sum that
	// cancels.
	base := s.base("special")
	for _, n := range []int{2, 9, 40, 200}[:testsize.Pick(3, 4, 4)] {
		points, scalars := slices.Repeat([]P{base}, n), make([]S, n)
		var want P
		check(fmt.Sprintf("n=%d all scalars 0", n), executor.Serial(), points, scalars, &want)
		for _, v := range []*big.Int{big.NewInt(1), new(big.Int).Sub(s.r, big.NewInt(1)), new(big.Int).Rsh(s.r, 1)} {
			scalars = slices.Repeat([]S{s.scalar(v)}, n)
			times := s.scalar(new(big.Int).Mul(v, big.NewInt(int64(n))))
			s.MulPoint(&want, &base, &times)
			check(fmt.Sprintf("n=%d all terms %x·P", n, v), executor.Serial(), points, scalars, &want)
		}
		opposite := slices.Clone(points)
		for i := range n / 2 {
			s.NegPoint(&opposite[i], &opposite[i])
		}
		if n%2 == 0 {
			want = *new(P)
			check(fmt.Sprintf("n=%d P and -P", n), executor.Serial(), opposite, scalars, &want)
		}
		identities := make([]P, n)
		want = *new(P)
		check(fmt.Sprintf("n=%d identities", n), executor.Serial(), identities, scalars, &want)
	}
	if !panics(func() { _, _ = s.MSM(t.Context(), executor.Serial(), all.points[:2], all.scalars[:1]) }) {
		t.Error("MSM of different lengths does not panic")
	}
}

// testLengths tests provers' scalars, of all lengths and signs, over the multiples 1, 2, 3, ... of
// a point, whose sum is known from integers.
func (s *suite[S, P]) testLengths(t *testing.T) {
	n := testsize.Pick(1200, 9000, 9000)
	if s.curve == curveFP256BN {
		n = 300 // which tells no lengths apart, and is slow
	}
	base := s.base("lengths")
	points := []P{base}
	for len(points) < n {
		var next P
		s.AddPoints(&next, &points[len(points)-1], &base)
		points = append(points, next)
	}
	rng := random()
	word := func(bits uint) func() *big.Int {
		return func() *big.Int { return new(big.Int).SetUint64(rng.Uint64() & (1<<bits - 1)) }
	}
	minus := func(of func() *big.Int) func() *big.Int {
		return func() *big.Int { v := of(); return v.Sub(s.r, v).Mod(v, s.r) }
	}
	constant := func(v int64) func() *big.Int { return func() *big.Int { return big.NewInt(v) } }
	full := func() *big.Int { k := s.randomScalar(rng); return s.integer(&k) }
	half := func() *big.Int { return new(big.Int).Rsh(s.r, 1) }
	lengths := map[string][]func() *big.Int{
		"ones":        {constant(1)},
		"minus ones":  {minus(constant(1))},
		"bits":        {word(1)},
		"signs":       {constant(1), constant(0), minus(constant(1))},
		"16 bits":     {word(16)},
		"at edges":    {constant(2), constant(1<<16 - 1), constant(1 << 16), minus(constant(2)), minus(constant(1 << 16)), half, minus(half)},
		"64 bits":     {word(63), minus(word(63)), minus(constant(1 << 62))},
		"two words":   {word(63), func() *big.Int { return new(big.Int).Lsh(word(63)(), 64) }, minus(func() *big.Int { return new(big.Int).Lsh(word(63)(), 30) })},
		"a few short": {full, full, full, full, full, full, full, full, minus(word(1)), word(9)},
		"all":         {full, word(1), minus(word(1)), word(16), minus(word(16)), word(63), minus(word(63))},
	}
	for name, of := range lengths {
		for _, ex := range executors() {
			scalars, with := make([]S, n), slices.Clone(points)
			sum := new(big.Int)
			for i := range scalars {
				k := of[rng.IntN(len(of))]()
				scalars[i] = s.scalar(k)
				if i%97 == 5 {
					with[i] = *new(P)
				} else {
					sum.Add(sum, k.Mul(k, big.NewInt(int64(i+1))))
				}
			}
			total := s.scalar(sum.Mod(sum, s.r))
			var want P
			s.MulPoint(&want, &base, &total)
			if got := must.Get(s.MSM(t.Context(), ex, with, scalars))(t); !s.EqualPoints(&got, &want) {
				t.Errorf("%s exec=%s: MSM differs from the sum of products", name, ex.Name())
			}
		}
	}
}

func (s *suite[S, P]) testTable(t *testing.T) {
	all := s.all
	var points []P // a table takes no identity
	var scalars []S
	sums := make([]P, 1)
	for i := range testsize.Pick(60, 130, 130) {
		if s.IsIdentity(&all.points[i]) {
			continue
		}
		points, scalars = append(points, all.points[i]), append(scalars, all.scalars[i])
		var product P
		s.SubPoints(&product, &all.sums[i+1], &all.sums[i])
		var sum P
		s.AddPoints(&sum, &sums[len(sums)-1], &product)
		sums = append(sums, sum)
	}
	cases := []struct {
		points int
		opts   group.TableOptions
	}{
		{len(points), group.TableOptions{}},
		{40, group.TableOptions{Window: 4, Spacing: 16}},
		{20, group.TableOptions{Window: 3, Spacing: 7}},
		{9, group.TableOptions{Window: 5, Spacing: 51}},
		{1, group.TableOptions{Window: 8, Spacing: 32}},
		{20, group.TableOptions{Window: 2, Spacing: 1}}, // the large tables
		{3, group.TableOptions{Window: 12, Spacing: 11}},
	}
	for _, c := range cases[:testsize.Pick(5, 7, 7)] {
		name := fmt.Sprintf("points=%d/window=%d/spacing=%d", c.points, c.opts.Window, c.opts.Spacing)
		table, err := s.NewTable(points[:c.points], c.opts)
		must.Do(t, err, name)
		if table.Len() != c.points || table.Bytes() < c.points*s.PointLen() {
			t.Errorf("%s: Len is %d, Bytes %d", name, table.Len(), table.Bytes())
		}
		// Sums of several lengths in one call, twice the longest, one empty.
		var lengths []int
		for _, n := range []int{c.points, 0, 1, 2, 3, 8, 17, 33, 64, 65, 100, c.points} {
			if n <= c.points {
				lengths = append(lengths, n)
			}
		}
		vectors := make([][]S, len(lengths))
		for j, n := range lengths {
			vectors[j] = scalars[:n]
		}
		verify := func(how string, dst []P) {
			t.Helper()
			for j, n := range lengths[:len(dst)] {
				if !s.EqualPoints(&dst[j], &sums[n]) {
					t.Errorf("%s %s: sum %d of length %d is wrong", name, how, j, n)
				}
			}
		}
		for _, ex := range executors() {
			for _, m := range []int{0, 1, 2, 4, len(vectors)} {
				dst := make([]P, m)
				for j := range dst {
					dst[j] = points[0] // is to be overwritten
				}
				must.Do(t, table.MSM(t.Context(), ex, dst, vectors[:m]))
				verify(fmt.Sprintf("exec=%s sums=%d", ex.Name(), m), dst)
			}
		}
		if c.points <= 20 && c.opts.Window <= 8 {
			dst := make([]P, len(vectors))
			switch err := table.MSMConstantTime(t.Context(), dst, vectors); {
			case err == nil:
				verify("constant time", dst)
			case !errors.Is(err, zkbench.ErrParams):
				t.Errorf("%s: MSMConstantTime: %v, want sums or an ErrParams", name, err)
			}
		}
		zeros := make([]S, c.points)
		for _, m := range []int{2, 4, 9} {
			dst := slices.Repeat([]P{points[0]}, m)
			must.Do(t, table.MSM(t.Context(), executor.Serial(), dst, slices.Repeat([][]S{zeros}, m)))
			for j := range dst {
				if !s.IsIdentity(&dst[j]) {
					t.Errorf("%s: of %d sums of nothing number %d is not the identity", name, m, j)
				}
			}
		}
		dst := []P{points[0]}
		if err := table.MSM(t.Context(), executor.Serial(), dst, [][]S{zeros}); err != nil || !s.IsIdentity(&dst[0]) {
			t.Errorf("%s: the sum of nothing is not the identity, error %v", name, err)
		}
		for what, f := range map[string]func(){
			"more scalars than points": func() {
				_ = table.MSM(t.Context(), executor.Serial(), dst, [][]S{make([]S, c.points+1)})
			},
			"more sums than room": func() { _ = table.MSM(t.Context(), executor.Serial(), dst, [][]S{zeros, zeros}) },
		} {
			if !panics(f) {
				t.Errorf("%s: %s does not panic", name, what)
			}
		}
	}
}

// testCancelling tests sums in which all or some of the terms cancel.
func (s *suite[S, P]) testCancelling(t *testing.T) {
	points := []P{s.base("a"), s.base("b"), s.base("c")}
	s.NegPoint(&points[1], &points[0])
	table := must.Get(s.NewTable(points, group.TableOptions{}))(t)
	k, one := s.randomScalar(random()), s.ScalarFromUint64(1)
	var zero S
	var want P
	s.MulPoint(&want, &points[2], &k)
	// Digits of weights of their own: one partial sum cancels, another does not.
	for bits := range 16 {
		high := s.ScalarFromUint64(1 << bits)
		dst := make([]P, 4)
		must.Do(t, table.MSM(t.Context(), executor.Serial(), dst, slices.Repeat([][]S{{high, high, one}}, 4)))
		for j := range dst {
			if !s.EqualPoints(&dst[j], &points[2]) {
				t.Errorf("2^%d of opposite points do not cancel in sum %d", bits, j)
			}
		}
	}
	for _, m := range []int{1, 2, 4, 9} {
		for kept := range m + 1 {
			vectors, dst := make([][]S, m), make([]P, m)
			for j := range vectors {
				if vectors[j] = []S{k, k, zero}; j < kept {
					vectors[j][2] = k
				}
			}
			must.Do(t, table.MSM(t.Context(), executor.Serial(), dst, vectors))
			for j := range dst {
				if j < kept && !s.EqualPoints(&dst[j], &want) || j >= kept && !s.IsIdentity(&dst[j]) {
					t.Errorf("of %d sums, of which %d do not cancel, number %d is wrong", m, kept, j)
				}
			}
		}
	}
}

func (s *suite[S, P]) testTableOptions(t *testing.T) {
	points := []P{s.base("a"), s.base("b")}
	for _, opts := range []group.TableOptions{{Window: 1}, {Window: -1}, {Window: 13}, {Spacing: -1}, {Window: 8, Spacing: 40}} {
		must.FailGet(s.NewTable(points, opts))(t, zkbench.ErrParams, "NewTable(%+v)", opts)
	}
	points[1] = *new(P)
	must.FailGet(s.NewTable(points, group.TableOptions{}))(t, zkbench.ErrParams, "a table of the identity")
	empty, err := s.NewTable(nil, group.TableOptions{})
	if err != nil || empty.Len() != 0 {
		t.Fatalf("an empty table: %v", err)
	}
	dst := []P{points[0]}
	if err := empty.MSM(t.Context(), executor.Serial(), dst, [][]S{nil}); err != nil || !s.IsIdentity(&dst[0]) {
		t.Errorf("the empty sum is not the identity, error %v", err)
	}
}

func (s *suite[S, P]) testCancelled(t *testing.T) {
	cause := errors.New("no longer wanted")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	points, scalars := []P{s.base("a"), s.base("b")}, []S{s.ScalarFromUint64(1), s.ScalarFromUint64(2)}
	table := must.Get(s.NewTable(points, group.TableOptions{}))(t)
	for _, ex := range executors() {
		must.FailGet(s.MSM(ctx, ex, points, scalars))(t, cause, "exec=%s: MSM under a done context", ex.Name())
		must.Fail(t, table.MSM(ctx, ex, make([]P, 1), [][]S{scalars}), cause, "exec=%s: Table.MSM under a done context", ex.Name())
	}
}

// Under the serial executor the caller's goroutine does everything.
func (s *suite[S, P]) testSerialStartsNoGoroutine(t *testing.T) {
	few := s.terms(20)
	points, scalars := slices.Repeat(few.points, 10), slices.Repeat(few.scalars, 10)
	table := must.Get(s.NewTable([]P{s.base("a"), s.base("b")}, group.TableOptions{}))(t)
	encoded := s.AppendPoints(nil, s.base("a"), s.base("b"))
	sample := []metrics.Sample{{Name: "/sched/goroutines-created:goroutines"}}
	created := func() uint64 {
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	// The runtime starts goroutines of its own now and then: one clean round of
	// a few is the proof.
	for range 5 {
		before := created()
		for _, n := range []int{2, 20, 200} {
			must.Get(s.MSM(t.Context(), executor.Serial(), points[:n], scalars[:n]))(t)
		}
		must.Do(t, table.MSM(t.Context(), executor.Serial(), make([]P, 3), [][]S{scalars[:2], scalars[:1], nil}))
		must.Do(t, s.DecodePoints(make([]P, 2), encoded, group.Subgroup))
		s.InnerProduct(scalars, scalars)
		if created() == before {
			return
		}
	}
	t.Error("goroutines were started in every round")
}
