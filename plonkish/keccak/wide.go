package keccak

import (
	"fmt"
	"math/big"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/hash/keccak"
	"github.com/zkbench/zkbench/plonkish"
)

// Wide is a circuit for one hash or many, with an arithmetization of its own. It has as many permutations as
// its rows have room for, and they can belong to any messages. Lanes are stored as numbers in base 6. A unit
// is a group of cells. It holds eight slices of lanes, each of four digits, and the results that lookup
// tables give for the slices. These cells hold small numbers, so they are cheap to commit to. A row has one
// unit or several. With more units in a row there are fewer rows and more columns.
type Wide struct {
	Log     int // 2^Log rows
	Rows    int // maximum number of rows per round; below RoundRows a row has several units
	Padding byte
}

// RoundRows is the number of rows that a round of Keccak takes if each row has one unit, that is, one group
// of cells (see Wide).
const RoundRows = 149

// Limits of the fields Log and Rows of a Wide.
const (
	MinWideLog  = 12
	MaxWideLog  = 20
	MinWideRows = 5
)

const (
	slots      = 8
	slotDigits = 4
)

// The parameters of a unit say what its row is. With in and out for the numbers in the slots:
//
//	inWeight in + nextB b' + product a b = inA a + inB b + inC c + constant,
//	outWeight out + nextC c' + outA a = nextA a' + outC c.
const (
	inWeight = iota
	nextB
	product
	inA
	inB
	inC
	constant
	outWeight
	nextC
	outA
	nextA
	outC
	unitParams
)

// The parameters of rows of bytes, which the first unit has.
const (
	isByte     = iota
	paddedWith // the padding byte
	endsWith   // the bit that ends a block, in its last byte
	byteParams
)

// check returns nil if w is valid, and zkbench.ErrParams if not.
func (w Wide) check() error {
	if w.Log < MinWideLog || w.Log > MaxWideLog {
		return fmt.Errorf("%w: 2^%d rows, accepted are 2^%d to 2^%d", zkbench.ErrParams, w.Log, MinWideLog, MaxWideLog)
	}
	if w.Rows < MinWideRows {
		return fmt.Errorf("%w: %d rows a round, accepted are %d and more", zkbench.ErrParams, w.Rows, MinWideRows)
	}
	return keccak.CheckPadding(w.Padding)
}

// units returns the number of units in a row.
func (w Wide) units() int {
	rows := min(w.Rows, RoundRows)
	return (RoundRows + rows - 1) / rows
}

// wideArithmetization returns the arithmetization of rows with the given number of units. Each unit has the
// wired cells a, b and c, and slots.
func wideArithmetization(units int) plonkish.Arithmetization {
	arith := plonkish.Arithmetization{Name: fmt.Sprintf("keccak of %d units", units), Permuted: 3 * units, Params: units*unitParams + byteParams}
	gate, base := &plonkish.Gate{Name: "wide"}, newRadix(wideBase)
	for u := range units {
		for _, name := range []string{"a", "b", "c"} {
			arith.Columns = append(arith.Columns, fmt.Sprintf("%s%d", name, u))
		}
	}
	for u := range units {
		param := func(i int) plonkish.Expr { return plonkish.Param(u*unitParams + i) }
		first := len(arith.Columns)
		var in, out plonkish.Expr
		for j := range slots {
			x, y := plonkish.Cell(first+j), plonkish.Cell(first+slots+j)
			by := plonkish.Const(*base.power(slotDigits * j))
			in, out = in.Add(by.Mul(x)), out.Add(by.Mul(y))
			arith.Lookups = append(arith.Lookups, plonkish.Lookup{Name: fmt.Sprintf("slot %d of unit %d", j, u), Tuple: []plonkish.Expr{x, y}})
		}
		for _, name := range []string{"in", "out"} {
			for j := range slots {
				arith.Columns = append(arith.Columns, fmt.Sprintf("%s%d.%d", name, u, j))
			}
		}
		a, b, c := plonkish.Cell(3*u), plonkish.Cell(3*u+1), plonkish.Cell(3*u+2)
		a1, b1, c1 := plonkish.Next(3*u), plonkish.Next(3*u+1), plonkish.Next(3*u+2)
		gate.Terms = append(gate.Terms,
			plonkish.Term{Name: fmt.Sprintf("operand of unit %d", u), Zero: param(inWeight).Mul(in).Add(param(nextB).Mul(b1)).Add(param(product).Mul(a).Mul(b)).
				Sub(param(inA).Mul(a)).Sub(param(inB).Mul(b)).Sub(param(inC).Mul(c)).Sub(param(constant))},
			plonkish.Term{Name: fmt.Sprintf("result of unit %d", u), Zero: param(outWeight).Mul(out).Add(param(nextC).Mul(c1)).Add(param(outA).Mul(a)).
				Sub(param(nextA).Mul(a1)).Sub(param(outC).Mul(c))},
		)
	}
	// A byte: b' says whether it is padding, b whether the one before is, and c counts the others.
	param := func(i int) plonkish.Expr { return plonkish.Param(units*unitParams + i) }
	one, is := plonkish.Int(1), param(isByte)
	before, flag, octet := plonkish.Cell(1), plonkish.Next(1), plonkish.Cell(3*units)
	gate.Terms = append(gate.Terms,
		plonkish.Term{Name: "padding or not", Zero: is.Mul(flag).Mul(flag.Sub(one))},
		plonkish.Term{Name: "padding goes on", Zero: is.Mul(before).Mul(one.Sub(flag))},
		plonkish.Term{Name: "padding byte", Zero: flag.Mul(is.Mul(octet).Sub(param(paddedWith).Mul(flag.Sub(before))).Sub(param(endsWith)))},
		plonkish.Term{Name: "length", Zero: is.Mul(plonkish.Next(2).Sub(plonkish.Cell(2)).Sub(one).Add(flag))},
	)
	arith.Gates = []*plonkish.Gate{gate}
	return arith
}

const wideBase = 6

// The numbers of rows, over all units: of a message's first block, of each further block, and of a block's
// bytes.
const (
	firstBlock   = 3_750
	furtherBlock = 3_793
	perBlock     = 3 // public values
	bytesRows    = keccak.Rate + 1
)

// Capacity returns the number of permutations that the circuit has room for. A message of n bytes needs ⌊n /
// 136⌋ + 1 of them. Capacity returns zkbench.ErrParams if w is invalid.
func (w Wide) Capacity() (int, error) {
	if err := w.check(); err != nil {
		return 0, err
	}
	m := w.units()
	blocks := 0
	for {
		p := blocks + 1
		rows := max(bytesRows*p, (1+firstBlock+(p-1)*furtherBlock+m-1)/m) + uneven
		if perBlock*p+rows > 1<<w.Log-plonkish.BlindedRows {
			return blocks, nil
		}
		blocks = p
	}
}

// uneven is the maximum by which the rows of a unit exceed the unit's share. The public values of a
// permutation are in one unit, in 16 rows, and one more row is read after an operation.
const uneven = 17

// WideOf returns the smallest circuit that has one unit (a group of cells, see Wide) per row and at least
// the given number of permutations. It returns a *zkbench.LimitError if no circuit has that many, and
// zkbench.ErrParams if the padding byte is invalid.
func WideOf(blocks int, padding byte) (Wide, error) {
	w := Wide{Log: MinWideLog, Rows: RoundRows, Padding: padding}
	for {
		capacity, err := w.Capacity()
		switch {
		case err != nil:
			return w, err
		case capacity >= blocks:
			return w, nil
		case w.Log == MaxWideLog:
			return w, &zkbench.LimitError{What: "permutations of a circuit", Estimate: int64(blocks), Max: int64(capacity)}
		}
		w.Log++
	}
}

// Columns returns the number of columns.
func (w Wide) Columns() int { return len(wideArithmetization(w.units()).Columns) }

// Public returns the public values of messages, three for each permutation. If the permutation ends a
// message, its values are 1 plus the message's length in bytes, and the two halves of the message's digest.
// Each half is 16 bytes, little-endian. For all other permutations the values are 0. Public returns the same
// errors as the method Circuit.
func (w Wide) Public(messages ...[]byte) ([]fr.Element, error) {
	capacity, err := w.room(messages)
	if err != nil {
		return nil, err
	}
	public := make([]fr.Element, perBlock*capacity)
	at := 0
	for _, m := range messages {
		at += perBlock * keccak.Blocks(len(m))
		digest := keccak.Sum(w.Padding, m)
		public[at-3].SetUint64(uint64(len(m)) + 1)
		for i := range 2 {
			public[at-2+i] = littleEndian(digest[16*i : 16*i+16])
		}
	}
	return public, nil
}

func littleEndian(b []byte) (e fr.Element) {
	z := new(big.Int)
	for i := len(b) - 1; i >= 0; i-- {
		z.Lsh(z, 8).Or(z, big.NewInt(int64(b[i])))
	}
	return *e.SetBigInt(z)
}

// room returns the capacity, and an error if the messages exceed it.
func (w Wide) room(messages [][]byte) (int, error) {
	capacity, err := w.Capacity()
	if err != nil {
		return 0, err
	}
	blocks := 0
	for _, m := range messages {
		blocks += keccak.Blocks(len(m))
	}
	if blocks > capacity {
		return 0, &zkbench.LimitError{What: "permutations of a circuit", Estimate: int64(blocks), Max: int64(capacity)}
	}
	return capacity, nil
}
