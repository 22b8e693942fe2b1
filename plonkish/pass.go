package plonkish

import (
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
)

// pass is a part of the identity that is computed on all cosets before the next part, so that a proof has fewer of the
// circuit's columns in memory at a time.
type pass struct {
	terms   []Expr
	before  int        // the number of terms before these
	columns []variable // committed columns that the terms read, in their own row or the next
	fixed   []variable // of columns, those that the circuit decides
	next    []variable // of columns, those that are read in the next row
	ends    bool       // the terms read the points of the coset, or the first row or the last
	kernel  *kernel
}

// manyRows is the number of rows from which memory matters more than time: there are two passes, each of which evaluates
// the witness, and keys do not keep the circuit's columns.
const manyRows = 1 << 17

// newPasses cuts the identity in two where the passes take the least memory. They have no kernels yet.
func (l *layout) newPasses(elementBytes int) []*pass {
	reads := l.reads()
	best := l.cut(0, reads)
	for at := 1; l.n >= manyRows && at < len(l.terms); at++ {
		if two := l.cut(at, reads); l.mostBytes(two, elementBytes) < l.mostBytes(best, elementBytes) {
			best = two
		}
	}
	return best
}

// read says which terms of the identity read a variable: first is the first of them, last the last.
type read struct {
	variable
	first, last int
}

// reads returns all variables that terms read, each once. It compiles each term once, so that trying all cuts takes
// no longer than compiling.
func (l *layout) reads() (all []read) {
	known := make(map[variable]int)
	for i, t := range l.terms {
		for _, v := range compile(t).variables() {
			at, ok := known[v]
			if !ok {
				at = len(all)
				known[v], all = at, append(all, read{variable: v, first: i})
			}
			all[at].last = i
		}
	}
	return all
}

// cut returns the pass of the terms below a number, and that of the others. Without terms there is no pass.
func (l *layout) cut(at int, reads []read) []*pass {
	others := l.pass(at, len(l.terms), reads)
	if at == 0 {
		return []*pass{others}
	}
	return []*pass{l.pass(0, at, reads), others}
}

// setKernels sets the passes' kernels.
func (k *ProvingKey) setKernels() {
	for _, p := range k.passes {
		weight := Int(1)
		for range p.before {
			weight = weight.Mul(varExpr(scalar, alpha))
		}
		p.kernel = newKernel(compile(weight.Mul(weighedSum(p.terms))))
	}
}

// pass returns a pass of the terms from lo to hi, the first terms or the last, without a kernel.
func (l *layout) pass(lo, hi int, reads []read) *pass {
	p := &pass{terms: l.terms[lo:hi], before: lo}
	needed := make(map[variable]bool)
	for _, r := range reads {
		switch v := r.variable; {
		case r.first >= hi || r.last < lo:
		case v.kind.next():
			p.next = append(p.next, v.here())
			needed[v.here()] = true
		case v.kind == point || v.kind == first || v.kind == last:
			p.ends = true
		default:
			needed[v] = true
		}
	}
	for _, v := range l.committed {
		if !needed[v] {
			continue
		}
		p.columns = append(p.columns, v)
		if v.kind.fixed() {
			p.fixed = append(p.fixed, v)
		}
	}
	return p
}

// onPart returns the number of vectors of a pass on a part of a coset.
func (p *pass) onPart() int {
	n := len(p.columns) + len(p.next) + 4 // the values, what they are added to, and the powers of two shifts
	if p.ends {
		n += 5
	}
	return n
}

// mostBytes returns the most memory per row that one of the passes takes, for columns that the circuit decides and for
// vectors on a part of a coset, whose elements take the given number of bytes.
func (l *layout) mostBytes(passes []*pass, elementBytes int) (most int) {
	for _, p := range passes {
		most = max(most, len(p.fixed)*fr.Bytes+(p.onPart()*elementBytes+l.partCount()-1)/l.partCount())
	}
	return most
}
