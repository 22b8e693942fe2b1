package bench_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/zkbench/zkbench/bench"
	"github.com/zkbench/zkbench/internal/testing/clitest"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"sums":     func() { bench.Main(sum(), slow()) },
		"nothing":  func() { bench.Main() },
		"nameless": func() { bench.Main(sum(), bench.Def{Name: "sum"}) },
		"twice":    func() { bench.Main(sum(), sum()) },
		"doubtful": func() { bench.Main(moody(), agreeable(), inPlace(), touchy()) },
	})
}

// sum returns the workload of the package's documentation.
func sum() bench.Def {
	size := bench.Ints("bytes", "lengths of messages in bytes", 0, 1<<25, 64, 1024, 16384)
	hash := bench.Names("hash", "hashes", "sha256", "sha224")
	return bench.Def{
		Name: "SHA2", Doc: "the SHA-2 of a message", Axes: []bench.Axis{size, hash},
		New: func(_ context.Context, c bench.Case, _ uint64) (bench.Instance, error) {
			run := func(_ context.Context, message []byte) ([]byte, error) {
				fmt.Println("a log on standard output")
				if hash.Value(c) == "sha224" {
					digest := sha256.Sum224(message)
					return digest[:], nil
				}
				digest := sha256.Sum256(message)
				return digest[:], nil
			}
			return bench.Operation[[]byte]{
				Input: func(_ context.Context, random *rand.ChaCha8) ([]byte, error) {
					message := make([]byte, size.Value(c))
					_, err := random.Read(message)
					return message, err
				},
				Run: run,
				Check: func(ctx context.Context, message, output []byte) error {
					if again, err := run(ctx, message); err != nil || string(again) != string(output) {
						return errors.New("another digest")
					}
					return nil
				},
				Metrics: []bench.Metric{{Name: "hash", Unit: "B/hash", Value: 32}, {Name: "blocks-of-mine", Unit: "blocks", Value: float64(size.Value(c)/64 + 1)}},
				Secret: func(_ context.Context, witness, random *rand.ChaCha8) ([]byte, error) {
					message := make([]byte, size.Value(c))
					_, err := witness.Read(message)
					return message, err
				},
			}, nil
		},
		Stages: func(_ context.Context, c bench.Case, _ uint64, r *bench.Recorder) error {
			end := r.Start("hash")
			sha256.Sum256(make([]byte, size.Value(c)))
			end(bench.Metric{Name: "hash", Unit: "B/hash", Value: 32})
			r.Note("remark", "of one message")
			return nil
		},
		Properties: func(bench.Case) bench.Properties {
			return bench.Properties{ProvedBits: 128, ZeroKnowledge: "no", Setup: "none", Audited: "by many"}
		},
	}
}

// slow returns a workload whose operations fail, and which has no witness.
func slow() bench.Def {
	return bench.Def{Name: "Broken", Doc: "fails", New: func(context.Context, bench.Case, uint64) (bench.Instance, error) {
		return bench.Operation[int]{
			Input: func(context.Context, *rand.ChaCha8) (int, error) { return 0, nil },
			Run:   func(context.Context, int) ([]byte, error) { return nil, errors.New("broken on purpose") },
			Check: func(context.Context, int, []byte) error { return nil },
		}, nil
	}}
}

// moody returns a workload that fails once.
func moody() bench.Def {
	moments := bench.Names("moment", "when", "never", "probe", "warm-up", "window")
	manners := bench.Names("manner", "how", clitest.Manners...)
	return bench.Def{Name: "Moody", Doc: "fails once", Axes: []bench.Axis{moments, manners}, New: func(_ context.Context, c bench.Case, _ uint64) (bench.Instance, error) {
		mood := clitest.NewMood(moments.Value(c), manners.Value(c))
		return bench.Operation[int]{
			Input: func(context.Context, *rand.ChaCha8) (int, error) { return 0, nil },
			Run:   func(ctx context.Context, in int) ([]byte, error) { return mood.Run(ctx, in) },
			Check: func(ctx context.Context, in int, output []byte) error { return mood.Check(ctx, in, output) },
		}, nil
	}}
}

// agreeable returns a workload whose check accepts everything.
func agreeable() bench.Def {
	return bench.Def{Name: "Agreeable", Doc: "checks nothing", New: func(context.Context, bench.Case, uint64) (bench.Instance, error) {
		return bench.Operation[int]{
			Input: func(context.Context, *rand.ChaCha8) (int, error) { return 0, nil },
			Run:   func(context.Context, int) ([]byte, error) { return []byte("whatever"), nil },
			Check: func(context.Context, int, []byte) error { return nil },
		}, nil
	}}
}

// touchy returns a workload whose check ends the process if a result is wrong.
func touchy() bench.Def {
	return bench.Def{Name: "Touchy", Doc: "ends", New: func(context.Context, bench.Case, uint64) (bench.Instance, error) {
		return bench.Operation[int]{
			Input: func(context.Context, *rand.ChaCha8) (int, error) { return 0, nil },
			Run:   func(context.Context, int) ([]byte, error) { return []byte("right"), nil },
			Check: func(_ context.Context, _ int, output []byte) error {
				if string(output) != "right" {
					os.Exit(7)
				}
				return nil
			},
		}, nil
	}}
}

// inPlace returns a workload that sorts the numbers of its input in place.
func inPlace() bench.Def {
	return bench.Def{Name: "InPlace", Doc: "sorts in place", New: func(context.Context, bench.Case, uint64) (bench.Instance, error) {
		return bench.Operation[[]byte]{
			Input: func(_ context.Context, random *rand.ChaCha8) ([]byte, error) {
				numbers := make([]byte, 10_000)
				_, err := random.Read(numbers)
				return numbers, err
			},
			Run: func(_ context.Context, numbers []byte) ([]byte, error) {
				slices.Sort(numbers)
				return numbers[:16], nil
			},
			Check: func(_ context.Context, numbers, output []byte) error {
				if want := slices.Sorted(slices.Values(numbers)); !slices.Equal(want[:16], output) {
					return errors.New("not sorted")
				}
				return nil
			},
		}, nil
	}}
}

// TestScript runs the commands of a program that measures its own workloads.
func TestScript(t *testing.T) { clitest.Scripts(t, "testdata") }

// TestLinksNothingOfOurs: a program of workloads has neither gnark in it nor our systems.
func TestLinksNothingOfOurs(t *testing.T) {
	list := must.Get(exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output())(t)
	for _, other := range []string{
		"github.com/consensys/gnark/", "github.com/consensys/gnark-crypto/ecc", "jackc/pgx",
		"zkbench/group", "zkbench/token", "zkbench/circuits", "zkbench/plonkish", "zkbench/stark", "zkbench/goldilocks", "zkbench/srs",
	} {
		if strings.Contains(string(list), other) {
			t.Errorf("package bench links %s", other)
		}
	}
	golden.Contains(t, string(list), "zkbench/internal/cli\n")
}

// The findings of a benchmark are in its log.
func BenchmarkDoubtful(b *testing.B) {
	bench.Benchmark(b, agreeable())
	bench.Benchmark(b, inPlace())
}

func TestBenchmarkFindings(t *testing.T) {
	self := must.Get(os.Executable())(t)
	out := must.Get(exec.CommandContext(t.Context(), self, "-test.run=^$", "-test.bench=Doubtful", "-test.benchtime=10x").CombinedOutput())(t)
	golden.Contains(t, string(out), "any-result: the check accepts", "input-changed: operations changed their input")
}

func BenchmarkSum(b *testing.B) {
	silence(b)
	bench.Benchmark(b, sum())
}

func TestParallelBenchmarkSum(t *testing.T) { bench.TestParallel(t, quiet()) }

func silence(b *testing.B) {
	stdout := os.Stdout
	null := must.Get(os.OpenFile(os.DevNull, os.O_WRONLY, 0))(b)
	os.Stdout = null
	b.Cleanup(func() { os.Stdout = stdout; null.Close() })
}

// quiet returns a workload that prints nothing.
func quiet() bench.Def {
	size := bench.Ints("n", "numbers", 1, 100, 3)
	return bench.Def{Name: "Add", Doc: "adds", Axes: []bench.Axis{size}, New: func(_ context.Context, c bench.Case, _ uint64) (bench.Instance, error) {
		return bench.Operation[int]{
			Input: func(_ context.Context, random *rand.ChaCha8) (int, error) { return int(random.Uint64() % 10), nil },
			Run:   func(_ context.Context, in int) ([]byte, error) { return []byte{byte(in + size.Value(c))}, nil },
			Check: func(_ context.Context, in int, output []byte) error {
				if len(output) != 1 || int(output[0]) != in+3 {
					return errors.New("not the sum")
				}
				return nil
			},
		}, nil
	}}
}
