package pedersen

import (
	"encoding/binary"
	"math/big"
	"math/bits"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/grumpkin"
	"github.com/consensys/gnark-crypto/ecc/grumpkin/fp"
)

// TestGenerators derives the generators anew, as Barretenberg does
// (derive_generators and hash_to_curve of its ecc/groups): BLAKE3 of
//
//	BLAKE3(domain) | uint32 index | 28 zero bytes | attempt(1) | half(1)
//
// gives 64 bytes that are reduced to x; the top bit is the parity of y; an x that is on
// no point is followed by the next attempt.
func TestGenerators(t *testing.T) {
	t.Parallel()
	offset := derive("pedersen_hash_length", 0)
	offset.Double(&offset) // twice: the number of inputs
	if got := Offset(); !got.Equal(&offset) {
		t.Errorf("offset: %v, derived is %v", got, offset)
	}
	for i := range Inputs {
		want := derive("DEFAULT_DOMAIN_SEPARATOR", uint32(i))
		if got := Generator(i); !got.Equal(&want) {
			t.Errorf("generator %d: %v, derived is %v", i, got, want)
		}
	}
}

func derive(domain string, index uint32) grumpkin.G1Affine {
	hash := blake3([]byte(domain))
	preimage := append(binary.BigEndian.AppendUint32(hash[:], index), make([]byte, 28)...)
	for attempt := byte(0); ; attempt++ {
		hi, lo := blake3(append(preimage, attempt, 0)), blake3(append(preimage, attempt, 1))
		var p grumpkin.G1Affine
		p.X.SetBigInt(new(big.Int).SetBytes(append(hi[:], lo[:]...)))
		if liftX(&p, hi[0] > 127) {
			return p
		}
	}
}

// liftX completes a point whose y is odd or even.
func liftX(p *grumpkin.G1Affine, odd bool) bool {
	var b fp.Element
	b.SetInt64(-17)
	p.Y.Square(&p.X).Mul(&p.Y, &p.X).Add(&p.Y, &b)
	if p.Y.Sqrt(&p.Y) == nil {
		return false
	}
	if (p.Y.Bits()[0]&1 == 1) != odd {
		p.Y.Neg(&p.Y)
	}
	return true
}

// blake3 hashes up to 1024 bytes, one chunk (BLAKE3 specification, sections 2.2 to
// 2.4).
func blake3(in []byte) (out [32]byte) {
	const chunkStart, chunkEnd, root, rounds, blockLen = 1, 2, 8, 7, 64
	iv := [8]uint32{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}
	cv, flags := iv, uint32(chunkStart)
	for done := false; !done; flags = 0 {
		n := min(len(in), blockLen)
		var block [blockLen]byte
		copy(block[:], in[:n])
		if in = in[n:]; len(in) == 0 {
			flags, done = flags|chunkEnd|root, true
		}
		var m [16]uint32
		for i := range m {
			m[i] = binary.LittleEndian.Uint32(block[4*i:])
		}
		v := [16]uint32{14: uint32(n), 15: flags}
		copy(v[:], cv[:])
		copy(v[8:], iv[:4])
		g := func(a, b, c, d int, x, y uint32) {
			v[a] += v[b] + x
			v[d] = bits.RotateLeft32(v[d]^v[a], -16)
			v[c] += v[d]
			v[b] = bits.RotateLeft32(v[b]^v[c], -12)
			v[a] += v[b] + y
			v[d] = bits.RotateLeft32(v[d]^v[a], -8)
			v[c] += v[d]
			v[b] = bits.RotateLeft32(v[b]^v[c], -7)
		}
		for range rounds {
			for i := range 4 {
				g(i, 4+i, 8+i, 12+i, m[2*i], m[2*i+1])
			}
			for i := range 4 {
				g(i, 4+(i+1)%4, 8+(i+2)%4, 12+(i+3)%4, m[8+2*i], m[9+2*i])
			}
			var p [16]uint32
			for i, from := range [16]int{2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8} {
				p[i] = m[from]
			}
			m = p
		}
		for i := range cv {
			cv[i] = v[i] ^ v[i+8]
		}
	}
	for i := range cv {
		binary.LittleEndian.PutUint32(out[4*i:], cv[i])
	}
	return out
}

// TestBLAKE3: the value of the empty input, from the specification's test vectors.
func TestBLAKE3(t *testing.T) {
	t.Parallel()
	want := "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"
	if got := blake3(nil); new(big.Int).SetBytes(got[:]).Text(16) != want {
		t.Errorf("%x", got)
	}
}
