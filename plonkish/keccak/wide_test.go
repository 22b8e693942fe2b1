package keccak

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/hash/keccak"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/plonkish"
	"github.com/zkbench/zkbench/srs"
)

func messagesOf(lengths ...int) (all [][]byte) {
	for _, n := range lengths {
		m := make([]byte, n)
		for i := range m {
			m[i] = byte(i*i + n)
		}
		all = append(all, m)
	}
	return all
}

// narrow has a block, broad two.
var (
	narrow = Wide{Log: 12, Rows: RoundRows, Padding: keccak.Keccak256}
	broad  = Wide{Log: 12, Rows: 75, Padding: keccak.SHA3256}
)

// TestWide: lengths and digests are public, whatever the messages, and all circuits hold.
func TestWide(t *testing.T) {
	for _, test := range []struct {
		Wide
		lengths [][]int
		rows    int
	}{
		{narrow, testsize.Pick([][]int{{100}}, [][]int{{}, {0}, {3}, {134}, {135}}, [][]int{{}, {0}, {3}, {134}, {135}}), 3754},
		{broad, testsize.Pick([][]int{{135, 0}}, [][]int{{}, {5}, {135, 0}, {136}, {271}}, [][]int{{}, {5}, {135, 0}, {136}, {271}}), 3778},
	} {
		for _, lengths := range test.lengths {
			messages := messagesOf(lengths...)
			c := must.Get(test.Circuit(messages...))(t)
			public := must.Get(test.Public(messages...))(t)
			golden.Equal(t, fmt.Sprintf("public values of %v", lengths), c.Public(), public)
			golden.Equal(t, "rows", test.rows, c.Rows())
			golden.Equal(t, "size", 1<<test.Log, c.Size())
			at := 0
			for _, m := range messages {
				at += perBlock * keccak.Blocks(len(m))
				digest := keccak.Sum(test.Padding, m)
				for i, want := range []fr.Element{fr.NewElement(uint64(len(m)) + 1), littleEndian(digest[:16]), littleEndian(digest[16:])} {
					if public[at-3+i] != want {
						t.Errorf("%v: public value %d", lengths, at-3+i)
					}
				}
			}
			if err := c.Check(); err != nil {
				t.Errorf("%v: %v", lengths, err)
			}
		}
	}
}

// TestCapacity: the study's presets have at least its 24, 44 and 143 permutations, and circuits of
// that many have the size that they are asked for.
func TestCapacity(t *testing.T) {
	for w, want := range map[Wide]int{
		narrow: 1, broad: 2,
		{Log: 13, Rows: RoundRows, Padding: 1}: 2,
		{Log: 14, Rows: 25, Padding: 1}:        25,
		{Log: 15, Rows: 28, Padding: 1}:        51,
		{Log: 15, Rows: 9, Padding: 1}:         144,
	} {
		golden.Equal(t, fmt.Sprintf("capacity of 2^%d, %d", w.Log, w.Rows), want, must.Get(w.Capacity())(t))
		if testsize.Pick(want > 2, want > 25, false) {
			continue
		}
		c := must.Get(w.Circuit())(t)
		golden.Equal(t, fmt.Sprintf("size of 2^%d, %d", w.Log, w.Rows), 1<<w.Log, c.Size())
		capacity, blocks := want, want+1
		must.FailGet(w.Circuit(make([]byte, keccak.Rate*capacity)))(t, zkbench.ErrLimit, "%d permutations of a circuit", blocks)
		must.FailGet(w.Public(messagesOf(make([]int, blocks)...)...))(t, zkbench.ErrLimit, "%d", blocks)
	}
	for part, w := range map[string]Wide{
		"2^11 rows":         {Log: 11, Rows: RoundRows, Padding: 1},
		"2^21 rows":         {Log: 21, Rows: RoundRows, Padding: 1},
		"4 rows a round":    {Log: 12, Rows: 4, Padding: 1},
		"padding byte 0x00": {Log: 12, Rows: 9},
		"padding byte 0x80": {Log: 12, Rows: 9, Padding: 0x80},
	} {
		must.FailGet(w.Capacity())(t, zkbench.ErrParams, "%s", part)
		must.FailGet(w.Circuit())(t, zkbench.ErrParams, "%s", part)
	}
}

// TestPadding: what is padding is so from one byte on, to the end, and as it must be.
func TestPadding(t *testing.T) {
	for _, test := range []struct {
		name, term string
		change     func(bytes []byte, flags []uint64)
	}{
		{"data after padding", "padding goes on", func(b []byte, f []uint64) { b[50], f[50] = 9, 0 }},
		{"its end is data", "padding goes on", func(b []byte, f []uint64) { f[135] = 0 }},
		{"no padding byte", "padding byte", func(b []byte, f []uint64) { b[40] = 0 }},
		{"another one", "padding byte", func(b []byte, f []uint64) { b[40] = keccak.SHA3256 }},
		{"a later one", "padding byte", func(b []byte, f []uint64) { b[41] = keccak.Keccak256 }},
		{"no end", "padding byte", func(b []byte, f []uint64) { b[135] = 0 }},
		{"an earlier end", "padding byte", func(b []byte, f []uint64) { b[134] = 0x80 }},
		{"a flag that is none", "padding or not", func(b []byte, f []uint64) { f[135] = 2 }},
		{"the message called padding", "padding byte", func(b []byte, f []uint64) { f[39] = 1 }},
		{"padding called the message", "padding byte", func(b []byte, f []uint64) { f[40] = 0 }},
	} {
		h := newRows(narrow)
		bytes, flags := make([]byte, keccak.Rate), make([]uint64, keccak.Rate)
		for i := range bytes {
			if bytes[i] = byte(i + 1); i >= 40 {
				bytes[i], flags[i] = 0, 1
			}
		}
		bytes[40], bytes[135] = keccak.Keccak256, 0x80
		test.change(bytes, flags)
		h.padded(bytes, flags)
		var unsatisfied *plonkish.UnsatisfiedError
		if err := must.Get(h.build())(t).Check(); !errors.As(err, &unsatisfied) || unsatisfied.Term != test.term {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// TestOtherSlices: no digit of a sum is moved to a neighbour, in a row, in the next or across the
// end of a part, and slots that are not used hold nothing.
func TestOtherSlices(t *testing.T) {
	x := uint64(0xf123_4567_89ab_cdef)
	for _, p := range []parts{whole, topApart, rotated(1), rotated(36), rotated(63)} {
		for at := range keccak.LaneBits - 1 {
			h := newRows(narrow)
			given := sum{digits: func(i int) uint64 { return x >> i & 1 }, terms: [3]term{one(h.b.Var(h.spread(x)))}}
			digits := given.digits
			if digits(at+1) == 0 {
				continue
			}
			given.digits = func(i int) uint64 {
				switch i {
				case at:
					return digits(i) + wideBase
				case at + 1:
					return digits(i) - 1
				}
				return digits(i)
			}
			h.convert(h.parity, p, given)
			var unsatisfied *plonkish.UnsatisfiedError
			err := must.Get(h.build())(t).Check()
			if !errors.As(err, &unsatisfied) || !strings.HasPrefix(unsatisfied.Gate, "slot") && unsatisfied.Gate != "wide" {
				t.Errorf("%v at %d: %v", p, at, err)
			}
		}
	}
	for _, slot := range []int{slots - 1, 2*slots - 1} {
		for _, weighed := range []bool{true, false} {
			h := newRows(narrow)
			h.convert(h.parity, topApart, sum{digits: func(int) uint64 { return 0 }, terms: [3]term{one(h.zero.value)}})
			last := &h.units[0][len(h.units[0])-1]
			last.slots[slot].SetOne()
			term := "of unit 0"
			if !weighed { // so that the sum does not show it
				last.params, term = [unitParams]fr.Element{}, h.none.Name
			}
			if err := must.Get(h.build())(t).Check(); err == nil || !strings.Contains(err.Error(), term) {
				t.Errorf("slot %d: %v, want %s", slot, err, term)
			}
		}
	}
}

// TestNothingIsLooseInWide: bytes decide all other cells to first order, and bytes are discrete.
func TestNothingIsLooseInWide(t *testing.T) {
	testsize.Full(t)
	for _, test := range []struct {
		Wide
		lengths []int
	}{{narrow, []int{77}}, {Wide{Log: 13, Rows: RoundRows, Padding: keccak.Keccak256}, []int{200}}, {broad, []int{135, 0}}} {
		c := must.Get(test.Circuit(messagesOf(test.lengths...)...))(t)
		if loose := must.Get(c.Loose())(t); len(loose) > 0 {
			t.Errorf("%v: %v", test.lengths, loose)
		}
		golden.Equal(t, fmt.Sprintf("%v: cells that are read once", test.lengths), unread, len(must.Get(c.ReadOnce())(t)))
	}
}

// TestSizes: whatever the number of units, as many permutations as a circuit is said to have go into
// the size that it was asked for.
func TestSizes(t *testing.T) {
	testsize.Full(t)
	whole := func(log, rows int) {
		w := Wide{Log: log, Rows: rows, Padding: keccak.Keccak256}
		golden.Equal(t, fmt.Sprintf("size of 2^%d, %d", log, rows), 1<<log, must.Get(w.Circuit())(t).Size())
	}
	whole(14, 10) // units there differ by more rows than elsewhere
	for log := MinWideLog; log <= testsize.Pick(12, 12, 14); log++ {
		for units := 1; units <= (RoundRows+MinWideRows-1)/MinWideRows; units += testsize.Pick(1, 3, 1) {
			whole(log, (RoundRows+units-1)/units)
		}
	}
	for _, rows := range []int{math.MaxInt, math.MaxInt - 147} {
		golden.Equal(t, "capacity of one unit", 1, must.Get(Wide{Log: 12, Rows: rows, Padding: 1}.Capacity())(t))
	}
}

// TestProveWide: one key is that of all messages.
func TestProveWide(t *testing.T) {
	testsize.Full(t)
	for _, w := range []Wide{narrow, broad} {
		empty := must.Get(w.Circuit())(t)
		s := must.Get(srs.Insecure(t.Context(), executor.Serial(), empty.Size(), 1))(t)
		k := must.Get(plonkish.Setup(t.Context(), executor.Serial(), empty, s))(t)
		messages := messagesOf(99)
		c := must.Get(w.Circuit(messages...))(t)
		proof := must.Get(k.Prove(t.Context(), executor.Serial(), c, plonkish.Options{}))(t)
		public := must.Get(w.Public(messages...))(t)
		if err := k.VerifyInsecure(proof, public, nil); err != nil {
			t.Error(err)
		}
		for i := range public {
			other := append([]fr.Element(nil), public...)
			other[i].SetUint64(7)
			must.Fail(t, k.VerifyInsecure(proof, other, nil), zkbench.ErrProof, "another public value")
		}
	}
}

// BenchmarkWide is of one block, and of the study's three circuits at their capacity.
func BenchmarkWide(b *testing.B) {
	for _, w := range []Wide{narrow, {14, 25, keccak.Keccak256}, {15, 28, keccak.Keccak256}, {15, 9, keccak.Keccak256}} {
		b.Run(fmt.Sprintf("log=%d/rows=%d", w.Log, w.Rows), func(b *testing.B) {
			blocks := must.Get(w.Capacity())(b)
			c := must.Get(w.Circuit(make([]byte, keccak.Rate*blocks-1)))(b)
			s := must.Get(srs.Insecure(b.Context(), executor.Serial(), c.Size(), 1))(b)
			k := must.Get(plonkish.Setup(b.Context(), executor.Serial(), c, s))(b)
			proof := must.Get(k.Prove(b.Context(), executor.Serial(), c, plonkish.Options{}))(b)
			public := c.Public()
			b.Run("prove", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					must.Get(k.Prove(b.Context(), executor.Serial(), c, plonkish.Options{}))(b)
				}
				b.ReportMetric(float64(blocks), "permutations")
				b.ReportMetric(float64(c.Rows()), "rows")
				b.ReportMetric(float64(k.ProofLen()), "B/proof")
			})
			b.Run("verify", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := k.VerifyInsecure(proof, public, nil); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}
