package srs

import (
	"bytes"
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr/fft"
	"golang.org/x/crypto/blake2b"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// TestWeakTau reads files whose τ anybody finds. Their points are powers of it, so nothing else is wrong with them.
func TestWeakTau(t *testing.T) {
	const power, size = 4, 8
	number := func(n int64) (tau fr.Element) { return *tau.SetInt64(n) }
	inverse := func(n int64) (tau fr.Element) { tau.SetInt64(n); return *tau.Inverse(&tau) }
	root := func(order uint64) fr.Element { return fft.NewDomain(order).Generator }
	third := fr.NewElement(5) // of order 3: r - 1 is a multiple of it
	e := new(big.Int).Sub(fr.Modulus(), big.NewInt(1))
	third.Exp(third, e.Div(e, big.NewInt(3)))
	for _, c := range []struct {
		tau  fr.Element
		says string
	}{
		{number(0), "τ is 0"}, // [τ]G1 is the identity
		{number(1), "τ is 1"}, // snarkjs powersoftau new
		{number(-1), "τ is -1"},
		{number(5), "τ is 5"}, // a proof that 7 · 7 = 4 is accepted over it
		{number(-7), "τ is -7"},
		{number(smallTau), fmt.Sprint("τ is ", smallTau)},
		{inverse(3), "τ is 1/3"},
		{inverse(-smallTau), fmt.Sprint("τ is 1/-", smallTau)},
		{third, "τ is a root of unity: τ^3 = 1"},
		{root(4), "τ is a root of unity: τ^4 = 1"},
		{root(size), "τ is a root of unity: τ^8 = 1"},
		{root(2 * size), "τ is a root of unity: τ^2048 = 1"},
		{root(rootsMore * size), "τ is a root of unity: τ^2048 = 1"},
	} {
		ceremony := ceremonyOf(t, power, c.tau)
		prepared := ceremony.file() // whose Lagrange form has the identity at a τ of the domain
		ceremony.remove(ptauLagrange)
		for _, file := range [][]byte{prepared, ceremony.file()} {
			_, err := readPtau(t, file, size)
			if err == nil || !strings.HasSuffix(err.Error(), c.says) {
				t.Errorf("%s, %d bytes: %v", c.says, len(file), err)
			}
			// A hash does not make it better.
			_, err = readPublished(t, file, size)
			must.Fail(t, err, zkbench.ErrMalformed, "%s, published", c.says)
		}
	}
	must.Get(readPtau(t, ceremonyOf(t, power, number(smallTau+1)).file(), size))(t)
}

// readPublished reads a file whose hash is known.
func readPublished(t testing.TB, file []byte, size int) (*SRS, error) {
	t.Helper()
	return ReadPtau(t.Context(), executor.Serial(), bytes.NewReader(file), int64(len(file)), size, hashOf(t, file))
}

// hashOf is the hash of a file that is said to be published.
func hashOf(t testing.TB, file []byte) Published {
	t.Helper()
	return must.Get(PublishedHash(fmt.Sprintf("%x", blake2b.Sum512(file))))(t)
}

// TestPublished reads files against hashes.
func TestPublished(t *testing.T) {
	raw := []byte(golden.Read(t, "srs/powers3.ptau"))
	read := func(file []byte, p Published) (*SRS, error) {
		return ReadPtau(t.Context(), executor.Serial(), bytes.NewReader(file), int64(len(file)), 8, p)
	}
	// As b2sum prints it, and in the groups that ceremonies publish.
	const sum = "c90ff801013b9ae9eb4cff58c890206808fb69d830f4cf7dd763deeaeb46c94742ce9ecabae5a73cf24de493ff58347f941ee2bf31f638138a0ea2be03a4b69e"
	var groups []string
	for at := 0; at < len(sum); at += 8 {
		groups = append(groups, sum[at:at+8])
	}
	for _, text := range []string{sum, strings.ToUpper(sum), strings.Join(groups, " "), " " + strings.Join(groups, "\n\t")} {
		s := must.Get(read(raw, must.Get(PublishedHash(text))(t)))(t)
		golden.Equal(t, "insecure", false, s.Insecure())
	}
	golden.Equal(t, "insecure without a hash", true, must.Get(read(raw, NoHashKnown()))(t).Insecure())

	published := must.Get(PublishedHash(sum))(t)
	other := slices.Clone(raw)
	other[len(other)-1] ^= 1 // in the contributions, which nothing else reads
	must.Get(read(other, NoHashKnown()))(t)
	_, err := read(other, published)
	if must.Fail(t, err, zkbench.ErrMalformed, "a file with another last byte"); !strings.Contains(fmt.Sprint(err), "another file than the ceremony's") {
		t.Error(err)
	}
	must.FailGet(read(append(slices.Clone(raw), 0), published))(t, zkbench.ErrMalformed, "a byte behind the file")
	must.FailGet(read(raw, Published{}))(t, zkbench.ErrParams, "neither a hash nor that there is none")
	for _, text := range []string{"", sum[1:], sum + "00", sum[:len(sum)-1] + "g", "0x" + sum} {
		must.FailGet(PublishedHash(text))(t, zkbench.ErrParams, "the hash %q", text)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = ReadPtau(ctx, executor.Serial(), bytes.NewReader(raw), int64(len(raw)), 8, published)
	must.Fail(t, err, context.Canceled, "cancelled")
}

// TestWeightsAreWide plants one wrong point in a Lagrange form of two: it passes whenever its weight is zero, so
// weights of 8 bits would let it pass once in 256 trials, and of 10 bits in 1,024.
func TestWeightsAreWide(t *testing.T) {
	s := insecure(t, 2)
	bad := slices.Clone(s.Lagrange.Pk.G1)
	bad[1].Neg(&bad[1])
	for range 4000 {
		if must.Get(isLagrange(t.Context(), executor.Serial(), s.Canonical.Pk.G1, bad))(t) {
			t.Fatal("a wrong point passed")
		}
	}
	var any, all [fr.Bytes]byte // bits that some weight has, and that each has
	all = [fr.Bytes]byte(bytes.Repeat([]byte{0xff}, fr.Bytes))
	for _, w := range must.Get(weights(400))(t) {
		for i, b := range w.Bytes() {
			any[i] |= b
			all[i] &= b
		}
	}
	want := [fr.Bytes]byte(append(make([]byte, 16), bytes.Repeat([]byte{0xff}, 16)...))
	golden.Equal(t, "bits of weights", want, any)
	golden.Equal(t, "bits that are always set", [fr.Bytes]byte{}, all)
}
