package zkvm

import (
	"math/big"
	"slices"
	"testing"

	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/stark/air"
)

// interval has the least and the greatest number that an expression can be. It has neither if the expression reads a column that can
// be any element of the field.
type interval struct{ least, most *big.Int }

// intervals is the algebra of intervals. Its values are the columns' ranges in bits.
type intervals []int

func (r intervals) Constant(c air.Int) interval {
	n := new(big.Int).SetUint64(c.Abs)
	if c.Negative {
		n.Neg(n)
	}
	return interval{n, n}
}

func (r intervals) Here(column int) interval {
	if r[column] == free {
		return interval{}
	}
	most := new(big.Int).Lsh(big.NewInt(1), uint(r[column]))
	return interval{new(big.Int), most.Sub(most, big.NewInt(1))}
}
func (r intervals) Next(column int) interval { return r.Here(column) }
func (r intervals) Fixed(int) interval       { return interval{} }
func (r intervals) Public(int) interval      { return interval{} }

// over returns the interval of an operation that is least and greatest at ends of intervals.
func over(x, y interval, operation func(z, x, y *big.Int) *big.Int) (z interval) {
	if x.least == nil || y.least == nil {
		return z
	}
	for _, a := range []*big.Int{x.least, x.most} {
		for _, b := range []*big.Int{y.least, y.most} {
			v := operation(new(big.Int), a, b)
			if z.least == nil || v.Cmp(z.least) < 0 {
				z.least = v
			}
			if z.most == nil || v.Cmp(z.most) > 0 {
				z.most = v
			}
		}
	}
	return z
}

func (intervals) Add(x, y interval) interval { return over(x, y, (*big.Int).Add) }
func (intervals) Sub(x, y interval) interval { return over(x, y, (*big.Int).Sub) }
func (intervals) Mul(x, y interval) interval { return over(x, y, (*big.Int).Mul) }

// modular has what reads columns that are free, by table: constraints, and buses of look-ups.
var modular = map[string][]string{
	"equal":        {"limbs differ"},                                                 // the inverses exist if and only if a difference is not 0 in the field
	"compare":      {"upper limbs differ"},                                           // likewise
	"jumps":        {"target of jal"},                                                // which says of two elements that they are the same
	"words":        {"address"},                                                      // the offset stands for a number of 12 bits with a sign; builder.memory bounds the sides
	"narrow words": {"address"},                                                      // likewise
	"calls":        {"lower limb of a1"},                                             // which says of two elements that they are the same
	"output":       {"nothing is behind the end", "something is behind other bytes"}, // the inverse exists if and only if a number is not 0 in the field
	"constants":    {"loads of cells only"},                                          // a count is any element where there is a cell
	"input":        {"length of the input", "loads of the input only"},               // the length is public, and below the field's order; a count is any element
	"registers":    {"length of the output"},                                         // which is public
	"data":         {"asks \"cell\" once at most"},                                   // a column of the image, which verifiers know
	"regions":      {"asks \"half\" once at most"},                                   // likewise
}

// TestNothingWraps checks that constraints say of numbers what they say modulo the field's order p: with the columns in their ranges, no
// expression that must be 0 is as great as p or as little as -p. Nor does an expression that is looked up as a half or as less come near to it.
func TestNothingWraps(t *testing.T) {
	m := newMachine(rv64)
	all := m.all()
	for i, compiled := range m.tables() {
		table := all[i]
		if table == m.sponge { // Poseidon's arithmetic is that of the field
			continue
		}
		program := must.Get(compiled.Compile())(t)
		values := air.Evaluate[interval](program, intervals(table.shapeOf().bits))
		var reads []string
		check := func(name string, v interval, room int64) {
			order := new(big.Int).Sub(new(big.Int).SetUint64(goldilocks.Modulus), big.NewInt(room))
			switch {
			case v.least == nil:
				reads = append(reads, name)
			case v.most.Cmp(order) >= 0 || v.least.CmpAbs(order) >= 0:
				t.Errorf("%s: %s can be from %d to %d", table.name(), name, v.least, v.most)
			}
		}
		for _, c := range program.Constraints {
			check(c.Name, values[c.Step], 0)
		}
		for _, message := range program.Messages {
			if message.Asks > 0 && slices.Contains([]string{busHalf, busSign, busAnd, busBytes, busPower}, message.Bus) {
				for _, step := range message.Tuple {
					check(message.Bus, values[step], rv64.radix())
				}
			}
		}
		if reads = slices.Compact(reads); !slices.Equal(reads, modular[table.name()]) {
			t.Errorf("%s: %q read columns that are free, want %q", table.name(), reads, modular[table.name()])
		}
	}
}
