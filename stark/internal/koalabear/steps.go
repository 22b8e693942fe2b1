package koalabear

import "github.com/zkbench/zkbench/internal/arith/step"

// Steps runs steps on registers, one after the other, for the first rows, as many as fill whole registers of the
// AVX-512 kernel. It returns their number. Without the kernel it returns 0. All registers that steps name must
// exist and have as many elements as the parameter rows says.
func Steps(registers [][]Element, steps []step.Step, rows int) int {
	if rows = whole(rows); rows > 0 && len(steps) > 0 {
		stepsAVX512(&registers[0], &steps[0], rows, len(steps))
	}
	return rows
}

// Apply sets each dst[i] to the sum, difference or product of a[i] and b[i], depending on whether op is step.Add,
// step.Sub or step.Mul. The slice dst may be a or b, and all three must have the same length.
//
// gnark-crypto has functions for the same, but they return without VZEROUPPER, which costs more on Intel's processors than
// adding 1,000 elements.
func Apply(op step.Op, dst, a, b []Element) {
	n := Steps([][]Element{dst, a, b}, []step.Step{{Op: op, Dst: 0, X: 1, Y: 2}}, len(dst))
	if n == len(dst) {
		return
	}
	rest, x, y := Vector(dst[n:]), Vector(a[n:]), Vector(b[n:])
	switch op {
	case step.Add:
		rest.Add(x, y)
	case step.Sub:
		rest.Sub(x, y)
	case step.Mul:
		rest.Mul(x, y)
	}
}

// MulScalar sets each dst[i] to a[i] c. The slice dst may be a, and must be as long.
func MulScalar(dst, a []Element, c Element) {
	n := whole(len(dst))
	if n > 0 {
		_ = a[:n] // the kernel does not check lengths
		scaleAVX512(&dst[0], &a[0], c[0], n)
	}
	for i, e := range a[n:] {
		dst[n+i] = e.Mul(c)
	}
}

// Pack sets the first elements of dst to the sum of 2^j a[j], which is the number with the bits a[j]. It sets
// only as many elements as fill whole registers of the AVX-512 kernel, and returns their number. Without the
// kernel, or if a has no vectors, it returns 0. The vectors must be as long as dst, and none may be dst.
func Pack(dst []Element, a [][]Element) (rows int) {
	if rows = whole(len(dst)); rows > 0 && len(a) > 0 {
		for _, v := range a {
			_ = v[:rows] // the kernel does not check lengths
		}
		packAVX512(&dst[0], &a[len(a)-1], rows, len(a))
		return rows
	}
	return 0
}

// whole returns how many of rows fill whole registers of the kernel.
func whole(rows int) int {
	if !hasKernel {
		return 0
	}
	return rows &^ 15
}
