package csp

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zkbench/zkbench/group"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// golden compares got with a file of testdata, or rewrites the file.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s changed (-old +new); -update if this is meant:\n%s", path, diff)
	}
}

// The size of a proof on BN254 at the default stop, per bit length.
func TestProofSizes(t *testing.T) {
	t.Parallel()
	g := group.BN254()
	var b bytes.Buffer
	fmt.Fprintln(&b, "bits,points,scalars,bytes")
	for bits := 1; bits <= MaxBits; bits++ {
		p := newProtocol(t, bits, 0)
		_, proof := prove(t, p, "size", 1)
		enc := g.AppendScalars(g.AppendPoints(nil, proof.Points...), proof.Scalars...)
		s := p.Shape(1)
		if want := s.Points*g.PointLen() + s.Scalars*g.ScalarLen(); len(enc) != want {
			t.Errorf("bits=%d: %d bytes, shape says %d", bits, len(enc), want)
		}
		fmt.Fprintf(&b, "%d,%d,%d,%d\n", bits, s.Points, s.Scalars, len(enc))
	}
	golden(t, "proof_sizes.csv", b.Bytes())
}

// A proof from a fixed seed: a change of generators, transcript, nonces or
// layout changes these bytes.
func TestVector(t *testing.T) {
	t.Parallel()
	g := group.BN254()
	p := newProtocol(t, 8, 4)
	V, proof := prove(t, p, "vector", 173)
	var b bytes.Buffer
	line := func(name string, data []byte) { fmt.Fprintf(&b, "%s %s\n", name, hex.EncodeToString(data)) }
	line("V", g.AppendPoints(nil, V))
	for _, q := range proof.Points {
		line("point", g.AppendPoints(nil, q))
	}
	for _, s := range proof.Scalars {
		line("scalar", g.AppendScalars(nil, s))
	}
	golden(t, "vector_bits8_stop4.txt", b.Bytes())

	// What the file says is decoded and accepted.
	decoded := &prf{Points: make([]point, len(proof.Points)), Scalars: make([]scalar, len(proof.Scalars))}
	if err := g.DecodePoints(decoded.Points, g.AppendPoints(nil, proof.Points...), group.Subgroup); err != nil {
		t.Fatal(err)
	}
	if err := g.DecodeScalars(decoded.Scalars, g.AppendScalars(nil, proof.Scalars...)); err != nil {
		t.Fatal(err)
	}
	if err := verify(p, "vector", V, decoded); err != nil {
		t.Error(err)
	}
}
