package poseidon

import "github.com/zkbench/zkbench/goldilocks"

// DigestLen is the length of a digest in elements: of 256 bits, of which 128 are security
// against collisions.
const DigestLen = 4

// Digest is what a hash gives.
type Digest [DigestLen]goldilocks.Element

// LinearHash is linear_hash of Polygon's Hermez prover: the rate is eight elements and, in
// the last block, zeros; the capacity is the digest before. Four elements or fewer pass
// through as they are, padded by zeros.
//
// It binds no length, so it is for inputs of one fixed length only: 1..5 and 1..5,0 have
// one digest.
func LinearHash(in []goldilocks.Element) Digest {
	var d Digest
	if len(in) <= DigestLen {
		copy(d[:], in)
		return d
	}
	for len(in) > 0 {
		var s State
		in = in[copy(s[:Rate], in):]
		copy(s[Rate:], d[:])
		s.Permute()
		d = Digest(s[:DigestLen])
	}
	return d
}

// HashNoPad is hash_no_pad of plonky2: a sponge whose rate is overwritten, as far as the
// last block goes, and whose state is kept. Of nothing it is zeros.
//
// It binds no length, so it is for inputs of one fixed length only.
func HashNoPad(in []goldilocks.Element) Digest {
	var s State
	for len(in) > 0 {
		in = in[copy(s[:Rate], in):]
		s.Permute()
	}
	return Digest(s[:DigestLen])
}

// HashOrNoop is hash_or_noop of plonky2, which its leaves are: HashNoPad of more than four
// elements, and four or fewer as they are, padded by zeros.
func HashOrNoop(in []goldilocks.Element) Digest {
	if len(in) > DigestLen {
		return HashNoPad(in)
	}
	var d Digest
	copy(d[:], in)
	return d
}

// Hash is for inputs of any length: the capacity begins with the length plus 1, then the
// sponge is that of HashNoPad, the last block padded by zeros. Nothing passes through, the
// empty input neither. By the 1 no input, the empty one neither, begins with a capacity of
// zeros, with which Compress and the other hashes begin.
func Hash(in []goldilocks.Element) Digest {
	var s State
	s[Rate] = goldilocks.Element(len(in) + 1) // below 2^61: elements have eight bytes
	for first := true; first || len(in) > 0; first = false {
		n := copy(s[:Rate], in)
		clear(s[n:Rate])
		in = in[n:]
		s.Permute()
	}
	return Digest(s[:DigestLen])
}

// Compress is the digest of two: one permutation of left, right and a capacity of zeros.
func Compress(left, right Digest) Digest {
	var s State
	copy(s[:], left[:])
	copy(s[DigestLen:], right[:])
	s.Permute()
	return Digest(s[:DigestLen])
}
