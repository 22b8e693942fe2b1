package workload_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/workload"
)

// ledger records the operations of several workloads in the order in which their inputs
// are built.
type ledger struct {
	mu     sync.Mutex
	inputs []string // name and sequence number
	cases  []string
	closed int
}

type entry struct {
	*ledger
	name string
}

func (l *ledger) def(name, alias string, axes ...workload.Axis) workload.Def {
	return workload.Def{
		Name: name, Alias: alias, Axes: axes,
		New: func(_ context.Context, c workload.Case, _ uint64) (workload.Instance, error) {
			l.cases = append(l.cases, name+" "+c.String())
			return entry{l, name}, nil
		},
	}
}

func (e entry) Input(_ context.Context, seq uint64) (any, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	text := fmt.Sprintf("%s %d", e.name, seq)
	e.inputs = append(e.inputs, text)
	return text, nil
}

func (e entry) Run(_ context.Context, input any) ([]byte, error) {
	if !strings.HasPrefix(input.(string), e.name+" ") {
		return nil, errors.New("the input of another part")
	}
	return []byte(input.(string)), nil
}

func (e entry) Check(_ context.Context, input any, output []byte) error {
	if string(output) != input.(string) {
		return errors.New("the output of another operation")
	}
	return nil
}

func (e entry) Metrics(context.Context) ([]record.Metric, error) {
	return []record.Metric{record.ProofSize.Metric(1)}, nil
}

func (e entry) Close() error { e.closed++; return nil }

func (l *ledger) defs() []workload.Def {
	return []workload.Def{
		l.def("Issuer", "issue", workload.BitsAxis()),
		l.def("Sender", "transfer", workload.BitsAxis(), workload.InputsAxis(3)),
		l.def("Other", ""),
	}
}

// mixed returns a mix and its only case.
func mixed(t testing.TB, l *ledger, text string) (workload.Def, workload.Case) {
	t.Helper()
	def := must.Get(workload.Mix(l.defs(), text))(t)
	cases, err := workload.Cases(def, map[string]string{"bits": "8", "in": "2"})
	if err != nil || len(cases) != 1 {
		t.Fatal(cases, err)
	}
	return def, cases[0]
}

func TestMix(t *testing.T) {
	l := new(ledger)
	_, c := mixed(t, l, "issue=1,transfer=8")
	golden.Equal(t, "case", "mix=issue:1,transfer:8/bits=8/in=2", c.String())
	// The child knows the mix by its case alone.
	def := must.Get(workload.Find(workload.WithMix(l.defs()), "Mix"))(t)
	s := measure.DefaultSettings(2, 0)
	s.Count, s.Samples, s.Warmup = 900, 10, runner.Warmup{}
	rec := measure.Case(t.Context(), def, c, s)
	if rec.Status != record.OK {
		t.Fatal(rec.Error)
	}
	golden.Equal(t, "cases set up", []string{"Issuer bits=8", "Sender bits=8/in=2"}, l.cases)
	golden.Equal(t, "closed", 2, l.closed)
	// Two turns of nine, which hold the ten samples; each part counts its own. Some may be made
	// again at the end, to see that operations have not changed them.
	if len(l.inputs) < 18 || l.inputs[0] != "Sender 0" || l.inputs[17] != "Sender 15" {
		t.Errorf("inputs %q", l.inputs)
	}
	for name, want := range map[string]int64{"latency/issue": 100, "latency/transfer": 800} {
		encoded, _ := rec.Histogram(name)
		golden.Equal(t, name, want, must.Get(encoded.Decode())(t).TotalCount())
	}
	for _, name := range []string{"issue-proof", "transfer-proof"} {
		if m, ok := rec.MetricNamed(name); !ok || m.Unit() != "B/"+name {
			t.Errorf("%s: %+v", name, m)
		}
	}
}

// TestMixProportions: over the ticket sequence they are exact at the end of every
// turn, and never off by a whole operation of any part in between.
func TestMixProportions(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		shares := []int{
			rapid.IntRange(1, 20).Draw(rt, "issue"), rapid.IntRange(1, 20).Draw(rt, "transfer"), rapid.IntRange(1, 20).Draw(rt, "other"),
		}
		l := new(ledger)
		def, c := mixed(t, l, fmt.Sprintf("issue=%d,transfer=%d,other=%d", shares[0], shares[1], shares[2]))
		instance := must.Get(def.New(t.Context(), c, 1))(rt)
		turn := shares[0] + shares[1] + shares[2]
		counts := make(map[string]int)
		for seq := range 3 * turn {
			must.Get(instance.Input(t.Context(), uint64(seq)))(rt)
			last := l.inputs[len(l.inputs)-1]
			name, number, _ := strings.Cut(last, " ")
			if number != fmt.Sprint(counts[name]) {
				rt.Fatalf("operation %d has input %s, want number %d of its part", seq, last, counts[name])
			}
			counts[name]++
			for i, name := range []string{"Issuer", "Sender", "Other"} {
				want := float64((seq+1)*shares[i]) / float64(turn)
				if off := float64(counts[name]) - want; off >= 2 || off <= -2 {
					rt.Fatalf("after %d operations %d of %s, want %.2f", seq+1, counts[name], name, want)
				}
				if (seq+1)%turn == 0 && float64(counts[name]) != want {
					rt.Fatalf("after %d turns %d of %s, want %v", (seq+1)/turn, counts[name], name, want)
				}
			}
		}
	})
}

func TestMixRefuses(t *testing.T) {
	for _, bad := range []string{
		"", "issue", "issue=1", "issue=1,", "issue=1,issue=2", "issue=1,issuer=2", "issue=1,transfer=0", "issue=1,transfer=-1",
		"issue=1,transfer=x", "issue=1,transfer=1001", "issue=1,burn=2", "issue=1,=2",
	} {
		_, err := workload.Mix(new(ledger).defs(), bad)
		if _, ok := errors.AsType[*argument.ValueError](err); !ok || !strings.Contains(err.Error(), "issue, transfer, issuer, sender, other") {
			t.Errorf("%q: %v, want a ValueError that names the parts", bad, err)
		}
	}
}
