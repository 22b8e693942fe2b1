package poly

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr/fft"
	"github.com/consensys/gnark-crypto/utils"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/arith/vec52"
	"github.com/zkbench/zkbench/internal/testing/testsize"
)

// forms are all, and lanes done in Go alone.
func forms() []*Form { return append(Forms(), inLanes(vec52.Portable)) }

func source() *rand.Rand { return rand.New(rand.NewPCG(254, 28)) }

// random are elements of which some are at the edges.
func random(rng *rand.Rand, n int) []fr.Element {
	e := make([]fr.Element, n)
	for i := range e {
		switch rng.IntN(8) {
		case 0: // zero
		case 1:
			e[i].SetInt64(-1 - rng.Int64N(2))
		default:
			e[i] = fr.Element{rng.Uint64(), rng.Uint64(), rng.Uint64(), rng.Uint64N(1 << 60)}
		}
	}
	return e
}

// want is the transform by gnark-crypto, from one order to the other.
func want(coefficients []fr.Element, from Order, shift *fr.Element) []fr.Element {
	n := len(coefficients)
	e := append([]fr.Element(nil), coefficients...)
	if from == BitReversed {
		utils.BitReverse(e)
	}
	power := fr.One()
	for i := range e {
		e[i].Mul(&e[i], &power)
		power.Mul(&power, shift)
	}
	if n > 1 {
		fft.NewDomain(uint64(n)).FFT(e, fft.DIF)
		if from == BitReversed {
			utils.BitReverse(e)
		}
	}
	return e
}

func same(t *testing.T, name string, want, got []fr.Element) {
	t.Helper()
	if !slices.Equal(want, got) {
		t.Fatalf("%s: not what gnark-crypto makes", name)
	}
}

// TestNTT: transforms of all lengths, both ways, on cosets and not, serially and by tasks, are
// those of gnark-crypto, and their inverses lead back.
func TestNTT(t *testing.T) {
	t.Parallel()
	for _, f := range forms() {
		t.Run(f.String(), func(t *testing.T) {
			t.Parallel()
			rng := source()
			logs := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
			switch {
			case f.String() == vec52.Portable.String(): // slow
			case testing.Short():
				logs = append(logs, 13, 14, 16)
			default:
				logs = append(logs, 11, 12, 13, 14, 15, 16, 17, 18, 19)
				if testsize.Long() {
					logs = append(logs, 20)
				}
			}
			for _, log := range logs {
				for _, from := range []Order{Natural, BitReversed} {
					for _, shift := range []fr.Element{fr.One(), fr.NewElement(5)} {
						for _, ex := range []executor.Executor{executor.Serial(), executor.Pool()} {
							d, err := f.NewDomain(1 << log)
							if err != nil {
								t.Fatal(err)
							}
							e := random(rng, 1<<log)
							v := f.FromElements(e)
							if err := d.NTT(t.Context(), ex, v, from, &shift); err != nil {
								t.Fatal(err)
							}
							name := fmt.Sprintf("2^%d from %d, shift %v", log, from, shift.Uint64())
							same(t, name, want(e, from, &shift), v.Elements())
							if err := d.InverseNTT(t.Context(), ex, v, BitReversed-from, &shift); err != nil {
								t.Fatal(err)
							}
							same(t, name+", back", e, v.Elements())
						}
					}
				}
			}
		})
	}
}

// TestRefusals: what is no domain, or not this one's, is refused by name.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, f := range forms() {
		for _, n := range []int{-1, 0, 3, 1 << 29} {
			if _, err := f.NewDomain(n); !errors.Is(err, zkbench.ErrParams) {
				t.Errorf("domain of %d: %v", n, err)
			}
		}
		d, err := f.NewDomain(128)
		if err != nil {
			t.Fatal(err)
		}
		one := fr.One()
		ctx, ex := t.Context(), executor.Serial()
		stopped, stop := context.WithCancel(ctx)
		stop()
		for name, err := range map[string]error{
			"length": d.NTT(ctx, ex, f.New(64), Natural, &one),
			"order":  d.NTT(ctx, ex, f.New(128), 2, &one),
			"shift":  d.InverseNTT(ctx, ex, f.New(128), Natural, new(fr.Element)),
			"form":   d.NTT(ctx, ex, inLanes(vec52.Portable).New(128), Natural, &one),
		} {
			if !errors.Is(err, zkbench.ErrParams) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := d.NTT(stopped, ex, f.New(128), Natural, &one); !errors.Is(err, context.Canceled) {
			t.Errorf("a context that is done: %v", err)
		}
	}
}

// BenchmarkTransform is a transform either way, beside gnark-crypto's; ns/op is of the whole.
func BenchmarkTransform(b *testing.B) {
	one := fr.One()
	for _, log := range []int{10, 14, 16, 18, 20} {
		e := random(source(), 1<<log)
		b.Run(fmt.Sprintf("impl=gnark/log=%d", log), func(b *testing.B) {
			d := fft.NewDomain(1 << log)
			for b.Loop() {
				d.FFT(e, fft.DIF, fft.WithNbTasks(1))
			}
		})
		for _, f := range Forms() {
			d, err := f.NewDomain(1 << log)
			if err != nil {
				b.Fatal(err)
			}
			v := f.FromElements(e)
			for _, from := range []Order{Natural, BitReversed} {
				for _, ex := range []executor.Executor{executor.Serial(), executor.Pool()} {
					b.Run(fmt.Sprintf("impl=zkbench/kernel=%v/log=%d/from=%d/exec=%s", f, log, from, ex.Name()), func(b *testing.B) {
						for b.Loop() {
							if err := d.NTT(b.Context(), ex, v, from, &one); err != nil {
								b.Fatal(err)
							}
						}
					})
				}
			}
		}
	}
}
