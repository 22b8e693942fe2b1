package zkbench

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/sys/memory"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/recordtest"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/internal/workload"
)

// processBytes is the memory that every process takes before it sets up a case, most of it the
// program's pages.
const processBytes = 60 << 20

// TestEstimates: what a case is estimated to take is about what its process takes, at sizes at which that is far
// more than every process does. A process may have up to as much garbage as it has data.
func TestEstimates(t *testing.T) {
	testsize.Full(t)
	for i, test := range []struct{ id, flags string }{
		{"merkle-build", "--leaves 131072 --width 32"},
		{"merkle-open", "--leaves 524288 --width 32"},
		{"merkle-file", "--leaves 65536 --width 32"},
		{"ntt", "--length 2097152"},
		{"lde", "--length 65536 --columns 16 --blowup 4"},
		{"poly-eval", "--length 262144 --columns 16"},
		{"poseidon-permutation", "--states 200000"},
		{"fft", "--log 18"},
		{"msm", "--points 131072"},
		{"msm", "--points 131072 --impl stored"},
		{"keccak-native", "--bytes 33554432"},
		{"gates", "--gates 65000 --system turbo --stage witness"},
		{"gates", "--gates 30000 --system ultra --stage verify --samples 1"},
		{"range-prove", "--bits 64 --values 16 --proof-type bulletproof-agg"},
		{"range-batch", "--bits 8 --values 1 --batch 2048 --proof-type csp --samples 1"},
		{"verification-sender-batch", "--bits 8 --num-inputs 1 --num-outputs 1 --batch 2048 --proof-type csp --samples 1"},
		{"validator-batch", "--bits 8 --num-inputs 1 --num-outputs 1 --batch 1024 --proof-type csp --samples 1"},
		{"ledger-apply", "--batch 4096"},
		{"land", "--bits 8 --num-inputs 1 --num-outputs 1 --batch 256 --proof-type csp --samples 1"},
	} {
		if i%3 != 0 && !testsize.Long() {
			continue
		}
		t.Run(test.id+strings.ReplaceAll(test.flags, " ", ""), func(t *testing.T) {
			def := must.Get(workload.Find(Program().Defs(), test.id))(t)
			inputs := measure.DefaultSamples
			if strings.Contains(test.flags, "--samples 1") {
				inputs = 1
			}
			var estimate, peak float64
			for i := range 3 { // how much garbage a process has differs from one to the next
				file := filepath.Join(t.TempDir(), fmt.Sprintf("records%d.jsonl", i))
				args := append([]string{"run", test.id, "--count", "2", "--warmup", "0s", "--json", file}, strings.Fields(test.flags)...)
				out, err := exec.CommandContext(t.Context(), "zkbench-real", args...).CombinedOutput()
				must.Do(t, err, string(out))
				rec := recordtest.ReadFile(t, file)[0]
				measured, ok := rec.MetricNamed(record.PeakRSS.Name())
				if !ok {
					t.Skip("the system does not tell of a process's greatest memory")
				}
				of := must.Get(def.Memory(workload.NewCase(rec.Axes...)))(t)
				estimate, peak = float64(of.Bytes(inputs, 1)+processBytes), measured.Value
				t.Logf("estimated %.0f MB, measured %.0f MB", estimate/(1<<20), peak/(1<<20))
				if estimate >= 0.9*peak && estimate <= 3*peak {
					return
				}
			}
			t.Errorf("estimated are %.0f MB, and the process took %.0f MB", estimate/(1<<20), peak/(1<<20))
		})
	}
}

// budget is the memory of a small machine.
const budget = 2 << 30

// beside has, by the axis' key, the other values of a case with an axis' largest value. All axes
// that are not named are small. Of several values, the one that the workload's axis accepts counts.
var beside = map[string]map[string]string{
	"blocks": {"form": "variable"}, "size": {"guest": "keccak loop"},
	"values": {"proof": "bulletproof-agg", "bits": "64"},
	"batch":  {"in": "64", "out": "64", "values": "256"},
}

// TestLargest: each number that an axis accepts is measured or refused by the memory that it takes. The file has the
// largest of each axis with the memory that eight inputs and a worker are estimated to take; what takes more than
// there is is refused before anything is allocated.
func TestLargest(t *testing.T) {
	testsize.Full(t)
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(budget))
	var table strings.Builder
	for _, def := range Program().Defs() {
		for _, axis := range def.Axes {
			least, to, isNumber := strings.Cut(axis.Accepted, " to ")
			if _, err := strconv.Atoi(least); !isNumber || err != nil || def.Name == "KeccakAggregate" && axis.Key == "proofs" {
				continue // no number, or one of which a tree takes half a minute to compile
			}
			largest, _, _ := strings.Cut(to, ",")
			lists := make(map[string]string)
			for _, a := range def.Axes {
				lists[a.Key] = a.Smoke
				for v := range strings.FieldsSeq(beside[axis.Key][a.Key]) {
					if _, err := a.Parse(v); err == nil { // else it is another workload's
						lists[a.Key] = v
					}
				}
			}
			lists[axis.Key] = largest
			c := must.Get(workload.Cases(def, lists))(t)[0]
			debug.FreeOSMemory() // what other cases and tests have left
			bytes, err := estimated(t, def, c)
			fate := "fits"
			switch {
			case errors.Is(err, zkbench.ErrParams):
				fate = "too large beside the others"
			case err != nil:
				t.Errorf("%s of %s: %v", def.Name, c, err)
			case bytes > budget:
				fate = "refused"
				before := memory.Available()
				rec := measure.Case(t.Context(), def, c, measure.DefaultSettings(1, measure.MinDuration))
				if rec.Status != record.Failed || !strings.Contains(rec.Error, zkbench.ErrLimit.Error()) || !strings.Contains(rec.Error, "bytes of memory") {
					t.Errorf("%s of %s, %d MB: %s %s", def.Name, c, bytes>>20, rec.Status, rec.Error)
				}
				if taken := int64(before) - int64(memory.Available()); taken > budget/8 {
					t.Errorf("%s of %s: %d MB of memory were taken", def.Name, c, taken>>20)
				}
			}
			fmt.Fprintf(&table, "%-28s %-10s %9s %9d MB  %s\n", def.Name, axis.Key, largest, bytes>>20, fate)
		}
	}
	golden.File(t, "testdata/largest.golden", table.String())
}

// estimated returns the estimated bytes of a case of eight inputs and a worker. The estimate is the
// workload's, or that of the error with which its set-up refuses the case, or else 0.
func estimated(t *testing.T, def workload.Def, c workload.Case) (int64, error) {
	var bytes int64
	var err error
	if def.Memory != nil {
		var need workload.Memory
		need, err = def.Memory(c)
		bytes = int64(need.Bytes(measure.DefaultSamples, 1))
	} else {
		var i workload.Instance
		if i, err = def.New(t.Context(), c, 1); err == nil {
			err = i.Close()
		}
	}
	if limit, ok := errors.AsType[*zkbench.LimitError](err); ok {
		return limit.Estimate, nil
	}
	return bytes, err
}
