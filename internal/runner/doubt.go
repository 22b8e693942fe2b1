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

// Findings of a case that is doubtful in itself.
const (
	AnyResult    = "any-result"
	InputChanged = "input-changed"
)

// doubts are what is doubted of a case whose results were all found right.
type doubts struct {
	target  Target
	results []result // of each class one, copied
	inputs  []uint64 // of each class one that can be made again
	used    []any
	limit   time.Duration
}

// largestAgain is the greatest input that is made again, in bytes.
const largestAgain = 64 << 20

// leastDoubt is the time that there is for doubts, or as long as the window was.
const leastDoubt = 2 * time.Second

// SelfDoubting is a Target whose Check doubts itself: it has shown it wrong results.
type SelfDoubting interface{ DoubtsItself() }

// doubts takes what is doubted, while the results are there.
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
		if k.probe != nil || len(k.output) == 0 || n == 0 || seen[class(k.seq)] {
			continue
		}
		seen[class(k.seq)] = true
		d.results = append(d.results, result{r.inputs[k.seq%n], slices.Clone(k.output)})
		if len(seen) == max(len(r.cfg.Classes), 1) {
			break
		}
	}
	// Operations that still run would be seen to change their input.
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

// Doubt doubts the case itself, where all its results were found right: it shows the check
// changed results, and makes inputs again and compares them with those that operations have
// used. It takes no longer than the window did, or two seconds; what it has not found out by
// then it does not say. The target is still open.
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

// Doubt doubts an operation whose input seq has been used, and whose output for it was found
// right.
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

// changes are how many changed results a check may accept, each changed in another place:
// encodings have bytes that mean nothing.
const changes = 4

// doubtCheck shows the check of an operation changed results, and finds one that refuses none
// of them. The result has at least one byte, and was found right.
func doubtCheck(ctx context.Context, target Target, right result) []record.Finding {
	for i := range changes {
		changed := result{right.input, slices.Clone(right.output)}
		changed.output[len(changed.output)*(i+1)/(changes+1)] ^= 1 << i
		_, err := Protect(func() (struct{}, error) { return struct{}{}, changed.check(ctx, target) })
		if err != nil || ctx.Err() != nil {
			return nil
		}
	}
	return []record.Finding{{Name: AnyResult, Text: fmt.Sprintf("the check accepts a result of length %d that was changed, in each of %d ways: it cannot tell a right result from a wrong one", len(right.output), changes)}}
}

// doubtInput makes the input seq again and compares it with the one that operations have used.
// It finds nothing of inputs that differ each time they are made.
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
	return []record.Finding{{Name: InputChanged, Text: fmt.Sprintf("operations changed their input: input %d is no longer what it was when it was made, so that all but the first of each input ran on another one", seq)}}
}

// Bounds of a comparison: what lies beyond is taken to be the same.
const (
	mostCompared = 1 << 23 // values
	mostDeep     = 1 << 10 // pointers, one behind the other
)

// differ tells whether a value that was used differs from one that was made afresh, in what the
// fresh one has set: a cache that is filled on first use is no difference. Functions and
// channels are not compared.
func differ(used, fresh any) bool {
	c := comparison{left: mostCompared, seen: make(map[[2]uintptr]bool)}
	return c.differ(reflect.ValueOf(used), reflect.ValueOf(fresh), mostDeep)
}

type comparison struct {
	left int                 // values that may still be looked at
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
		for of := fresh.MapRange(); of.Next(); {
			if value := used.MapIndex(of.Key()); !value.IsValid() || c.differ(value, of.Value(), deep-1) {
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

// differInside compares the elements of what is equally long.
func (c *comparison) differInside(used, fresh reflect.Value, deep int) bool {
	for i := 0; i < fresh.Len() && c.left >= 0; i++ {
		if c.differ(used.Index(i), fresh.Index(i), deep) {
			return true
		}
	}
	return false
}
