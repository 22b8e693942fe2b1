package goldilocks

import (
	"fmt"
	"math/bits"
	"sync"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/sys/memory"
)

const (
	// Generator generates the field's multiplicative group. It is the usual shift of a coset.
	Generator Element = 7

	// TwoAdicity is the largest k for which the field has roots of unity of order 2^k.
	TwoAdicity = 32
)

// rootOfUnity is 7^((p-1)/2^32), of order 2^32, as in Plonky3 and gnark-crypto. plonky2 uses
// another root, 7277203076849721926, so its vectors of values are in a different order.
const rootOfUnity Element = 1753635133440165772

// RootOfUnity returns 7^((p-1)/2^log), where p is Modulus. The order of this root is 2^log. It
// returns zkbench.ErrParams if log is not from 0 to TwoAdicity.
func RootOfUnity(log int) (Element, error) {
	if log < 0 || log > TwoAdicity {
		return 0, fmt.Errorf("%w: root of unity of order 2^%d, accepted are 2^0 to 2^%d", zkbench.ErrParams, log, TwoAdicity)
	}
	return rootOfUnity.squares(TwoAdicity - log), nil
}

// rootOf returns the root of unity of order n, a power of two.
func rootOf(n int) Element { return rootOfUnity.squares(TwoAdicity + 1 - bits.Len(uint(n))) }

// Domain is the group of n-th roots of unity, for n a power of two, with the tables that its
// transforms read. The tables take 4n bytes. After a vector kernel has run, they take 16n more on
// amd64 and 8n more on arm64.
//
// In Natural order the elements are the powers of Root. A Domain is safe for concurrent use. Create
// it with NewDomain. If NewDomain did not create a Domain, every method of it that can return an
// error returns zkbench.ErrParams.
type Domain struct {
	n       int
	inverse Element // 1/n
	root    Element
	roots   []Element // roots[b], b < n/2, is exp(pi i rev(b)), with tables' rev
	// tables of radix 4 and 8, made when a kernel first asks for them.
	tables4, tables8 func() *tables
	multipliers      func() []multiplier // of the roots; likewise
}

// rootBytes is the memory of a domain's roots per element of the domain.
const rootBytes = 8 / 2

// NewDomain returns the domain of n elements. It returns zkbench.ErrParams if n is not a power of
// two from 1 to 2^32. If there is no memory for the tables, including those of a vector kernel, it
// returns zkbench.ErrLimit with their size, before it allocates anything.
func NewDomain(n int) (*Domain, error) {
	if n < 1 || n&(n-1) != 0 || bits.Len(uint(n))-1 > TwoAdicity {
		return nil, fmt.Errorf("%w: domain of %d elements, accepted are powers of two from 1 to 2^%d", zkbench.ErrParams, n, TwoAdicity)
	}
	if err := memory.Fits("the domain's tables", uint64(n)*(rootBytes+tableBytes)); err != nil {
		return nil, err
	}
	d := &Domain{n: n, inverse: Element(n).Inverse(), root: rootOf(n), roots: make([]Element, max(1, n/2))}
	d.roots[0] = 1
	for i := 1; i < len(d.roots); i *= 2 {
		mulScalarPortable(d.roots[i:2*i], d.roots[:i], rootOf(4*i))
	}
	d.tables4 = sync.OnceValue(func() *tables { return newTables(d.roots, 4) })
	d.tables8 = sync.OnceValue(func() *tables { return newTables(d.roots, 8) })
	d.multipliers = sync.OnceValue(func() []multiplier { return newMultipliers(d.roots) })
	return d, nil
}

// Size returns the number of elements.
func (d *Domain) Size() int { return d.n }

// Root returns 7^((p-1)/n), where p is Modulus and n is the size of the domain. This element has
// order n and generates the domain.
func (d *Domain) Root() Element { return d.root }

// checkMade returns an error unless NewDomain made the domain.
func (d *Domain) checkMade() error {
	if d == nil || d.n == 0 {
		return fmt.Errorf("%w: a domain that NewDomain has not made", zkbench.ErrParams)
	}
	return nil
}

// checkLength returns an error unless values has the domain's length.
func (d *Domain) checkLength(what string, values []Element) error {
	if err := d.checkMade(); err != nil {
		return err
	}
	if len(values) != d.n {
		return fmt.Errorf("%w: %s of %d elements, accepted is the domain's %d", zkbench.ErrParams, what, len(values), d.n)
	}
	return nil
}
