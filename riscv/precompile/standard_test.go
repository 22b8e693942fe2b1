package precompile_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/secp256k1"
	kilic "github.com/kilic/bls12-381"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/riscv"
	"github.com/zkbench/zkbench/riscv/call"
)

// bytesOf is a number, big-endian.
func bytesOf(size int, numbers ...*big.Int) (out []byte) {
	for _, v := range numbers {
		out = append(out, v.FillBytes(make([]byte, size))...)
	}
	return out
}

func fromHex(t testing.TB, text string) []byte {
	t.Helper()
	return must.Get(hex.DecodeString(strings.ReplaceAll(text, " ", "")))(t)
}

func number(t testing.TB, text string) *big.Int {
	t.Helper()
	return new(big.Int).SetBytes(fromHex(t, text))
}

// TestUnits: a call is as many units of work as its hash has blocks, its sum pairs, and its function rounds.
func TestUnits(t *testing.T) {
	hash := func(number uint64, n int) *rig {
		return (&rig{number: number}).point(marker, make([]byte, n)).value(uint64(n))
	}
	digest := func(n int) *rig {
		return (&rig{number: call.RIPEMD160}).point(make([]byte, n)).value(uint64(n)).point(marker)
	}
	for name, test := range map[string]struct {
		rig   *rig
		units uint64
	}{
		"keccak256, 0 bytes":    {hash(call.Keccak256, 0), 1},
		"keccak256, 135 bytes":  {hash(call.Keccak256, 135), 1},
		"keccak256, 136 bytes":  {hash(call.Keccak256, 136), 2},
		"keccak256, 1000 bytes": {hash(call.Keccak256, 1000), 8},
		"sha256, 55 bytes":      {hash(call.SHA256, 55), 1},
		"sha256, 56 bytes":      {hash(call.SHA256, 56), 2},
		"ripemd160, 55 bytes":   {digest(55), 1},
		"ripemd160, 120 bytes":  {digest(120), 3},
		"a pairing, 3 pairs":    {pairs(call.BN254Pairing, make([]byte, 3*192), 192), 3},
		"a sum, 2 pairs":        {pairs(call.BLS12G1MSM, make([]byte, 2*128), 128), 2},
		"one that fails":        {pairs(call.BN254Pairing, bytes.Repeat([]byte{1}, 2*192), 192), 2},
		"blake2f, 12 rounds":    {(&rig{number: call.Blake2F}).value(12).point(make([]byte, 64), make([]byte, 128), make([]byte, 16)).value(1), 12},
		"a sum of two points":   {(&rig{number: call.BN254G1Add}).point(make([]byte, 64), make([]byte, 64), marker), 1},
	} {
		r, err := test.rig.execute(t)
		must.Do(t, err)
		golden.Equal(t, name, [2]uint64{1, test.units}, [2]uint64{r.Precompiles[0].Calls, r.Precompiles[0].Units})
	}
}

// TestBN254Sums: of G1 they are those of the formulas, by numbers of any size, where points and scalars meet the
// exceptions too.
func TestBN254Sums(t *testing.T) {
	type point = [2]*big.Int
	zero := point{new(big.Int), new(big.Int)}
	sum := func(a, b point) point {
		switch {
		case a[0].Sign() == 0 && a[1].Sign() == 0:
			return b
		case b[0].Sign() == 0 && b[1].Sign() == 0:
			return a
		case a[0].Cmp(b[0]) != 0:
			return point(software("g1-add", []*big.Int{a[0], a[1], b[0], b[1]}))
		case a[1].Cmp(b[1]) != 0:
			return zero
		}
		return point(software("g1-double", []*big.Int{a[0], a[1]}))
	}
	times := func(a point, k *big.Int) point {
		out := zero
		for i := k.BitLen() - 1; i >= 0; i-- {
			if out = sum(out, out); k.Bit(i) == 1 {
				out = sum(out, a)
			}
		}
		return out
	}
	one := point{big.NewInt(1), big.NewInt(2)}
	r := rand.New(rand.NewPCG(3, 4))
	scalar := func() *big.Int {
		v := new(big.Int)
		for range 4 {
			v.Lsh(v, 64).Or(v, new(big.Int).SetUint64(r.Uint64()))
		}
		return v
	}
	order, _ := new(big.Int).SetString("21888242871839275222246405745257275088548364400416034343698204186575808495617", 10)
	a := times(one, scalar())
	points := []point{zero, one, {one[0], sub(p, one[1])}, a, times(one, scalar())}
	for _, x := range points {
		for _, y := range points {
			g := &rig{number: call.BN254G1Add}
			got := g.point(bytesOf(32, x[:]...), bytesOf(32, y[:]...), marker).result(t, 2, 64)
			want := sum(x, y)
			golden.Equal(t, "sum", bytesOf(32, want[:]...), got)
		}
		all := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))
		for _, k := range []*big.Int{new(big.Int), big.NewInt(1), order, new(big.Int).Sub(order, big.NewInt(1)), new(big.Int).Add(order, big.NewInt(1)), all, scalar()} {
			g := &rig{number: call.BN254G1Mul}
			got := g.point(bytesOf(32, x[:]...), bytesOf(32, k), marker).result(t, 2, 64)
			want := times(x, k)
			golden.Equal(t, "product", bytesOf(32, want[:]...), got)
		}
	}
}

// TestBN254Refused: numbers that are not below p, points that are not on their curve, or of G2 not in the group.
func TestBN254Refused(t *testing.T) {
	one, two := big.NewInt(1), big.NewInt(2)
	good := bytesOf(32, one, two)
	for name, wrong := range map[string][]byte{
		"x=1+p":           bytesOf(32, new(big.Int).Add(one, p), two),
		"y=2+p":           bytesOf(32, one, new(big.Int).Add(two, p)),
		"(p,p)":           bytesOf(32, p, p),
		"(0,p)":           bytesOf(32, new(big.Int), p),
		"not on curve":    bytesOf(32, one, one),
		"x=0":             bytesOf(32, new(big.Int), one),
		"y=0":             bytesOf(32, one, new(big.Int)),
		"all ones":        bytes.Repeat([]byte{0xff}, 64),
		"little-endian 1": slices.Concat([]byte{1}, make([]byte, 31), []byte{2}, make([]byte, 31)),
	} {
		t.Run(name, func(t *testing.T) {
			for _, operands := range [][2][]byte{{wrong, good}, {good, wrong}} {
				r := &rig{number: call.BN254G1Add}
				golden.Equal(t, "sum", nil, r.point(operands[0], operands[1], marker).result(t, 2, 64))
			}
			r := &rig{number: call.BN254G1Mul}
			golden.Equal(t, "product", nil, r.point(wrong, bytesOf(32, new(big.Int)), marker).result(t, 2, 64))
			if _, failed := pairs(call.BN254Pairing, append(slices.Clone(wrong), make([]byte, 128)...), 192).answer(t, 2); !failed {
				t.Error("a pairing")
			}
		})
	}

	// The generator of G2 (EIP-197), imaginary parts first.
	g2 := fromHex(t, "198e9393920d483a7260bfb731fb5d25f1aa493335a9e71297e485b7aef312c2 1800deef121f1e76426a00665e5c4479674322d4f75edadd46debd5cd992f6ed"+
		"090689d0585ff075ec9e99ad690c3395bc4b313370b38ef355acdadcd122975b 12c85ea5db8c6deb4aab71808dcb408fe3d1e7690c43d37b4ce6cc0166fa7daa")
	both := func(q []byte) (verified, failed bool) {
		return pairs(call.BN254Pairing, slices.Concat(good, q, bytesOf(32, one, sub(p, two)), q), 192).answer(t, 2)
	}
	if verified, failed := both(g2); !verified || failed {
		t.Error("e(P, Q)·e(-P, Q) is not 1")
	}
	swapped := slices.Concat(g2[32:64], g2[:32], g2[96:], g2[64:96])
	for name, q := range map[string][]byte{"real part first": swapped, "not in the group": outsideG2(t), "not canonical": bytesOf(32, p, p, p, p)} {
		if verified, failed := both(q); verified || !failed {
			t.Errorf("%s: %v, failed: %v", name, verified, failed)
		}
	}
}

// outsideG2 is a point of BN254's twist, y² = x³ + 3/(9+u), of another order than G2: nearly all are.
func outsideG2(t testing.TB) []byte {
	t.Helper()
	type e2 = [2]*big.Int // real, imaginary
	product := func(a, b e2) e2 {
		return e2(software("fp2-mul", []*big.Int{a[0], a[1], b[0], b[1]}))
	}
	// 3/(9+u) = 3·(9-u)/82
	inverse := new(big.Int).ModInverse(big.NewInt(82), p)
	b := e2{mul(big.NewInt(27), inverse), mul(sub(p, big.NewInt(3)), inverse)}
	half := new(big.Int).ModInverse(big.NewInt(2), p)
	for i := int64(1); i < 100; i++ {
		x := e2{big.NewInt(i), new(big.Int)}
		v := product(product(x, x), x)
		v = e2{add(v[0], b[0]), add(v[1], b[1])}
		// A root y0 + y1·u: y0² = (v0 ± |v|)/2, y1 = v1/(2·y0).
		norm := new(big.Int).ModSqrt(add(mul(v[0], v[0]), mul(v[1], v[1])), p)
		if norm == nil {
			continue
		}
		for _, n := range []*big.Int{norm, sub(p, norm)} {
			y0 := new(big.Int).ModSqrt(mul(add(v[0], n), half), p)
			if y0 == nil || y0.Sign() == 0 {
				continue
			}
			y := e2{y0, mul(mul(v[1], half), new(big.Int).ModInverse(y0, p))}
			golden.Equal(t, "square", fmt.Sprint(v), fmt.Sprint(product(y, y)))
			return bytesOf(32, x[1], x[0], y[1], y[0])
		}
	}
	t.Fatal("no point")
	return nil
}

// TestBLS12Sums: sums, products and maps are those of another implementation.
func TestBLS12Sums(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	random := func(n int) []byte {
		raw := make([]byte, n)
		for i := range raw {
			raw[i] = byte(r.Uint32())
		}
		return raw
	}
	g1, g2 := kilic.NewG1(), kilic.NewG2()
	// It has imaginary parts first.
	swap := func(raw []byte) []byte { return slices.Concat(raw[48:96], raw[:48], raw[144:], raw[96:144]) }
	for range testsize.Pick(3, 10, 200) {
		n := 1 + r.IntN(40)
		var terms1, terms2 []byte
		sum1, sum2 := g1.Zero(), g2.Zero()
		for range n {
			p1, p2 := g1.MulScalarBig(g1.New(), g1.One(), new(big.Int).SetBytes(random(32))), g2.MulScalarBig(g2.New(), g2.One(), new(big.Int).SetBytes(random(32)))
			if r.IntN(8) == 0 {
				p1, p2 = g1.Zero(), g2.Zero()
			}
			k := random(32)
			if r.IntN(8) == 0 {
				k = make([]byte, 32)
			}
			terms1 = append(append(terms1, g1.ToBytes(p1)...), k...)
			terms2 = append(append(terms2, swap(g2.ToBytes(p2))...), k...)
			g1.Add(sum1, sum1, g1.MulScalarBig(g1.New(), p1, new(big.Int).SetBytes(k)))
			g2.Add(sum2, sum2, g2.MulScalarBig(g2.New(), p2, new(big.Int).SetBytes(k)))
		}
		golden.Equal(t, "sum in G1", g1.ToBytes(sum1), pairs(call.BLS12G1MSM, terms1, 128).result(t, 2, 96))
		golden.Equal(t, "sum in G2", swap(g2.ToBytes(sum2)), pairs(call.BLS12G2MSM, terms2, 224).result(t, 2, 192))
		a, b := random(48), random(48)
		a[0], b[0] = 0, 0
		golden.Equal(t, "map to G1", g1.ToBytes(must.Get(g1.MapToCurve(a))(t)), (&rig{number: call.BLS12MapFpToG1}).point(a, marker).result(t, 1, 96))
		mapped := must.Get(g2.MapToCurve(slices.Concat(b, a)))(t)
		golden.Equal(t, "map to G2", swap(g2.ToBytes(mapped)), (&rig{number: call.BLS12MapFp2ToG2}).point(slices.Concat(a, b), marker).result(t, 1, 192))
	}
	golden.Equal(t, "no terms in G1", make([]byte, 96), pairs(call.BLS12G1MSM, nil, 128).result(t, 2, 96))
	golden.Equal(t, "no terms in G2", make([]byte, 192), pairs(call.BLS12G2MSM, nil, 224).result(t, 2, 192))
	if verified, failed := pairs(call.BLS12Pairing, nil, 288).answer(t, 2); !verified || failed {
		t.Error("the product of no pairings is not 1")
	}
}

// Numbers of secp256k1 (SEC 2, version 2.0, section 2.4.1).
const (
	secp256k1P = "fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2f"
	secp256k1N = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141"
)

func recovered(t testing.TB, hash, signature []byte, id uint64) []byte {
	t.Helper()
	r := &rig{number: call.Secp256k1Recover}
	return r.point(hash, signature).value(id).point(marker).result(t, 3, 64)
}

func verified(t testing.TB, number uint64, hash, signature, key []byte) (verified, failed bool) {
	t.Helper()
	r := &rig{number: number}
	return r.point(hash, signature, key, marker).answer(t, 3)
}

// TestSecp256k1: what a key is recovered of verifies under it; the signature is that of Ethereum's test.
func TestSecp256k1(t *testing.T) {
	prime, order := number(t, secp256k1P), number(t, secp256k1N)
	hash := fromHex(t, "18c547e4f7b0f325ad1e56f57e26c745b09a3e503d86e00e5255ff7f715d3d1c")
	signature := fromHex(t, "73b1693892219d736caba55bdb67216e485557ea6b6af75f37096c9aa6a5a75f eeb940b1d03b21e36b0e47e79769f095fe2ab855bd91e3a38756b7d75a9c4549")
	key := recovered(t, hash, signature, 1)
	verify := func(hash, signature, key []byte) (bool, bool) {
		return verified(t, call.Secp256k1Verify, hash, signature, key)
	}
	accepted := func(what string, hash, signature, key []byte) {
		if verified, failed := verify(hash, signature, key); !verified || failed {
			t.Errorf("%s: %v, failed: %v", what, verified, failed)
		}
	}
	accepted("the signature", hash, signature, key)
	r, s := new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])
	other := bytesOf(32, r, new(big.Int).Sub(order, s))
	accepted("its s in the other half", hash, other, key)
	golden.Equal(t, "key of the other s", key, recovered(t, hash, other, 0))
	for i := range 32 + 64 {
		h, sig := slices.Clone(hash), slices.Clone(signature)
		if i < 32 {
			h[i] ^= 1
		} else {
			sig[i-32] ^= 1
		}
		if verified, failed := verify(h, sig, key); verified || failed {
			t.Errorf("byte %d changed: %v, failed: %v", i, verified, failed)
		}
	}
	zero, more := new(big.Int), new(big.Int).Add(r, order)
	for name, sig := range map[string][]byte{
		"r=0": bytesOf(32, zero, s), "s=0": bytesOf(32, r, zero), "r=n": bytesOf(32, order, s), "s=n": bytesOf(32, r, order),
		"s=n+1": bytesOf(32, r, new(big.Int).Add(order, big.NewInt(1))), "all ones": bytes.Repeat([]byte{0xff}, 64),
	} {
		if verified, failed := verify(hash, sig, key); verified || failed {
			t.Errorf("%s: %v, failed: %v", name, verified, failed)
		}
		golden.Equal(t, "key of "+name, nil, recovered(t, hash, sig, 1))
	}
	golden.Equal(t, "r + n is beyond 256 bits", true, more.BitLen() > 256)
	x, y := new(big.Int).SetBytes(key[:32]), new(big.Int).SetBytes(key[32:])
	for name, k := range map[string][]byte{
		"infinity": make([]byte, 64), "not on curve": bytesOf(32, x, new(big.Int).Xor(y, big.NewInt(1))), "x=p": bytesOf(32, prime, y), "all ones": bytes.Repeat([]byte{0xff}, 64),
	} {
		if verified, failed := verify(hash, signature, k); verified || !failed {
			t.Errorf("key %s: %v, failed: %v", name, verified, failed)
		}
	}
	golden.Equal(t, "recovery id 4", nil, recovered(t, hash, signature, 4))
	golden.Equal(t, "recovery id 256", nil, recovered(t, hash, signature, 256+1))
	golden.Equal(t, "r + n not below p", nil, recovered(t, hash, signature, 3))
	golden.Equal(t, "r = p - n, whose r + n is p", nil, recovered(t, hash, bytesOf(32, new(big.Int).Sub(prime, order), s), 2))

	// Points whose x is r + n: one of two r is that of a point.
	points := 0
	for v := int64(1); v < 20; v++ {
		sig := bytesOf(32, big.NewInt(v), s)
		k := recovered(t, hash, sig, 2)
		if k == nil {
			continue
		}
		points++
		accepted(fmt.Sprint("r=", v), hash, sig, k)
	}
	golden.Within(t, "points whose x is r + n", 1, points, 18)

	// s·R = z·G, of which the key would be infinity: R = 7·G, s = z/7.
	var seven secp256k1.G1Affine
	seven.ScalarMultiplicationBase(big.NewInt(7))
	z := new(big.Int).SetBytes(hash)
	z.Mul(z, new(big.Int).ModInverse(big.NewInt(7), order)).Mod(z, order)
	odd := uint64(seven.Y.BigInt(new(big.Int)).Bit(0))
	sig := bytesOf(32, seven.X.BigInt(new(big.Int)), z)
	golden.Equal(t, "a key at infinity", nil, recovered(t, hash, sig, odd))
	if recovered(t, hash, sig, odd^1) == nil {
		t.Error("of the opposite point there is no key")
	}
}

// TestSecp256r1Refused: keys that are no points, which Ethereum's precompile answers as it does wrong signatures.
func TestSecp256r1Refused(t *testing.T) {
	// RFC 6979, appendix A.2.5, "sample", with SHA-256.
	hash := fromHex(t, "af2bdbe1aa9b6ec1e2ade1d694f41fc71a831d0268e9891562113d8a62add1bf")
	signature := fromHex(t, "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716 f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8")
	key := fromHex(t, "60fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6 7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299")
	if verified, failed := verified(t, call.Secp256r1Verify, hash, signature, key); !verified || failed {
		t.Errorf("the RFC's signature: %v, failed: %v", verified, failed)
	}
	prime := number(t, "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff")
	order := number(t, "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
	for name, k := range map[string][]byte{
		"infinity": make([]byte, 64), "not on curve": slices.Concat(key[:63], []byte{key[63] ^ 1}), "x=p": slices.Concat(bytesOf(32, prime), key[32:]),
	} {
		if verified, failed := verified(t, call.Secp256r1Verify, hash, signature, k); verified || !failed {
			t.Errorf("key %s: %v, failed: %v", name, verified, failed)
		}
	}
	for name, sig := range map[string][]byte{
		"r=0": slices.Concat(make([]byte, 32), signature[32:]), "s=0": slices.Concat(signature[:32], make([]byte, 32)),
		"r=n": slices.Concat(bytesOf(32, order), signature[32:]), "s=n": slices.Concat(signature[:32], bytesOf(32, order)),
	} {
		if verified, failed := verified(t, call.Secp256r1Verify, hash, sig, key); verified || failed {
			t.Errorf("%s: %v, failed: %v", name, verified, failed)
		}
	}
}

// TestKZG: a proof is of one value at one point; what is not canonical is invalid.
func TestKZG(t *testing.T) {
	var line string
	for l := range strings.Lines(golden.Read(t, "precompiles/evm.txt")) {
		if strings.HasPrefix(l, "kzg ") {
			line = l
		}
	}
	in := fromHex(t, strings.Fields(line)[3])
	z, y, commitment, proof := in[32:64], in[64:96], in[96:144], in[144:192]
	ask := func(commitment, z, y, proof []byte) (verified, failed bool) {
		r := &rig{number: call.KZGPointEval}
		return r.point(commitment, z, y, proof, marker).answer(t, 4)
	}
	flipped := func(raw []byte) []byte { return slices.Concat(raw[:len(raw)-1], []byte{raw[len(raw)-1] ^ 1}) }
	infinity := append([]byte{0xc0}, make([]byte, 47)...)
	zero := make([]byte, 32)
	order := fromHex(t, "73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001")
	prime := fromHex(t, "9a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab") // with the bit of a compressed point
	small := append(append([]byte{0x80}, make([]byte, 46)...), 4)                                                           // x = 4, on the curve and not in the group
	for _, test := range []struct {
		name                    string
		commitment, z, y, proof []byte
		verified, failed        bool
	}{
		{"the proof", commitment, z, y, proof, true, false},
		{"another z", commitment, flipped(z), y, proof, false, false},
		{"another y", commitment, z, flipped(y), proof, false, false},
		{"another commitment", proof, z, y, proof, false, false},
		{"another proof", commitment, z, y, commitment, false, false},
		{"the polynomial 0", infinity, z, zero, infinity, true, false},
		{"the polynomial 0 is 1", infinity, z, flipped(zero), infinity, false, false},
		{"z not below the order", commitment, order, y, proof, false, true},
		{"y not below the order", infinity, z, order, infinity, false, true},
		{"infinity and more", flipped(infinity), z, zero, infinity, false, true},
		{"a proof that is not compressed", commitment, z, y, append([]byte{proof[0] &^ 0x80}, proof[1:]...), false, true},
		{"infinity with a sign", infinity, z, zero, append([]byte{0xe0}, make([]byte, 47)...), false, true},
		{"x not below p", prime, z, y, proof, false, true},
		{"a proof not in the group", commitment, z, y, small, false, true},
		{"a commitment not in the group", small, z, y, proof, false, true},
	} {
		if verified, failed := ask(test.commitment, test.z, test.y, test.proof); verified != test.verified || failed != test.failed {
			t.Errorf("%s: %v, failed: %v", test.name, verified, failed)
		}
	}
}

// TestModExp: edges, and random powers.
func TestModExp(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 100 {
		part := func() []byte {
			raw := make([]byte, r.IntN(40))
			for i := range raw {
				raw[i] = byte(r.Uint32())
			}
			return raw
		}
		base, exponent, modulus := part(), part(), part()
		want := make([]byte, len(modulus))
		if m := new(big.Int).SetBytes(modulus); m.Sign() > 0 {
			// By squares, the highest bit first.
			v, b := big.NewInt(1), new(big.Int).SetBytes(base)
			for _, e := range exponent {
				for bit := 7; bit >= 0; bit-- {
					if v.Mul(v, v).Mod(v, m); e>>bit&1 == 1 {
						v.Mul(v, b).Mod(v, m)
					}
				}
			}
			v.Mod(v, m).FillBytes(want)
		}
		golden.Equal(t, fmt.Sprintf("%x^%x mod %x", base, exponent, modulus), want, power(base, exponent, modulus).result(t, 1, len(modulus)))
	}
	for _, test := range []struct{ base, exponent, modulus, want []byte }{
		{nil, nil, []byte{0, 5}, []byte{0, 1}},       // 0^0
		{nil, nil, []byte{1}, []byte{0}},             // modulo 1
		{[]byte{3}, []byte{4}, []byte{0}, []byte{0}}, // modulo 0
		{[]byte{3}, []byte{4}, nil, nil},
	} {
		golden.Equal(t, fmt.Sprint(test), fmt.Sprint(test.want), fmt.Sprint(power(test.base, test.exponent, test.modulus).result(t, 1, len(test.modulus))))
	}
}

// TestLimits: what is beyond the machine's limits, or where the guest may not access, ends it.
func TestLimits(t *testing.T) {
	long := make([]byte, 1025)
	for i := range 3 {
		numbers := [3][]byte{{1}, {1}, {1}}
		numbers[i] = long
		power(numbers[0], numbers[1], numbers[2]).refused(t, riscv.BadCall, "modexp: a number of 1025 bytes; accepted: 1024")
		numbers[i] = long[1:]
		power(numbers[0], numbers[1], numbers[2]).result(t, 1, len(numbers[2]))
	}
	for number, size := range map[uint64]int{call.BN254Pairing: 192, call.BLS12Pairing: 288, call.BLS12G1MSM: 128, call.BLS12G2MSM: 224} {
		r := &rig{number: number}
		r.point(make([]byte, size)).value(1<<12+1).point(marker).refused(t, riscv.BadCall, "4097 pairs; accepted: 4096")
		r = &rig{number: number}
		r.point(make([]byte, size)).value(1<<12).point(marker).refused(t, riscv.WildAccess, "reads")
		r = &rig{number: number}
		r.point(make([]byte, size)).value(1).value(0).refused(t, riscv.WildAccess, "writes")
	}
	state := make([]byte, 64)
	r := (&rig{number: call.Blake2F}).value(1<<23 + 1)
	r.point(state, make([]byte, 128), make([]byte, 16)).value(0).refused(t, riscv.BadCall, "8388609 rounds; accepted: 8388608")
	r = (&rig{number: call.RIPEMD160}).point(nil).value(1<<26 + 1)
	r.point(marker).refused(t, riscv.BadCall, "accepted: 67108864")
	// The answer cannot be written, where the inputs are invalid: the guest ends, too.
	r = (&rig{number: call.Secp256k1Verify}).point(make([]byte, 32), make([]byte, 64), make([]byte, 64)).value(0)
	r.refused(t, riscv.WildAccess, "writes 1 bytes")
	for _, number := range []uint64{
		call.Secp256k1Verify, call.Secp256k1Recover, call.Secp256r1Verify, call.BN254G1Add, call.BN254G1Mul, call.Blake2F,
		call.KZGPointEval, call.BLS12G1Add, call.BLS12G2Add, call.BLS12MapFpToG1, call.BLS12MapFp2ToG2, call.ModExp,
	} {
		(&rig{number: number}).refused(t, riscv.WildAccess, "reads")
	}
}
