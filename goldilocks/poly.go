package goldilocks

import (
	"context"
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
)

// Extension is an extension of the field in which polynomials can be evaluated. Package ext has two
// such extensions. The coordinates of an element refer to a basis that starts with 1.
type Extension[E any] interface {
	~[2]Element | ~[3]Element
	Add(E) E
	Mul(E) E
	MulBase(Element) E
	Exp(uint64) E
	comparable
}

// evalBlock is the number of powers of the point that are computed. They fit in the first-level
// cache. The result of each block of coefficients is multiplied by one more power.
const evalBlock = 1 << 9

// EvalAll returns the value of each polynomial at the given point. polys[i][j] is the coefficient
// of X^j in polynomial i. EvalAll returns zkbench.ErrParams if a coordinate of point is not
// canonical. Each polynomial is one task of the executor.
//
// Each coefficient costs one multiplication for each coordinate of the point, so two or three. Such
// a multiplication costs as much as a multiplication in Dot.
func EvalAll[E Extension[E]](ctx context.Context, ex executor.Executor, polys [][]Element, point E, on ...Kernel) ([]E, error) {
	if err := checkPoint(point); err != nil {
		return nil, err
	}
	k, longest := chosen(on), 1
	for _, f := range polys {
		longest = max(longest, len(f))
	}
	block := min(longest, evalBlock)
	powers := powersOf(k, point, block)
	step := point.Exp(uint64(block))
	values := make([]E, len(polys))
	err := ex.Do(ctx, len(polys), func(_ context.Context, i int) error {
		f := polys[i]
		// Horner's rule in step, from the last block down.
		for end := len(f); end > 0; {
			start := (end - 1) / block * block
			values[i] = values[i].Mul(step).Add(dot[E](k, f[start:end], powers))
			end = start
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return values, nil
}

func checkPoint[E Extension[E]](point E) error {
	for i := range len(point) {
		if c := point[i]; !c.Canonical() {
			return fmt.Errorf("%w: point[%d] is %d, accepted are 0 to p-1", zkbench.ErrParams, i, c)
		}
	}
	return nil
}

// powersOf returns the coordinates of the first n powers of x. Each step multiplies all known
// powers by the next one.
func powersOf[E Extension[E]](k Kernel, x E, n int) [][]Element {
	out := vectors(len(x), n)
	term := make([]Element, n/2+1)
	out[0][0] = 1
	for m := 1; m < n; m *= 2 {
		count := min(m, n-m)
		for j, src := range out {
			var unit E
			unit[j] = 1
			image := unit.Mul(x)
			for c, dst := range out {
				MulScalar(term[:count], src[:count], image[c], k)
				Add(dst[m:m+count], dst[m:m+count], term[:count], k)
			}
		}
		x = x.Mul(x)
	}
	return out
}

// dot returns the sum of f[i] times the weight whose coordinates are weights[.][i].
func dot[E Extension[E]](k Kernel, f []Element, weights [][]Element) (sum E) {
	for c, w := range weights {
		sum[c] = Dot(f, w[:len(f)], k)
	}
	return sum
}

// vectors returns count vectors of n zeros, in one allocation.
func vectors(count, n int) [][]Element {
	all := make([]Element, count*n)
	out := make([][]Element, count)
	for i := range out {
		out[i] = all[i*n:][:n:n]
	}
	return out
}
