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

// An Axis is one parameter of a workload, with the values that it accepts. A workload's
// matrix has one dimension for each axis.
type Axis struct {
	Name     string   // in words, for example "range proof"
	Key      string   // in a case's name, for example proof
	Flag     string   // of go test, for example proof_type
	Usage    string   // what the values are, in the plural, for the help of the flag
	Accepted string   // the accepted values, in words
	Names    []string // the accepted values, if they are names
	Default  []string // the values of benchmarks, and of the command with --matrix study
	Smoke    string   // the value of the small case, which load tests and the command run by default
	Depends  string   // describes Default in words if Def.Resolve chooses it

	// Parse splits a comma-separated list as a user types it, expands ranges and
	// validates each value. It returns an *argument.ValueError for the first value that
	// the axis does not accept.
	Parse func(list string) ([]string, error)
}

// Own and All are values of axes that depend on other axes (Dependent). Def.Resolve
// replaces Own by the first value that the other axes allow, and All by all their default
// values. Users do not type them.
const (
	Own = "\x00own"
	All = "\x00all"
)

// Dependent returns a copy of the axis a, which must be an axis of names. The default values of the copy depend on
// other axes. So its Default is the constant All and its Smoke is the constant Own, which Def.Resolve replaces. Its
// Parse accepts both constants. Its Depends is the text words, which describes the default values.
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

// Long returns the name of the axis's flag in the command: Flag with dashes for underscores.
func (a Axis) Long() string { return strings.ReplaceAll(a.Flag, "_", "-") }

// The axes that workloads share. Other packages define the names of curves, proofs and
// executors, so the constructors of these axes take the accepted names.

// CurveAxis returns the axis of elliptic curves. Its values are the names in accepted. The values in def are those of
// the default matrix.
func CurveAxis(accepted, def []string) Axis {
	return NameAxis(Axis{Name: "curve", Flag: "curves", Usage: "curves"}, accepted, def)
}

// Aliased returns a copy of the axis a, which must be an axis of names. The copy also accepts aliases. The function
// canonical returns the name that an alias stands for, and returns any other text unchanged. The text accepted
// describes the names and aliases in words.
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
			err = &argument.ValueError{Field: wrong.Field, Value: wrong.Value, Near: wrong.Near, Accepted: accepted}
		}
		return values, err
	}
	return a
}

// BitsAxis returns the axis for the bit length of values, 1 to 64.
func BitsAxis() Axis {
	return IntAxis(Axis{Name: "bits", Usage: "bit lengths of values", Smoke: "32"}, 1, 64, 32, 64)
}

// InputsAxis returns the axis for the number n of input tokens, with 1 ≤ n ≤ most.
func InputsAxis(most int) Axis {
	return IntAxis(Axis{Name: "inputs", Key: "in", Flag: "num_inputs", Usage: "numbers of inputs", Smoke: "2"}, 1, most, 1, 2, 3)
}

// OutputsAxis returns the axis for the number n of output tokens, with 1 ≤ n ≤ most.
func OutputsAxis(most int) Axis {
	return IntAxis(Axis{Name: "outputs", Key: "out", Flag: "num_outputs", Usage: "numbers of outputs", Smoke: "2"}, 1, most, 1, 2, 3)
}

// ProofAxis returns the axis of range-proof systems. Its values are the names in accepted. The first of them is the
// default.
func ProofAxis(accepted []string) Axis {
	return NameAxis(Axis{Name: "range proof", Key: "proof", Flag: "proof_type", Usage: "range proof systems"}, accepted, accepted[:min(1, len(accepted))])
}

// ExecutorAxis returns the axis of executors, which schedule the independent pieces of one operation. The values of
// the axis are the names in accepted. The first of them is the default.
func ExecutorAxis(accepted []string) Axis {
	return NameAxis(Axis{Name: "executor", Key: record.ExecutorKey, Usage: "executors for the independent pieces of an operation"}, accepted, accepted[:min(1, len(accepted))])
}

// named returns a with its name as key and flag if these are empty.
func (a Axis) named() Axis {
	if a.Key == "" {
		a.Key = a.Name
	}
	if a.Flag == "" {
		a.Flag = a.Name
	}
	return a
}

// each returns a with a new Parse. It splits a comma-separated list and calls parse for
// each item. parse returns the item's values, or false if the item is not accepted.
func (a Axis) each(parse func(item string) ([]string, bool)) Axis {
	a.Parse = func(list string) ([]string, error) {
		var values []string
		for item := range strings.SplitSeq(list, ",") {
			item = strings.TrimSpace(item)
			some, ok := parse(item)
			if !ok {
				return nil, &argument.ValueError{Field: a.Long(), Value: item, Near: argument.Near(item, a.Names), Accepted: a.Accepted}
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

// WithMore returns a copy of the axis a, which must be an axis of names. The copy also accepts every name for which
// more(name) is true. The text words describes these names.
func (a Axis) WithMore(more func(name string) bool, words string) Axis {
	names := a.Parse
	a.Accepted += ", " + words
	return a.each(func(item string) ([]string, bool) {
		if values, err := names(item); err == nil {
			return values, true
		}
		return []string{item}, more(item)
	})
}

// NameAxis returns a copy of the axis a that is an axis of names. Its values are the names in accepted. Users may
// type them in upper or lower case. The values in def are those of the default matrix. If def has values, the first
// one becomes Smoke. If a has no key or no flag, the name of a is used instead.
func NameAxis(a Axis, accepted, def []string) Axis {
	a = a.named()
	a.Accepted, a.Names, a.Default = strings.Join(accepted, ", "), slices.Clone(accepted), slices.Clone(def)
	if len(def) > 0 {
		a.Smoke = def[0]
	}
	return a.each(func(item string) ([]string, bool) {
		name := argument.Canonical(item, accepted)
		return []string{name}, slices.Contains(accepted, name)
	})
}

// IntAxis returns a copy of the axis a that is an axis of whole numbers. The axis accepts each number n with least ≤
// n ≤ most. Users may also type ranges of the forms a..b*k and a..b+k. The parameter def holds the values in the
// default matrix; IntAxis leaves out those that are larger than most. If a has no key or no flag, the name of a is
// used instead. The copy has the same Smoke as the axis a.
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

// durationAxis turns a into an axis of times from 0s to most. The first of def becomes Smoke.
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

// BatchAxis returns the axis for the number of actions or requests that one operation processes together.
func BatchAxis() Axis {
	return IntAxis(Axis{Name: "batch", Usage: "numbers of actions or requests in one batch", Smoke: "8"}, 1, 4096, 64)
}

// BatchMaxAxis returns the axis for the largest number n of requests that a queue puts into one batch, with 0 ≤ n ≤
// most. The value 0 means that there is no queue.
func BatchMaxAxis(most int) Axis {
	return IntAxis(Axis{Name: "largest batch", Key: "batch-max", Flag: "batch_max", Usage: "largest batches of requests that a queue forms, with one request per operation (0: no queue, and --batch requests per operation)", Smoke: "0"}, 0, most, 0)
}

// BatchWaitAxis returns the axis for the time that the first request in a queue waits for
// others to fill its batch.
func BatchWaitAxis() Axis {
	return durationAxis(Axis{Name: "wait for a batch", Key: "batch-wait", Flag: "batch_wait", Usage: "times that a queue waits for a batch to fill"}, time.Minute, 0)
}

// TokensAxis returns the axis for the number of tokens that the set-up puts on a ledger.
func TokensAxis() Axis {
	return IntAxis(Axis{Name: "tokens before", Key: "tokens", Flag: "tokens", Usage: "numbers of tokens that are on the ledger before the first operation", Smoke: "0"}, 0, 10_000_000, 0)
}

// Int returns the value of the axis in c as a number. It returns an *argument.ValueError if
// the axis does not accept the value.
func (a Axis) Int(c Case) (int, error) {
	if _, err := a.Parse(c.Get(a.Key)); err != nil {
		return 0, err
	}
	return c.Int(a.Key)
}

// ValueOf returns the value of the axis in c, or the first default value if c has none.
func (a Axis) ValueOf(c Case) string {
	if value := c.Get(a.Key); value != "" || len(a.Default) == 0 {
		return value
	}
	return a.Default[0]
}

// maxCases bounds a matrix, because a slip in a range would otherwise run for days.
const maxCases = 100_000

// Cases returns the matrix of def: all combinations of its axes' values. The last axis changes fastest. If the user
// typed a text for the axis with the Key k, lists[k] is this text. An axis without an entry has its default values.
// Def.Resolve replaces the values Own and All; the values that replace All change slowest. Cases returns an error if
// a value is not accepted or if there are more than 100,000 cases.
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
	// The values of a dependent axis change slowest.
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

// Plan is a workload together with the cases of it that are to be run.
type Plan struct {
	Def   Def
	Cases []Case
}
