package goldilocks_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"testing"

	reference "github.com/consensys/gnark-crypto/field/goldilocks"
	"github.com/consensys/gnark-crypto/field/goldilocks/fft"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/goldilockstest"
	"github.com/zkbench/zkbench/internal/testing/must"
)

func domain(t testing.TB, n int) *goldilocks.Domain {
	t.Helper()
	return must.Get(goldilocks.NewDomain(n))(t)
}

// size returns the first number, or in short tests, which run under emulators, the second.
func size(long, short int) int {
	if testing.Short() {
		return short
	}
	return long
}

// equal fails at the first element that differs.
func equal(t *testing.T, what string, got, want []goldilocks.Element) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d elements, want %d", what, len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("%s: element %d is %d, want %d", what, i, got[i], want[i])
		}
	}
}

// horner returns the value of the polynomial at x.
func horner(coefficients []goldilocks.Element, x goldilocks.Element) (y goldilocks.Element) {
	for _, c := range slices.Backward(coefficients) {
		y = y.Mul(x).Add(c)
	}
	return y
}

// onCoset returns the polynomial's values on shift times the domain, computed one by one.
func onCoset(d *goldilocks.Domain, coefficients []goldilocks.Element, shift goldilocks.Element) []goldilocks.Element {
	x := shift
	return generate(d.Size(), func(int) goldilocks.Element {
		y := horner(coefficients, x)
		x = x.Mul(d.Root())
		return y
	})
}

// inOrder returns a copy of v, which is in natural order, in order o.
func inOrder(t testing.TB, v []goldilocks.Element, o goldilocks.Order) []goldilocks.Element {
	t.Helper()
	v = slices.Clone(v)
	if o == goldilocks.BitReversed {
		must.Do(t, goldilocks.BitReverse(v))
	}
	return v
}

var (
	orders = []goldilocks.Order{goldilocks.Natural, goldilocks.BitReversed}
	shifts = []goldilocks.Element{1, goldilocks.Generator, goldilocks.Modulus - 2}
)

func opposite(o goldilocks.Order) goldilocks.Order { return goldilocks.BitReversed - o }

func TestRootOfUnity(t *testing.T) {
	t.Parallel()
	// Plonky3's TWO_ADIC_GENERATORS, for some logarithms.
	known := map[int]goldilocks.Element{
		0: 1, 1: 0xffffffff00000000, 2: 0x0001000000000000, 3: 0xfffffffeff000001, 4: 0xefffffff00000001, 31: 0x400a7f755588e659, 32: 0x185629dcda58878c,
	}
	for log := range goldilocks.TwoAdicity + 1 {
		r := must.Get(goldilocks.RootOfUnity(log))(t)
		golden.Equal(t, fmt.Sprintf("root of 2^%d", log), goldilocks.Generator.Exp((goldilocks.Modulus-1)>>log), r)
		if want, ok := known[log]; ok && r != want {
			t.Errorf("2^%d: %d, want the published %d", log, r, want)
		}
		if log > 0 && r.Exp(1<<(log-1)) != goldilocks.Modulus-1 {
			t.Errorf("2^%d: %d is of a smaller order", log, r)
		}
	}
	for _, log := range []int{-1, 33} {
		must.FailGet(goldilocks.RootOfUnity(log))(t, zkbench.ErrParams, "2^%d", log)
	}
}

// TestNTT compares with evaluation at each point, on small domains.
func TestNTT(t *testing.T) {
	t.Parallel()
	goldilockstest.EachKernel(t, func(t *testing.T, k goldilocks.Kernel) {
		random := rand.New(rand.NewPCG(3, 4))
		for n := 1; n <= size(1024, 64); n *= 2 {
			d := domain(t, n)
			f := goldilockstest.Elements(random, n)
			for _, shift := range shifts {
				want := onCoset(d, f, shift)
				for _, from := range orders {
					got := inOrder(t, f, from)
					must.Do(t, d.NTT(got, from, shift, k))
					equal(t, fmt.Sprintf("n=%d from=%v shift=%d", n, from, shift), got, inOrder(t, want, opposite(from)))
				}
			}
		}
	})
}

// TestNTTReference compares with gnark-crypto, whose elements are in Montgomery form.
func TestNTTReference(t *testing.T) {
	t.Parallel()
	goldilockstest.EachKernel(t, func(t *testing.T, k goldilocks.Kernel) {
		random := rand.New(rand.NewPCG(5, 6))
		for _, log := range []int{7, 8, 9, size(12, 10), size(13, 11), size(15, 1)} {
			n := 1 << log
			d, theirs := domain(t, n), fft.NewDomain(uint64(n))
			f := goldilockstest.Elements(random, n)
			for _, from := range orders {
				decimation := map[goldilocks.Order]fft.Decimation{goldilocks.Natural: fft.DIF, goldilocks.BitReversed: fft.DIT}[from]
				for _, inverse := range []bool{false, true} {
					want := make([]reference.Element, n)
					goldilocks.ToMontgomery(want, f, k)
					got := slices.Clone(f)
					if inverse {
						theirs.FFTInverse(want, decimation)
						must.Do(t, d.InverseNTT(got, from, 1, k))
					} else {
						theirs.FFT(want, decimation)
						must.Do(t, d.NTT(got, from, 1, k))
					}
					canonical := make([]goldilocks.Element, n)
					goldilocks.FromMontgomery(canonical, want, k)
					equal(t, fmt.Sprintf("n=2^%d from=%v inverse=%v", log, from, inverse), got, canonical)
				}
			}
		}
	})
}

// TestNTTKernels: every kernel equals the portable one, and the inverse undoes it.
func TestNTTKernels(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 8))
	for log := range size(17, 14) {
		n := 1 << log
		d := domain(t, n)
		vectors := map[string][]goldilocks.Element{
			"random": goldilockstest.Elements(random, n),
			"p-1":    generate(n, func(int) goldilocks.Element { return goldilocks.Modulus - 1 }),
			// What makes digits the largest that there are.
			"digits": generate(n, func(i int) goldilocks.Element {
				return []goldilocks.Element{1 << 63, 1<<63 | 1<<31, 1<<63 - 1, 1 << 31, 1<<31 - 1}[random.IntN(5)]
			}),
		}
		for name, f := range vectors {
			for _, from := range orders {
				shift := shifts[random.IntN(len(shifts))]
				want := slices.Clone(f)
				must.Do(t, d.NTT(want, from, shift, goldilocks.Portable()))
				for _, k := range goldilocks.Kernels() {
					what := fmt.Sprintf("n=2^%d %s kernel=%v from=%v shift=%d", log, name, k, from, shift)
					got := slices.Clone(f)
					must.Do(t, d.NTT(got, from, shift, k))
					equal(t, what, got, want)
					must.Do(t, d.InverseNTT(got, opposite(from), shift, k))
					equal(t, what+" and back", got, f)
				}
			}
		}
	}
}

// TestNTTConcurrent uses one domain, whose tables do not yet exist, from several goroutines.
func TestNTTConcurrent(t *testing.T) {
	t.Parallel()
	d := domain(t, 256)
	f := goldilockstest.Elements(rand.New(rand.NewPCG(9, 10)), 256)
	want := slices.Clone(f)
	must.Do(t, d.NTT(want, goldilocks.Natural, 1, goldilocks.Portable()))
	var all sync.WaitGroup
	results := make([][]goldilocks.Element, 8)
	for i := range results {
		all.Go(func() {
			results[i] = slices.Clone(f)
			if err := d.NTT(results[i], goldilocks.Natural, 1); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, r := range results {
		equal(t, "concurrent", r, want)
	}
}

func TestBitReverse(t *testing.T) {
	t.Parallel()
	for log := range 15 {
		n := 1 << log
		v := generate(n, func(i int) goldilocks.Element { return goldilocks.Element(i) })
		must.Do(t, goldilocks.BitReverse(v))
		equal(t, fmt.Sprintf("n=2^%d", log), v, generate(n, func(i int) goldilocks.Element {
			r := 0
			for b := range log {
				r |= i >> b & 1 << (log - 1 - b)
			}
			return goldilocks.Element(r)
		}))
	}
}

func TestNTTRefused(t *testing.T) {
	t.Parallel()
	for _, n := range []int64{-1, 0, 3, 6, 100, 1<<32 - 1, 1 << 33} {
		must.FailGet(goldilocks.NewDomain(int(n)))(t, zkbench.ErrParams, "domain of %d", n)
	}
	d := domain(t, 8)
	for what, err := range map[string]error{
		"short":             d.NTT(make([]goldilocks.Element, 7), goldilocks.Natural, 1, goldilocks.Portable()),
		"long":              d.InverseNTT(make([]goldilocks.Element, 16), goldilocks.Natural, 1, goldilocks.Portable()),
		"nil":               d.NTT(nil, goldilocks.Natural, 1, goldilocks.Portable()),
		"order":             d.NTT(make([]goldilocks.Element, 8), 2, 1, goldilocks.Portable()),
		"shift 0":           d.NTT(make([]goldilocks.Element, 8), goldilocks.Natural, 0, goldilocks.Portable()),
		"shift p":           d.InverseNTT(make([]goldilocks.Element, 8), goldilocks.Natural, goldilocks.Modulus, goldilocks.Portable()),
		"reversal of 3":     goldilocks.BitReverse(make([]goldilocks.Element, 3)),
		"reversal of empty": goldilocks.BitReverse(nil),
	} {
		must.Fail(t, err, zkbench.ErrParams, "%s", what)
	}
}

// FuzzNTT compares kernels on 128 elements, which the data is repeated to fill.
func FuzzNTT(f *testing.F) {
	f.Add([]byte{0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0x80}, uint64(7))
	f.Add([]byte{0}, uint64(1))
	d := domain(f, 128)
	f.Fuzz(func(t *testing.T, data []byte, shift uint64) {
		if len(data) == 0 {
			return
		}
		s := goldilocks.Reduce(shift)
		if s == 0 {
			s = 1
		}
		v := generate(d.Size(), func(i int) goldilocks.Element {
			var word uint64
			for j := range 8 {
				word = word<<8 | uint64(data[(8*i+j)%len(data)])
			}
			return goldilocks.Reduce(word)
		})
		for _, from := range orders {
			want := slices.Clone(v)
			must.Do(t, d.NTT(want, from, s, goldilocks.Portable()))
			for _, k := range goldilocks.Kernels() {
				got := slices.Clone(v)
				must.Do(t, d.NTT(got, from, s, k))
				equal(t, fmt.Sprint(k, " from ", from), got, want)
				must.Do(t, d.InverseNTT(got, opposite(from), s, k))
				equal(t, fmt.Sprint(k, " back from ", from), got, v)
			}
		}
	})
}

// allocated returns how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestDomainMemory: a domain that the memory there is cannot hold is refused with its size
// before it is allocated, and that size is what one with the tables of a kernel takes.
func TestDomainMemory(t *testing.T) {
	const n, larger = 1 << 16, 1 << 30
	before := debug.SetMemoryLimit(1 << 28)
	var err error
	taken := allocated(func() { _, err = goldilocks.NewDomain(larger) })
	debug.SetMemoryLimit(before)
	limit, refused := errors.AsType[*zkbench.LimitError](err)
	if !refused {
		t.Fatalf("a domain of 2^30 elements in 2^28 bytes: %v", err)
	}
	if taken > 1<<20 {
		t.Errorf("%d bytes were allocated before the domain was refused", taken)
	}
	values := make([]goldilocks.Element, n)
	taken = allocated(func() { must.Do(t, domain(t, n).NTT(values, goldilocks.Natural, 1)) })
	// Beside the tables are a page or two, and the reading of how much memory there is.
	estimate, wide := uint64(limit.Estimate/(larger/n)), goldilocks.Kernel{}.String() != "portable"
	if taken > estimate+1<<16 || wide && taken < estimate {
		t.Errorf("a domain of %d elements takes %d bytes, %d estimated", n, taken, estimate)
	}
}
