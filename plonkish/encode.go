package plonkish

import (
	"bytes"
	"crypto/sha512"
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/consensys/gnark-crypto/ecc/bn254"

	"github.com/zkbench/zkbench"
)

// version is the version of all encodings.
const version = 1

// flags returns all flags that an encoding has as a byte each, in order.
func (u *uses) flags() []*bool {
	var all []*bool
	for _, some := range [][]bool{u.gates, u.selectors, u.params, u.lookups} {
		for i := range some {
			all = append(all, &some[i])
		}
	}
	return all
}

// Bytes returns the canonical encoding of the key. Every proof is bound to the SHA-512 of this encoding. The
// parts of the encoding are: version of the encoding, digest of the arithmetization, base-2 logarithm of the
// number of rows, number of random rows, number of public values (uint32, little-endian), width of the
// tables, whether the key is Insecure, which gates, selectors, parameters and lookups are in use, the points
// G, G2 and τG2 of the reference string, and the commitments to the fixed columns.
func (k *VerifyingKey) Bytes() []byte {
	digest := k.arith.digest()
	out := append([]byte{version}, digest[:]...)
	out = append(out, byte(bits.Len(uint(k.n))-1), blinded)
	out = binary.LittleEndian.AppendUint32(out, uint32(k.public))
	out = append(out, byte(k.used.width))
	for _, yes := range append([]*bool{&k.insecure}, k.used.flags()...) {
		out = append(out, map[bool]byte{true: 1}[*yes])
	}
	one := k.one.Bytes()
	out = append(out, one[:]...)
	for i := range k.g2 {
		p := k.g2[i].Bytes()
		out = append(out, p[:]...)
	}
	for i := range k.fixed {
		p := k.fixed[i].Bytes()
		out = append(out, p[:]...)
	}
	return out
}

// ReadVerifyingKey decodes a key that Bytes encoded, for a circuit of the given arithmetization. It cannot
// check which circuit the key belongs to, so read keys only from a source that you trust. It returns
// zkbench.ErrParams if the arithmetization is invalid, and a *zkbench.DecodeError if the encoding is
// invalid.
func ReadVerifyingKey(arith Arithmetization, in []byte) (*VerifyingKey, error) {
	arith = arith.clone()
	if err := arith.check(); err != nil {
		return nil, err
	}
	rest := in
	var err error
	fail := func(path, format string, a ...any) {
		if err == nil {
			err = &zkbench.DecodeError{Path: path, Offset: len(in) - len(rest), Reason: fmt.Sprintf(format, a...)}
		}
	}
	next := func(path string, n int) []byte {
		if err == nil && len(rest) < n {
			fail(path, "%d bytes where %d are needed", len(rest), n)
		}
		if err != nil {
			return make([]byte, n)
		}
		b := rest[:n]
		rest = rest[n:]
		return b
	}
	number := func(path string, least, most int) int {
		at := rest
		v := int(next(path, 1)[0])
		if v < least || v > most {
			rest = at
			fail(path, "%d, accepted are %d to %d", v, least, most)
			return least
		}
		return v
	}
	number("version", version, version)
	digest := arith.digest()
	at := rest
	if got := next("arithmetization", len(digest)); err == nil && !bytes.Equal(got, digest[:]) {
		rest = at
		fail("arithmetization", "not %q, or another version of it", arith.Name)
	}
	n := 1 << number("size", bits.Len(minSize)-1, bits.Len(maxSize)-1)
	number("random rows", blinded, blinded)
	at = rest
	public := int(binary.LittleEndian.Uint32(next("public values", 4)))
	if public > n-blinded {
		rest = at
		fail("public values", "%d, accepted are up to %d", public, n-blinded)
	}
	u := arith.uses()
	u.width = number("width of tables", 0, maxTuple)
	k := &VerifyingKey{public: public}
	for _, flag := range append([]*bool{&k.insecure}, u.flags()...) {
		*flag = number("flag", 0, 1) == 1
	}
	if err != nil {
		return nil, err
	}
	k.layout = newLayout(&arith, n, u)
	point := func(path string, n int, set func(b []byte) (int, error), encode func() []byte) {
		at := rest
		b := next(path, n)
		if err != nil {
			return
		}
		if read, e := set(b); e != nil || read != n || !bytes.Equal(encode(), b) {
			rest = at
			fail(path, "not the canonical form of a point")
		}
	}
	g1 := func(path string, p *bn254.G1Affine) {
		point(path, pointLen, p.SetBytes, func() []byte { b := p.Bytes(); return b[:] })
	}
	generator := func(path string, identity bool) {
		if identity {
			fail(path, "a generator is the identity")
		}
	}
	g1("generator", &k.one)
	generator("generator", k.one.IsInfinity())
	for i := range k.g2 {
		p, path := &k.g2[i], fmt.Sprintf("g2[%d]", i)
		point(path, bn254.SizeOfG2AffineCompressed, p.SetBytes, func() []byte { b := p.Bytes(); return b[:] })
		generator(path, p.IsInfinity())
		k.lines[i] = bn254.PrecomputeLines(*p)
	}
	for i := range k.fixedColumns() {
		var p bn254.G1Affine
		g1(fmt.Sprintf("fixed[%d]", i), &p)
		k.fixed = append(k.fixed, p)
	}
	if len(rest) > 0 {
		fail("end", "%d bytes too many", len(rest))
	}
	if err != nil {
		return nil, err
	}
	k.digest = sha512.Sum512(in)
	return k, nil
}
