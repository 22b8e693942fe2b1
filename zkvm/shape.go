package zkvm

// shape says how numbers are cut, in bits. A word of the machine has two limbs, and a limb has two halves. The
// tables are stated for any shape: tests search those of a small shape exhaustively.
//
// A half is also the window of an access to a cell: the difference of its time and that of the access before
// is ranged by one look-up. Older cells are brought nearer by the table of bridges.
type shape struct {
	limb int // a word has two
	half int // a limb has two
	byte int // a half has two
}

// wordBytes is the number of bytes in a word of any shape.
const wordBytes = 8

// rv64 is the shape for RV64.
var rv64 = shape{limb: 32, half: 16, byte: 8}

// radix returns 2^limb.
func (s shape) radix() int64 { return 1 << s.limb }

// halves returns 2^half.
func (s shape) halves() int64 { return 1 << s.half }

// byteRadix returns 2^byte.
func (s shape) byteRadix() int64 { return 1 << s.byte }

// split returns the limbs of a word, the least significant first.
func (s shape) split(word uint64) (lo, hi uint64) { return word & (1<<s.limb - 1), word >> s.limb }

// isNegative reports whether a signed number of the given width is negative.
func isNegative(number uint64, width int) bool { return number>>(width-1)&1 != 0 }
