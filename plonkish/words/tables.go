package words

import (
	"fmt"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/plonkish"
)

// Limits of the width of tables, in bits.
const (
	MinWidth = 2
	MaxWidth = 20
)

// Tables computes with words in circuits of plonkish.UltraPlonk. Each row looks up a digit in a table. If
// w is the width of the table, the table has 2^w rows, and the digit consists of w bits of one word, or
// of ⌊w / 2⌋ bits of each of two words.
type Tables struct {
	b           *plonkish.Builder
	bits, width int
	kinds       map[tableKind]plonkish.Kind
	tables      map[string]*plonkish.Table
}

type tableKind struct {
	operation   *operation // nil: a range
	bits        int        // of the digit
	first, last bool       // of its word
}

// NewTables returns Tables for words with the given number of bits. Each lookup table has 2^width rows. It
// returns zkbench.ErrParams if bits is not between 1 and MaxBits, or if width is not between MinWidth and
// MaxWidth.
func NewTables(b *plonkish.Builder, bits, width int) (*Tables, error) {
	if err := checkBits(bits, 1); err != nil {
		return nil, err
	}
	if width < MinWidth || width > MaxWidth {
		return nil, fmt.Errorf("%w: tables of width %d, accepted are %d to %d", zkbench.ErrParams, width, MinWidth, MaxWidth)
	}
	return &Tables{b, bits, width, make(map[tableKind]plonkish.Kind), make(map[string]*plonkish.Table)}, nil
}

// Range constrains v to be a word. For words of n bits and tables of width w it takes ⌈n / w⌉ rows.
func (t *Tables) Range(v plonkish.Var) {
	x := read(t.b, v)
	for at := 0; at < t.bits; at += t.width {
		t.b.Row(t.kind(nil, at, t.width), []plonkish.Var{x.rest(t.b, at)})
	}
}

// And returns x & y, and constrains x and y to be words. For words of n bits and tables of width w it
// takes ⌈n / ⌊w / 2⌋⌉ rows.
func (t *Tables) And(x, y plonkish.Var) plonkish.Var { return t.operate(and, x, y) }

// Xor returns x ⊕ y, and constrains x and y to be words. For words of n bits and tables of width w it
// takes ⌈n / ⌊w / 2⌋⌉ rows.
func (t *Tables) Xor(x, y plonkish.Var) plonkish.Var { return t.operate(xor, x, y) }

func (t *Tables) operate(o *operation, v, w plonkish.Var) plonkish.Var {
	x, y := read(t.b, v), read(t.b, w)
	z := o.result(t.b, x, y, t.bits)
	t.rows(o, x, y, z)
	return z.value
}

// rows adds rows that remove one digit each of both operands and the result; a forger passes another result.
// The result is in a column without wires, and the first row's arithmetic says that it is the value in x.
func (t *Tables) rows(o *operation, x, y, z word) {
	for at := 0; at < t.bits; at += t.width / 2 {
		var result plonkish.Var
		if at == 0 {
			result = z.value
		}
		t.b.Row(t.kind(o, at, t.width/2), []plonkish.Var{x.rest(t.b, at), result, 0, y.rest(t.b, at)}, t.b.Value(z.rest(t.b, at)))
	}
}

// kind returns the kind of rows for a digit of the given number of bits, from bit at on.
func (t *Tables) kind(o *operation, at, bits int) plonkish.Kind {
	k := tableKind{o, min(bits, t.bits-at), at == 0, at+bits >= t.bits}
	if known, ok := t.kinds[k]; ok {
		return known
	}
	params := make([]fr.Element, 10)
	var gate *plonkish.Gate
	if !k.last {
		params[7].SetUint64(1 << k.bits)
	}
	if o != nil {
		params[8], params[9] = params[7], params[7]
		if k.first {
			gate, params[2] = plonkish.Arithmetic5(), fr.One()
			params[5].SetInt64(-1)
		}
	}
	kind := t.b.LookUp(t.b.Kind(gate, params...), 0, t.table(o, k.bits))
	t.kinds[k] = kind
	return kind
}

func (t *Tables) table(o *operation, bits int) *plonkish.Table {
	name, columns := fmt.Sprintf("%d bits", bits), 1
	if o != nil {
		name, columns = fmt.Sprintf("%s of %d bits", o.name, bits), 3
	}
	if known, ok := t.tables[name]; ok {
		return known
	}
	table := &plonkish.Table{Name: name, Columns: make([][]fr.Element, columns)}
	add := func(row ...uint64) {
		for i, e := range row {
			table.Columns[i] = append(table.Columns[i], fr.NewElement(e))
		}
	}
	for x := range uint64(1) << bits {
		if o == nil {
			add(x)
			continue
		}
		for y := range uint64(1) << bits {
			add(x, y, o.compute(x, y))
		}
	}
	t.tables[name] = table
	return table
}
