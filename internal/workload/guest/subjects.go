package guest

import (
	"context"
	"encoding/binary"
	"io"
	"math/rand/v2"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	pairings "github.com/zkbench/zkbench/circuits/pairing"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/merkle"
	"github.com/zkbench/zkbench/group"
	hash "github.com/zkbench/zkbench/hash/keccak"
	pedersens "github.com/zkbench/zkbench/hash/pedersen"
	"github.com/zkbench/zkbench/internal/workload/guestprogram"
	"github.com/zkbench/zkbench/plonkish"
	"github.com/zkbench/zkbench/rangeproof/bulletproof"
	"github.com/zkbench/zkbench/riscv/guests/frames"
	"github.com/zkbench/zkbench/srs"
)

// maker makes an input for a guest and returns it with the correct output.
type maker func(ctx context.Context, r *rand.ChaCha8) (raw, want []byte, err error)

// subject describes a guest: how it is built, and which inputs it takes.
type subject struct {
	name              string
	pkg               string
	tags              []string // that all its builds have
	precompiles       []string // the sets that it supports
	size, least, most int      // the default, and the bounds of what is accepted
	keyBytes          uint64   // memory of the set-up for each unit of size; 0 if it is small
	work              string   // the name of the section that is the guest's work
	inputs            func(ctx context.Context, size int) (maker, error)
}

const none = "none"

var subjects = []*subject{
	{name: "pairing", pkg: "pairing", precompiles: []string{none, "bn254"}, size: 1, least: 1, most: 1, work: "exchange", inputs: secrets},
	{name: "pairing-bigint", pkg: "pairing", tags: []string{"bigint"}, precompiles: []string{none, "mulmod"}, size: 1, least: 1, most: 1, work: "exchange", inputs: secrets},
	{name: "keccak", pkg: "keccak", precompiles: []string{none, "hash"}, size: 1360, most: 1 << 20, work: "hash", inputs: messages},
	{name: "pedersen", pkg: "pedersen", precompiles: []string{none}, size: 1, least: 1, most: 1 << 12, work: "hash", inputs: pairs},
	{name: "merkle", pkg: "merkle", precompiles: []string{none}, size: 256, least: 1, most: 1 << 16, work: "root", inputs: rows},
	{name: "bulletproof", pkg: "bulletproof", precompiles: []string{none}, size: 32, least: 1, most: 64, work: "verify", inputs: ranges},
	{name: "plonk", pkg: "plonk", precompiles: []string{none}, size: 1 << 10, least: 8, most: 1 << 16, keyBytes: 4 << 10, work: "verify", inputs: chains},
}

// guest returns the program that is built with or without precompiles.
func (s *subject) guest(precompiled bool) guestprogram.Guest {
	g := guestprogram.Guest{Package: s.pkg, Tags: s.tags}
	if precompiled {
		g.Tags = append(g.Tags[:len(g.Tags):len(g.Tags)], "precompile")
	}
	return g
}

// random draws n elements of BN254's scalar field.
func random(r io.Reader, n int) []fr.Element {
	elements := make([]fr.Element, n)
	for i := range elements {
		var raw [2 * fr.Bytes]byte
		_, _ = io.ReadFull(r, raw[:]) // of a stream without end
		elements[i].SetBytes(raw[:])
	}
	return elements
}

func encode(elements ...fr.Element) (raw []byte) {
	for _, e := range elements {
		b := e.Bytes()
		raw = append(raw, b[:]...)
	}
	return raw
}

// secrets makes the secrets of three parties. The output is the key that they exchange.
func secrets(context.Context, int) (maker, error) {
	return func(_ context.Context, r *rand.ChaCha8) ([]byte, []byte, error) {
		of := random(r, pairings.Parties)
		s, err := pairings.NewStatement([pairings.Parties]fr.Element(of))
		if err != nil {
			return nil, nil, err
		}
		return encode(of...), s.K.Marshal(), nil
	}, nil
}

// messages makes messages of size bytes. The output is their Keccak-256.
func messages(_ context.Context, size int) (maker, error) {
	return func(_ context.Context, r *rand.ChaCha8) ([]byte, []byte, error) {
		message := make([]byte, size)
		_, _ = r.Read(message) // which never fails
		digest := hash.Sum256(message)
		return message, digest[:], nil
	}, nil
}

// pairs makes size pairs of elements. The output is their Pedersen hashes.
func pairs(_ context.Context, size int) (maker, error) {
	return func(_ context.Context, r *rand.ChaCha8) ([]byte, []byte, error) {
		elements := random(r, pedersens.Inputs*size)
		var hashes []fr.Element
		for i := range size {
			hashes = append(hashes, pedersens.Hash(&elements[2*i], &elements[2*i+1]))
		}
		return encode(elements...), encode(hashes...), nil
	}, nil
}

// rows makes size rows of eight Goldilocks elements. The output is the root of the Merkle tree over them.
func rows(_ context.Context, size int) (maker, error) {
	const width = 8
	return func(ctx context.Context, r *rand.ChaCha8) (raw, want []byte, err error) {
		elements := make([]goldilocks.Element, width*size)
		for i := range elements {
			elements[i] = goldilocks.Reduce(r.Uint64())
			raw = binary.LittleEndian.AppendUint64(raw, uint64(elements[i]))
		}
		tree, err := merkle.Build(ctx, executor.Serial(), merkle.Shape{Rows: size, Width: width}, elements)
		if err != nil {
			return nil, nil, err
		}
		for _, e := range tree.Root() {
			want = binary.LittleEndian.AppendUint64(want, uint64(e))
		}
		return raw, want, nil
	}, nil
}

// ranges makes proofs that a committed value has at most size bits. The output is the commitment.
func ranges(_ context.Context, size int) (maker, error) {
	system, err := bulletproof.NewSystem(group.BN254(), size, 1)
	return func(ctx context.Context, r *rand.ChaCha8) ([]byte, []byte, error) {
		blinding, err := system.RandomBlinding(r)
		if err != nil {
			return nil, nil, err
		}
		value := r.Uint64() >> (64 - size)
		commitment, proof, err := system.Prove(ctx, executor.Serial(), nil, []uint64{value}, [][]byte{blinding}, r)
		return frames.Join([]byte{byte(size)}, commitment, proof), commitment, err
	}, err
}

// chains makes Plonk proofs that a public value is a secret value squared again and again, with one row per squaring.
// The output is the public value.
func chains(ctx context.Context, size int) (maker, error) {
	ex := executor.Serial()
	circuit := func(start fr.Element) (*plonkish.Circuit, fr.Element, error) {
		b := plonkish.NewBuilder(plonkish.Plonk())
		var minus fr.Element
		minus.SetInt64(-1)
		square := b.Kind(plonkish.Arithmetic(), fr.One(), fr.Element{}, fr.Element{}, minus)
		x := b.Var(start)
		last := start
		for range size - 1 {
			last.Square(&last)
			next := b.Var(last)
			b.Row(square, []plonkish.Var{x, x, next})
			x = next
		}
		b.Equal(x, b.Public(last))
		c, err := b.Build()
		return c, last, err
	}
	first, _, err := circuit(fr.One())
	if err != nil {
		return nil, err
	}
	s, err := srs.Insecure(ctx, ex, first.Size(), 1)
	if err != nil {
		return nil, err
	}
	key, err := plonkish.Setup(ctx, ex, first, s)
	return func(ctx context.Context, r *rand.ChaCha8) ([]byte, []byte, error) {
		c, last, err := circuit(random(r, 1)[0])
		if err != nil {
			return nil, nil, err
		}
		proof, err := key.Prove(ctx, ex, c, plonkish.Options{Rand: r})
		return frames.Join(key.Bytes(), proof, encode(last)), encode(last), err
	}, err
}
