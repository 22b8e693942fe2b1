package workload

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/usage"
)

// Axis is one dimension of a workload's matrix.
type Axis struct {
	Name     string // what it is, for example "range proof"
	Key      string // in the case's name, for example proof
	Flag     string // of go test, for example proof_type
	Usage    string
	Accepted string   // the accepted values, in words
	Default  []string // of benchmarks and of the command
	Smoke    string   // of a load test: one small case unless more is asked for

	// Parse expands a comma-separated list as a user types it and validates
	// each value. The error is a *usage.ValueError.
	Parse func(list string) ([]string, error)
}

// Long is the axis' flag of the command: Flag with dashes.
func (a Axis) Long() string { return strings.ReplaceAll(a.Flag, "_", "-") }

// The axes that workloads share. Names of curves, proofs and executors live with
// their owners, so those axes are told what is accepted.

// CurveAxis is the group: accepted names them, def is the default matrix.
func CurveAxis(accepted, def []string) Axis {
	return NameAxis("curve", "curve", "curves", "curves", accepted, def)
}

// BitsAxis is the bit length of values, 1 to 64.
func BitsAxis() Axis {
	return IntAxis("bits", "bits", "bits", "bit lengths of values", 1, 64, "32", 32, 64)
}

// InputsAxis is the number of input tokens, 1 to most.
func InputsAxis(most int) Axis {
	return IntAxis("inputs", "in", "num_inputs", "numbers of inputs", 1, most, "2", 1, 2, 3)
}

// OutputsAxis is the number of output tokens, 1 to most.
func OutputsAxis(most int) Axis {
	return IntAxis("outputs", "out", "num_outputs", "numbers of outputs", 1, most, "2", 1, 2, 3)
}

// ProofAxis is the range-proof system; the first accepted one is the default.
func ProofAxis(accepted []string) Axis {
	return NameAxis("range proof", "proof", "proof_type", "range proof systems", accepted, accepted[:min(1, len(accepted))])
}

// ExecutorAxis is how the pieces of one operation are scheduled; the first
// accepted one is the default.
func ExecutorAxis(accepted []string) Axis {
	return NameAxis("executor", "exec", "executor", "executors of an operation's independent pieces", accepted, accepted[:min(1, len(accepted))])
}

// NumCPU is the name that the workers' list accepts for the number of
// processors that the program may use.
const NumCPU = "NumCPU"

// WorkersAxis is the number of operations in flight. It belongs to the run, not
// to a workload: it stands in the case's name for load tests only.
func WorkersAxis() Axis {
	axis := IntAxis("workers", "workers", "workers", "numbers of workers", 1, runner.MaxWorkers, "1", 1)
	axis.Accepted += ", " + NumCPU
	numbers := axis.Parse
	axis.Parse = func(list string) ([]string, error) {
		items := strings.Split(list, ",")
		for i, item := range items {
			if strings.TrimSpace(item) == NumCPU {
				items[i] = strconv.Itoa(runtime.GOMAXPROCS(0))
			}
		}
		values, err := numbers(strings.Join(items, ","))
		if e, ok := err.(*usage.ValueError); ok {
			e.Accepted = axis.Accepted
		}
		return values, err
	}
	return axis
}

// NameAxis is an axis of names: accepted lists them, def is the default matrix.
func NameAxis(name, key, flag, help string, accepted, def []string) Axis {
	words := strings.Join(accepted, ", ")
	smoke := ""
	if len(def) > 0 {
		smoke = def[0]
	}
	return Axis{
		Name: name, Key: key, Flag: flag, Usage: help, Accepted: words, Default: slices.Clone(def), Smoke: smoke,
		Parse: func(list string) ([]string, error) {
			var values []string
			for item := range strings.SplitSeq(list, ",") {
				item = strings.TrimSpace(item)
				if !slices.Contains(accepted, item) {
					return nil, &usage.ValueError{Field: dashed(flag), Value: item, Accepted: words}
				}
				values = appendNew(values, item)
			}
			return values, nil
		},
	}
}

// IntAxis is an axis of whole numbers from least to most, with ranges: smoke is the value
// of a load test, def is the default matrix, of which values above most are left out.
func IntAxis(name, key, flag, help string, least, most int, smoke string, def ...int) Axis {
	words := fmt.Sprintf("%d to %d, ranges a..b*k and a..b+k", least, most)
	axis := Axis{Name: name, Key: key, Flag: flag, Usage: help, Accepted: words, Smoke: smoke}
	for _, d := range def {
		if d <= most {
			axis.Default = append(axis.Default, strconv.Itoa(d))
		}
	}
	axis.Parse = func(list string) ([]string, error) {
		var values []string
		for item := range strings.SplitSeq(list, ",") {
			item = strings.TrimSpace(item)
			expanded, ok := usage.Expand(item)
			if !ok {
				return nil, &usage.ValueError{Field: dashed(flag), Value: item, Accepted: words}
			}
			for _, n := range expanded {
				if n < least || n > most {
					return nil, &usage.ValueError{Field: dashed(flag), Value: item, Accepted: words}
				}
				values = appendNew(values, strconv.Itoa(n))
			}
		}
		return values, nil
	}
	return axis
}

// durationAxis is an axis of times from 0s to most.
func durationAxis(name, key, flag, help string, most time.Duration, def ...time.Duration) Axis {
	words := fmt.Sprintf("times from 0s to %v, for example 500us or 2ms", most)
	axis := Axis{Name: name, Key: key, Flag: flag, Usage: help, Accepted: words}
	for _, d := range def {
		axis.Default = append(axis.Default, d.String())
	}
	axis.Smoke = axis.Default[0]
	axis.Parse = func(list string) ([]string, error) {
		var values []string
		for item := range strings.SplitSeq(list, ",") {
			item = strings.TrimSpace(item)
			d, err := time.ParseDuration(item)
			if err != nil || d < 0 || d > most {
				return nil, &usage.ValueError{Field: dashed(flag), Value: item, Accepted: words}
			}
			values = appendNew(values, d.String())
		}
		return values, nil
	}
	return axis
}

// dashed is the field's name in messages: the command's flag.
func dashed(flag string) string { return strings.ReplaceAll(flag, "_", "-") }

// appendNew drops repetitions: two cases of one name could not be told apart.
func appendNew(values []string, v string) []string {
	if slices.Contains(values, v) {
		return values
	}
	return append(values, v)
}

// BatchAxis is the number of actions or requests that one operation takes together.
func BatchAxis() Axis {
	return IntAxis("batch", "batch", "batch", "numbers of actions or requests taken together", 1, 4096, "8", 64)
}

// BatchMaxAxis is the most requests that a queue takes together; 0: there is no queue.
func BatchMaxAxis(most int) Axis {
	return IntAxis("largest batch", "batch-max", "batch_max",
		"numbers of requests that a queue takes together at most, one request an operation; 0: no queue, --batch requests an operation", 0, most, "0", 0)
}

// BatchWaitAxis is how long the first request of a queue's batch waits for others.
func BatchWaitAxis() Axis {
	return durationAxis("wait for a batch", "batch-wait", "batch_wait",
		"times that a queue waits for a batch to fill", time.Minute, 0)
}

// TokensAxis is the number of tokens on a ledger before.
func TokensAxis() Axis {
	return IntAxis("tokens before", "tokens", "tokens", "numbers of tokens on the ledger before", 0, 10_000_000, "0", 0)
}

// Of is the axis' value in a case, its default where the case has none.
func (a Axis) Of(c Case) string {
	if value := c.Get(a.Key); value != "" || len(a.Default) == 0 {
		return value
	}
	return a.Default[0]
}
