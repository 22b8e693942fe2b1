// Command pairing is a guest that runs a key exchange of three parties on BN254 (Joux: A one round
// protocol for tripartite Diffie-Hellman, 2000). It plays all three parties.
//
// The input is the three secrets, 32 big-endian bytes each. A secret must not be zero, and must be
// below the order of the groups. Party i publishes s_i·G1 and s_i·G2. Its key is the pairing of the
// other two parties' points, to the power s_i. The output is the key that all three have: 384
// bytes, as gnark-crypto encodes elements of GT.
//
// The program has four builds, which differ only in their arithmetic:
//
//	(no tags)                Montgomery form
//	-tags bigint             integers, divided by the modulus
//	-tags precompile         precompiles for Fp, Fp2 and sums of points in G1
//	-tags bigint,precompile  integers, with a precompile for products
package main

import (
	"encoding/binary"
	"math/bits"
	"syscall"

	"github.com/zkbench/zkbench/riscv/guest"
)

const parties = 3

func main() {
	secrets, fault := decode(guest.Input())
	if fault != "" {
		println(fault)
		syscall.Exit(1)
	}
	guest.Begin("exchange")
	key := exchange(&secrets)
	guest.End()
	guest.Commit(key.bytes())
}

// order is the order of the groups, the least significant limb first.
var order = [4]uint64{0x43e1f593f0000001, 0x2833e84879b97091, 0xb85045b68181585d, 0x30644e72e131a029}

// decode returns the secrets, the least significant limb first, or the reason why the input is not
// valid.
func decode(input []byte) (secrets [parties][4]uint64, fault string) {
	if len(input) != parties*32 {
		return secrets, "input: not three secrets of 32 bytes"
	}
	for i := range secrets {
		s := &secrets[i]
		var borrow uint64
		for j := range s {
			s[j] = binary.BigEndian.Uint64(input[32*i+24-8*j:])
			_, borrow = bits.Sub64(s[j], order[j], borrow)
		}
		if borrow == 0 || *s == [4]uint64{} {
			return secrets, "input: a secret is zero, or not below the order"
		}
	}
	return secrets, ""
}

// exchange returns the key that all parties compute.
func exchange(secrets *[parties][4]uint64) (key e12) {
	var p [parties]g1
	var q [parties]g2
	var n digits
	for i := range secrets {
		n.set(&secrets[i], 2)
		p[i].multiply(&base1, &n)
		q[i].multiply(&base2, &n)
	}
	for i := range secrets {
		var f, k e12
		f.millerLoop(&p[(i+1)%parties], &q[(i+2)%parties])
		f.finalExponentiation()
		n.set(&secrets[i], 4)
		k.power(&f, &n)
		if i == 0 {
			key = k
		} else if k != key {
			panic("the keys differ")
		}
	}
	return key
}
