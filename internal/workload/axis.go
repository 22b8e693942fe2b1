package workload

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/result/record"
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
	Depends  string   // in words, what Default is where Def.Resolve decides it

	// Parse expands a comma-separated list as a user types it and validates
	// each value. The error is a *argument.ValueError.
	Parse func(list string) ([]string, error)
}

// Values of an axis that Def.Resolve replaces: the first that other axes accept, and all that are
// their default. Nobody types them.
const (
	Own = "\x00own"
	All = "\x00all"
)

// Dependent makes an axis of names one whose values depend on others, in words.
func (a Axis) Dependent(words string) Axis {
	parse := a.Parse
	a.Default, a.Smoke, a.Depends = []string{All}, Own, words
	a.Parse = func(list string) ([]string, error) {
		if list == Own || list == All {
			return []string{list}, nil
		}
		return parse(list)
	}
	return a
}

// Long is the axis' flag of the command: Flag with dashes.
func (a Axis) Long() string { return strings.ReplaceAll(a.Flag, "_", "-") }

// The axes that workloads share. Names of curves, proofs and executors live with
// their owners, so those axes are told what is accepted.

// CurveAxis is the group: accepted names them, def is the default matrix.
func CurveAxis(accepted, def []string) Axis {
	return NameAxis(Axis{Name: "curve", Flag: "curves", Usage: "curves"}, accepted, def)
}

// Aliased makes an axis of names one that takes others too: canonical returns the name that one stands for,
// itself if it is none. accepted says in words what is.
func (a Axis) Aliased(canonical func(name string) string, accepted string) Axis {
	parse := a.Parse
	a.Accepted = accepted
	a.Parse = func(list string) ([]string, error) {
		names := strings.Split(list, ",")
		for i, name := range names {
			names[i] = canonical(strings.TrimSpace(name))
		}
		values, err := parse(strings.Join(names, ","))
		if wrong, ok := errors.AsType[*argument.ValueError](err); ok {
			err = &argument.ValueError{Field: wrong.Field, Value: wrong.Value, Accepted: accepted}
		}
		return values, err
	}
	return a
}

// BitsAxis is the bit length of values, 1 to 64.
func BitsAxis() Axis {
	return IntAxis(Axis{Name: "bits", Usage: "bit lengths of values", Smoke: "32"}, 1, 64, 32, 64)
}

// InputsAxis is the number of input tokens, 1 to most.
func InputsAxis(most int) Axis {
	return IntAxis(Axis{Name: "inputs", Key: "in", Flag: "num_inputs", Usage: "numbers of inputs", Smoke: "2"}, 1, most, 1, 2, 3)
}

// OutputsAxis is the number of output tokens, 1 to most.
func OutputsAxis(most int) Axis {
	return IntAxis(Axis{Name: "outputs", Key: "out", Flag: "num_outputs", Usage: "numbers of outputs", Smoke: "2"}, 1, most, 1, 2, 3)
}

// ProofAxis is the range-proof system; the first accepted one is the default.
func ProofAxis(accepted []string) Axis {
	return NameAxis(Axis{Name: "range proof", Key: "proof", Flag: "proof_type", Usage: "range proof systems"}, accepted, accepted[:min(1, len(accepted))])
}

// ExecutorAxis is how the pieces of one operation are scheduled; the first
// accepted one is the default.
func ExecutorAxis(accepted []string) Axis {
	return NameAxis(Axis{Name: "executor", Key: record.ExecutorKey, Usage: "executors of an operation's independent pieces"}, accepted, accepted[:min(1, len(accepted))])
}

// named completes an axis: its key and flag, where it has none of its own, are its name.
func (a Axis) named() Axis {
	if a.Key == "" {
		a.Key = a.Name
	}
	if a.Flag == "" {
		a.Flag = a.Name
	}
	return a
}

// each has the axis parse a comma-separated list by its items; parse returns the values of
// one, false where it is not accepted.
func (a Axis) each(parse func(item string) ([]string, bool)) Axis {
	a.Parse = func(list string) ([]string, error) {
		var values []string
		for item := range strings.SplitSeq(list, ",") {
			item = strings.TrimSpace(item)
			some, ok := parse(item)
			if !ok {
				return nil, &argument.ValueError{Field: a.Long(), Value: item, Accepted: a.Accepted}
			}
			for _, v := range some { // two cases of one name could not be told apart
				if !slices.Contains(values, v) {
					values = append(values, v)
				}
			}
		}
		return values, nil
	}
	return a
}

// WithMore makes an axis of names that accepts others too, which words describe.
func (a Axis) WithMore(more func(name string) bool, words string) Axis {
	names := a.Parse
	a.Accepted += ", " + words
	return a.each(func(item string) ([]string, bool) {
		_, err := names(item)
		return []string{item}, err == nil || more(item)
	})
}

// NameAxis makes a an axis of names, with its name as key and flag where it has none:
// accepted lists them, def is the default matrix.
func NameAxis(a Axis, accepted, def []string) Axis {
	a = a.named()
	a.Accepted, a.Default = strings.Join(accepted, ", "), slices.Clone(def)
	if len(def) > 0 {
		a.Smoke = def[0]
	}
	return a.each(func(item string) ([]string, bool) { return []string{item}, slices.Contains(accepted, item) })
}

// IntAxis makes a an axis of whole numbers from least to most, with ranges, and with its
// name as key and flag where it has none. Smoke is the value of a load test, def is the
// default matrix, of which values above most are left out.
func IntAxis(a Axis, least, most int, def ...int) Axis {
	a = a.named()
	a.Accepted = fmt.Sprintf("%d to %d, ranges a..b*k and a..b+k", least, most)
	for _, d := range def {
		if d <= most {
			a.Default = append(a.Default, strconv.Itoa(d))
		}
	}
	return a.each(func(item string) (values []string, ok bool) {
		expanded, ok := argument.Expand(item)
		for _, n := range expanded {
			ok = ok && least <= n && n <= most
			values = append(values, strconv.Itoa(n))
		}
		return values, ok
	})
}

// durationAxis makes a an axis of times from 0s to most.
func durationAxis(a Axis, most time.Duration, def ...time.Duration) Axis {
	a = a.named()
	a.Accepted = fmt.Sprintf("times from 0s to %v, for example 500us or 2ms", most)
	for _, d := range def {
		a.Default = append(a.Default, d.String())
	}
	a.Smoke = a.Default[0]
	return a.each(func(item string) ([]string, bool) {
		d, err := time.ParseDuration(item)
		return []string{d.String()}, err == nil && 0 <= d && d <= most
	})
}

// BatchAxis is the number of actions or requests that one operation takes together.
func BatchAxis() Axis {
	return IntAxis(Axis{Name: "batch", Usage: "numbers of actions or requests taken together", Smoke: "8"}, 1, 4096, 64)
}

// BatchMaxAxis is the most requests that a queue takes together; 0: there is no queue.
func BatchMaxAxis(most int) Axis {
	return IntAxis(Axis{Name: "largest batch", Key: "batch-max", Flag: "batch_max", Usage: "numbers of requests that a queue takes together at most, one request an operation; 0: no queue, --batch requests an operation", Smoke: "0"}, 0, most, 0)
}

// BatchWaitAxis is how long the first request of a queue's batch waits for others.
func BatchWaitAxis() Axis {
	return durationAxis(Axis{Name: "wait for a batch", Key: "batch-wait", Flag: "batch_wait", Usage: "times that a queue waits for a batch to fill"}, time.Minute, 0)
}

// TokensAxis is the number of tokens on a ledger before.
func TokensAxis() Axis {
	return IntAxis(Axis{Name: "tokens before", Key: "tokens", Flag: "tokens", Usage: "numbers of tokens on the ledger before", Smoke: "0"}, 0, 10_000_000, 0)
}

// Int is the axis' value in a case as a number that the axis accepts. The error is a
// *argument.ValueError.
func (a Axis) Int(c Case) (int, error) {
	if _, err := a.Parse(c.Get(a.Key)); err != nil {
		return 0, err
	}
	return c.Int(a.Key)
}

// Of is the axis' value in a case, its default where the case has none.
func (a Axis) Of(c Case) string {
	if value := c.Get(a.Key); value != "" || len(a.Default) == 0 {
		return value
	}
	return a.Default[0]
}

// maxCases bounds a matrix: beyond it a slip in a range would run for days.
const maxCases = 100_000

// Cases returns the matrix of def: the product of its axes, the last one
// fastest. lists holds what the user typed, by the axis' key; an axis without
// an entry takes its default.
func Cases(def Def, lists map[string]string) ([]Case, error) {
	cases := []Case{{}}
	for _, axis := range def.Axes {
		values := axis.Default
		if list, typed := lists[axis.Key]; typed {
			var err error
			if values, err = axis.Parse(list); err != nil {
				return nil, err
			}
		}
		if err := argument.AtMost("cases", int64(len(cases))*int64(len(values)), maxCases); err != nil {
			return nil, fmt.Errorf("matrix of %s: %w", def.ID(), err)
		}
		next := make([]Case, 0, len(cases)*len(values))
		for _, c := range cases {
			for _, v := range values {
				next = append(next, NewCase(append(c.Axes(), record.Axis{Key: axis.Key, Value: v})...))
			}
		}
		cases = next
	}
	if def.Resolve == nil {
		return cases, nil
	}
	// The values of a dependent axis are the slowest.
	var all [][]Case
	most := 0
	for _, c := range cases {
		some, err := def.Resolve(c)
		if err != nil {
			return nil, err
		}
		all, most = append(all, some), max(most, len(some))
	}
	cases = nil
	for i := range most {
		for _, some := range all {
			if i < len(some) {
				cases = append(cases, some[i])
			}
		}
	}
	return cases, nil
}

// Plan is a workload with the cases to be run.
type Plan struct {
	Def   Def
	Cases []Case
}
