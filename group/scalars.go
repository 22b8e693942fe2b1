package group

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"sync"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/group/internal/integer"
	"github.com/zkbench/zkbench/internal/arith/vec52"
	"github.com/zkbench/zkbench/internal/sys/vector"
)

// scalarElement is a scalar of gnark-crypto: four limbs, in Montgomery form.
type scalarElement interface {
	comparable
	~[4]uint64
}

// scalarPtr adds Bits, which returns the canonical limbs, least significant first.
type scalarPtr[S any] interface {
	elementPtr[S]
	Bits() [4]uint64
}

// scalars is the scalar field of a group.
type scalars[S scalarElement, PS scalarPtr[S]] struct {
	order     *big.Int
	orderBits int
	ops       *vectorOps[S]
	inner     func(a, b []S) S
	mulAdd    func(a, b, c S) S // a·b + c
	wide      [3]S              // 2^256·x for x = 1, 2^248, 2^496
	one       S
	minusOne  S
	scratch   *sync.Pool // *scalarScratch

	field *vec52.Field // nil: no SIMD vectors
	ratio []uint64     // R/S in every lane, of the Montgomery forms of lanes and of gnark-crypto
}

type scalarScratch[S any] struct {
	v, tmp []S
	inverter[S]
}

func newScalars[S scalarElement, PS scalarPtr[S]](order *big.Int, ops *vectorOps[S], inner func(a, b []S) S, mulAdd func(a, b, c S) S) scalars[S, PS] {
	f := scalars[S, PS]{
		order: order, orderBits: order.BitLen(), ops: ops.cleared(), inner: inner, mulAdd: mulAdd,
		scratch: &sync.Pool{New: func() any { return new(scalarScratch[S]) }},
	}
	PS(&f.one).SetUint64(1)
	PS(&f.minusOne).Neg(&f.one)
	for i := range f.wide {
		PS(&f.wide[i]).SetBigInt(new(big.Int).Lsh(big.NewInt(1), uint(256+248*i)))
	}
	return f
}

func (f *scalars[S, PS]) Order() *big.Int { return new(big.Int).Set(f.order) }
func (f *scalars[S, PS]) ScalarLen() int  { return 32 }

// ScalarFromUint64 multiplies the raw limbs of v by 2^256·1 as a field element, whose own raw limbs
// are R². The product is v in Montgomery form.
func (f *scalars[S, PS]) ScalarFromUint64(v uint64) S {
	return f.mulAdd(S{v}, f.wide[0], S{})
}

// ScalarFromWide splits the 512 bits as c0 + 2^248·c1 + 2^496·c2, each below the order, so that
// each step needs no reduction beyond that of one multiplication.
func (f *scalars[S, PS]) ScalarFromWide(wide []byte) S {
	if len(wide) != WideLen {
		panic("group: ScalarFromWide takes WideLen bytes")
	}
	var w [8]uint64 // least significant first
	for i := range w {
		w[i] = binary.BigEndian.Uint64(wide[WideLen-8*(i+1):])
	}
	const low56 = 1<<56 - 1
	c0 := S{w[0], w[1], w[2], w[3] & low56}
	c1 := S{w[3]>>56 | w[4]<<8, w[4]>>56 | w[5]<<8, w[5]>>56 | w[6]<<8, w[6]>>56 | (w[7]<<8)&low56}
	c2 := S{w[7] >> 48}
	return f.mulAdd(c0, f.wide[0], f.mulAdd(c1, f.wide[1], f.mulAdd(c2, f.wide[2], S{})))
}

func (f *scalars[S, PS]) Add(z, a, b *S)     { PS(z).Add(a, b) }
func (f *scalars[S, PS]) Sub(z, a, b *S)     { PS(z).Sub(a, b) }
func (f *scalars[S, PS]) Mul(z, a, b *S)     { PS(z).Mul(a, b) }
func (f *scalars[S, PS]) Neg(z, a *S)        { PS(z).Neg(a) }
func (f *scalars[S, PS]) Inverse(z, a *S)    { PS(z).Inverse(a) }
func (f *scalars[S, PS]) IsZero(a *S) bool   { return PS(a).IsZero() }
func (f *scalars[S, PS]) Equal(a, b *S) bool { return *a == *b }

func (f *scalars[S, PS]) AddVec(z, a, b []S)      { f.ops.add(z, a, b) }
func (f *scalars[S, PS]) SubVec(z, a, b []S)      { f.ops.sub(z, a, b) }
func (f *scalars[S, PS]) MulVec(z, a, b []S)      { f.ops.mul(z, a, b) }
func (f *scalars[S, PS]) ScaleVec(z, a []S, c *S) { f.ops.scale(z, a, c) }
func (f *scalars[S, PS]) InnerProduct(a, b []S) S {
	defer vector.Clear() // as in vectorOps.cleared
	return f.inner(a, b)
}

// Powers doubles the known prefix with one vector scaling per step.
func (f *scalars[S, PS]) Powers(z []S, x *S) {
	if len(z) == 0 {
		return
	}
	step := *x // x^n for the prefix of length n
	z[0] = f.one
	for n := 1; n < len(z); n *= 2 {
		m := min(n, len(z)-n)
		f.ops.scale(z[n:n+m], z[:m], &step)
		PS(&step).Square(&step)
	}
}

func (f *scalars[S, PS]) BatchInvert(z []S) {
	if len(z) == 0 {
		return
	}
	sc := f.scratch.Get().(*scalarScratch[S])
	defer f.scratch.Put(sc)
	sc.v = resize(sc.v, 2*len(z)+64)
	sc.tmp = resize(sc.tmp, len(z)/2+1)
	var zero S
	for i := range z {
		sc.v[i] = z[i]
		if z[i] == zero {
			sc.v[i] = f.one
		}
	}
	invertAll[S, PS](f.ops, sc.v, len(z), sc.tmp, &sc.inverter)
	for i := range z {
		if z[i] != zero {
			z[i] = sc.v[i]
		}
	}
}

func (f *scalars[S, PS]) Fold(z, lo, hi []S, c *S) {
	n := len(hi)
	if len(lo) != len(z) || n > len(lo) {
		panic("group: Fold lengths")
	}
	sc := f.scratch.Get().(*scalarScratch[S])
	defer f.scratch.Put(sc)
	sc.tmp = resize(sc.tmp, n)
	f.ops.scale(sc.tmp, hi, c)
	f.ops.add(z[:n], lo[:n], sc.tmp)
	copy(z[n:], lo[n:])
}

// inLanes makes f convert to integers in SIMD vectors (package lanes), with kernel k.
func (f *scalars[S, PS]) inLanes(k vec52.Kernel) {
	f.field = vec52.New(f.order, 0, k)
	ratio := f.field.Represent(big.NewInt(1))
	s := new(big.Int).Lsh(big.NewInt(1), 256)
	f.ratio = f.field.Constant(ratio.Mul(ratio, s.ModInverse(s, f.order)).Mod(ratio, f.order))
}

// limbs returns s as an integer in [0, order).
func (f *scalars[S, PS]) limbs(s *S) integer.Limbs { return PS(s).Bits() }

// integers sets dst to the integers of src; words is scratch. In lanes an element x is stored as x
// R. Its product with R/S is x R/S, which represents x/S there and comes out as x.
func (f *scalars[S, PS]) integers(dst []integer.Limbs, src []S, words *[]uint64) {
	whole := 0
	if f.field != nil {
		whole = len(src) / vec52.Width * vec52.Width
		*words = vec52.Resize(*words, whole/vec52.Width*f.field.Block())
		f.field.Import(*words, firstWord(src))
		f.field.Scale(*words, f.ratio)
		f.field.Export(firstWord(dst), *words)
	}
	for i := whole; i < len(src); i++ {
		dst[i] = f.limbs(&src[i])
	}
}

func (f *scalars[S, PS]) AppendScalars(dst []byte, s ...S) []byte {
	for i := range s {
		l := f.limbs(&s[i])
		for k := 3; k >= 0; k-- {
			dst = binary.BigEndian.AppendUint64(dst, l[k])
		}
	}
	return dst
}

func (f *scalars[S, PS]) DecodeScalars(dst []S, src []byte) error {
	if len(src) != 32*len(dst) {
		return &zkbench.DecodeError{Path: "scalars", Reason: fmt.Sprintf("%d bytes, want %d", len(src), 32*len(dst))}
	}
	for i := range dst {
		if PS(&dst[i]).SetBytesCanonical(src[32*i:32*i+32]) != nil {
			return &zkbench.DecodeError{Path: fmt.Sprintf("[%d]", i), Offset: 32 * i, Reason: "scalar not below the group order"}
		}
	}
	return nil
}
