package runner

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"time"

	"github.com/zkbench/zkbench/internal/result/record"
)

// Names of the findings of Doubt.
const (
	AnyResult    = "any-result"    // the check accepts results that were changed
	InputChanged = "input-changed" // operations change their inputs
)

// doubts holds what Doubt needs from a run whose results were all correct.
type doubts struct {
	target  Target
	results []result // one of each class, copied
	inputs  []uint64 // one of each class, by sequence number; to be built again
	used    []any    // inputs as operations have left them
	limit   time.Duration
}

// largestAgain is the maximum size of an input that Doubt builds again, in bytes.
const largestAgain = 64 << 20

// leastDoubt is the time limit of Doubt, unless the window was longer.
const leastDoubt = 2 * time.Second

// SelfDoubting marks a Target that itself tests its Check with wrong results. Doubt skips such a
// Target.
type SelfDoubting interface{ DoubtsItself() }

// doubts copies what Doubt needs, before the arenas are freed. It returns nil if there is
// nothing to test.
func (r *run) doubts() *doubts {
	if _, itself := r.target.(SelfDoubting); itself || r.res.Done == 0 || r.res.Checked == 0 || r.res.CheckFailed+r.res.WarmupBad > 0 || r.arenas == nil {
		return nil
	}
	class := func(seq uint64) int {
		if r.cfg.Class == nil {
			return 0
		}
		return r.cfg.Class(seq)
	}
	d := &doubts{target: r.target, limit: max(r.res.Window, leastDoubt)}
	seen := make(map[int]bool)
	n := uint64(len(r.inputs))
	for k := range r.waiting() {
		if k.probe != nil || len(k.output) == 0 || n == 0 {
			continue
		}
		i := r.index(k.seq)
		if seen[class(i)] {
			continue
		}
		seen[class(i)] = true
		d.results = append(d.results, result{r.inputs[i], slices.Clone(k.output)})
		if len(seen) == max(len(r.cfg.Classes), 1) {
			break
		}
	}
	// Operations that still run might be changing their inputs.
	if n == 0 || len(r.res.Unfinished)+len(r.res.Outlasting) > 0 || r.eachInput > r.res.Window || r.res.Usage.HeapLive/n > largestAgain {
		return d
	}
	clear(seen)
	for seq := range min(n, r.res.Done) {
		if !seen[class(seq)] {
			seen[class(seq)] = true
			d.inputs, d.used = append(d.inputs, seq), append(d.used, r.inputs[seq])
		}
	}
	return d
}

// Doubt tests the check and the inputs of the case, if all results of the run were correct.
// First it passes changed results to the target's check. If the check accepts them, Doubt
// returns the finding AnyResult. Then it builds inputs again and compares them with those that
// operations have used. If they differ, Doubt returns the finding InputChanged. Doubt stops
// after the length of the window or two seconds, whichever is longer. A test that is not done by
// then adds no finding. The target must still be open.
func (r *Result) Doubt(ctx context.Context) []record.Finding {
	d := r.doubts
	if d == nil || ctx.Err() != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, d.limit)
	defer cancel()
	found, _, _ := interruptible(ctx, func() (found []record.Finding, _ error) {
		for _, right := range d.results {
			found = append(found, doubtCheck(ctx, d.target, right)...)
		}
		for i, seq := range d.inputs {
			found = append(found, doubtInput(ctx, d.target, seq, d.used[i])...)
		}
		return found, nil
	})
	return found
}

// Doubt runs the tests of Result.Doubt on one operation. The operation's input is passed as the
// parameter used, and its sequence number as seq. Its result is passed as output, and must have
// passed the target's check. If output is empty, Doubt tests only the input.
func Doubt(ctx context.Context, target Target, seq uint64, used any, output []byte) []record.Finding {
	if _, itself := target.(SelfDoubting); itself {
		return nil
	}
	r := Result{doubts: &doubts{target: target, inputs: []uint64{seq}, used: []any{used}, limit: leastDoubt}}
	if len(output) > 0 {
		r.doubts.results = []result{{used, output}}
	}
	return r.Doubt(ctx)
}

// changes is the number of changed results that doubtCheck tries, each changed in another place:
// encodings may have bytes without meaning.
const changes = 4

// doubtCheck passes changed results to the target's check, and returns a finding if the check
// accepts all of them. right must be a correct result of at least one byte.
func doubtCheck(ctx context.Context, target Target, right result) []record.Finding {
	for i := range changes {
		changed := result{right.input, slices.Clone(right.output)}
		changed.output[len(changed.output)*(i+1)/(changes+1)] ^= 1 << i
		_, err := Protect(func() (struct{}, error) { return struct{}{}, changed.check(ctx, target) })
		if err != nil || ctx.Err() != nil {
			return nil
		}
	}
	return []record.Finding{{Name: AnyResult, Text: fmt.Sprintf("the check accepts a result of length %d after each of %d changes to it: it cannot tell a right result from a wrong one", len(right.output), changes)}}
}

// doubtInput builds the input seq again, and returns a finding if it differs from the one that
// operations have used. It finds nothing if inputs differ each time they are built.
func doubtInput(ctx context.Context, target Target, seq uint64, used any) []record.Finding {
	again := func() any {
		input, _ := Protect(func() (any, error) { return target.Input(ctx, seq) })
		return input
	}
	first := again()
	if first == nil || ctx.Err() != nil || !differ(used, first) {
		return nil
	}
	if second := again(); second == nil || ctx.Err() != nil || differ(first, second) || differ(second, first) {
		return nil
	}
	return []record.Finding{{Name: InputChanged, Text: fmt.Sprintf("operations changed their input: input %d is no longer as it was built, so only the first operation on each input ran on the original", seq)}}
}

// Bounds of a comparison. Values beyond them count as equal.
const (
	mostCompared = 1 << 23 // values
	mostDeep     = 1 << 10 // nested pointers
)

// differ reports whether a used value differs from a fresh one in what the fresh one has set:
// a cache that is filled on first use is not a difference. Functions and channels are not
// compared.
func differ(used, fresh any) bool {
	c := comparison{left: mostCompared, seen: make(map[[2]uintptr]bool)}
	return c.differ(reflect.ValueOf(used), reflect.ValueOf(fresh), mostDeep)
}

type comparison struct {
	left int                 // values that may still be compared
	seen map[[2]uintptr]bool // pairs of pointers
}

func (c *comparison) differ(used, fresh reflect.Value, deep int) bool {
	if c.left--; c.left < 0 || deep == 0 || !fresh.IsValid() || fresh.IsZero() {
		return false
	}
	if !used.IsValid() || used.Type() != fresh.Type() {
		return true
	}
	switch fresh.Kind() {
	case reflect.Pointer:
		pair := [2]uintptr{used.Pointer(), fresh.Pointer()}
		if pair[0] == pair[1] || c.seen[pair] {
			return false
		}
		c.seen[pair] = true
		return used.IsNil() || c.differ(used.Elem(), fresh.Elem(), deep-1)
	case reflect.Interface:
		return used.IsNil() || c.differ(used.Elem(), fresh.Elem(), deep)
	case reflect.Slice:
		if fresh.Len() == 0 || used.Pointer() == fresh.Pointer() && used.Len() == fresh.Len() {
			return false
		}
		return used.Len() != fresh.Len() || c.differInside(used, fresh, deep-1)
	case reflect.Array:
		return c.differInside(used, fresh, deep)
	case reflect.Struct:
		for i := range fresh.NumField() {
			if c.differ(used.Field(i), fresh.Field(i), deep) {
				return true
			}
		}
		return false
	case reflect.Map:
		for entries := fresh.MapRange(); entries.Next(); {
			if value := used.MapIndex(entries.Key()); !value.IsValid() || c.differ(value, entries.Value(), deep-1) {
				return true
			}
		}
		return false
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		return false
	case reflect.Float32, reflect.Float64:
		return math.Float64bits(used.Float()) != math.Float64bits(fresh.Float())
	}
	return !used.Equal(fresh)
}

// differInside compares the elements of two slices or arrays of the same length.
func (c *comparison) differInside(used, fresh reflect.Value, deep int) bool {
	for i := 0; i < fresh.Len() && c.left >= 0; i++ {
		if c.differ(used.Index(i), fresh.Index(i), deep) {
			return true
		}
	}
	return false
}
