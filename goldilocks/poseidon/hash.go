package poseidon

import "github.com/zkbench/zkbench/goldilocks"

// DigestLen is the length of a digest in elements. A digest has 256 bits, for 128 bits of security
// against collisions.
const DigestLen = 4

// Digest is the output of a hash.
type Digest [DigestLen]goldilocks.Element

// LinearHash computes linear_hash of Polygon's Hermez prover. Each permutation takes a block of
// eight elements as the rate, and the digest of the blocks before it as the capacity. The last
// block is padded with zeros. Inputs of four elements or fewer are their own digest, padded by
// zeros.
//
// The digest does not bind the length, so use LinearHash only for inputs of one fixed length: the
// inputs (1, 2, 3, 4, 5) and (1, 2, 3, 4, 5, 0) have the same digest.
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

// HashNoPad computes hash_no_pad of plonky2. It is a sponge that takes the input in blocks of up
// to eight elements. A block of k elements overwrites the first k elements of the rate and leaves
// the rest of the state as it is. The digest of an empty input consists of zeros.
//
// The digest does not bind the length, so use HashNoPad only for inputs of one fixed length.
func HashNoPad(in []goldilocks.Element) Digest {
	var s State
	for len(in) > 0 {
		in = in[copy(s[:Rate], in):]
		s.Permute()
	}
	return Digest(s[:DigestLen])
}

// HashOrNoop computes hash_or_noop, plonky2's hash of leaves. For more than four elements it
// returns their HashNoPad. Inputs of four elements or fewer are their own digest, padded by zeros.
func HashOrNoop(in []goldilocks.Element) Digest {
	if len(in) > DigestLen {
		return HashNoPad(in)
	}
	var d Digest
	copy(d[:], in)
	return d
}

// Hash hashes inputs of any length. It puts the length plus 1 into the capacity and then runs the
// sponge of HashNoPad, with the last block padded by zeros. Every input, even the empty one, goes
// through the permutation. In Compress and in the other hashes, the capacity starts as zeros. In
// Hash it never starts as zeros, because of the 1.
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

// Compress returns the digest of two digests. It takes one permutation, of a state that consists
// of left, right and a capacity of zeros.
func Compress(left, right Digest) Digest {
	var s State
	copy(s[:], left[:])
	copy(s[DigestLen:], right[:])
	s.Permute()
	return Digest(s[:DigestLen])
}
