package ledger_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token/ledger"
)

// forked returns the genesis of a ledger after forks at these records.
func forked(lasts ...uint64) ledger.Genesis {
	g := ledger.Genesis{Params: [64]byte{1}, Policy: [64]byte{5}, Nonce: [32]byte{2}}
	for _, last := range lasts {
		g.Forks = append(g.Forks, ledger.Fork{Last: last, Policy: last - min(last, 1), Root: [32]byte{3}, Nonce: [32]byte{4}})
	}
	return g
}

// TestForkVectors has vectors that were computed with Python's hashlib and struct from the formulas.
func TestForkVectors(t *testing.T) {
	g := forked(7)
	id := g.ID()
	golden.Equal(t, "ledger id", "b6415d38bc4ebb3d8d9e152d6775577f40303e878a34ee92866208719f92238a", hex.EncodeToString(id[:]))
	golden.Equal(t, "leaf", forked().Leaf(), g.Leaf())
}

// TestForks: a fork has another id than its parent and than other forks, and each record the id of the ledger that accepted it.
func TestForks(t *testing.T) {
	g := forked()
	one, two := must.Get(g.Fork(5, 2, [32]byte{1}))(t), must.Get(g.Fork(5, 2, [32]byte{1}))(t)
	three := must.Get(one.Fork(9, 3, [32]byte{2}))(t)
	ids := map[[32]byte]bool{g.ID(): true, one.ID(): true, two.ID(): true, three.ID(): true}
	golden.Equal(t, "ids", 4, len(ids))
	for seq, want := range map[uint64]ledger.Genesis{0: g, 1: g, 5: g, 6: one, 9: one, 10: three, 1 << 63: three} {
		golden.Equal(t, fmt.Sprint("record ", seq), want, three.ForRecord(seq))
	}
	golden.Equal(t, "record 5 of no fork", g, g.ForRecord(5))
	for version, want := range map[uint64]ledger.Genesis{0: g, 2: g, 3: one, 4: three, 1 << 63: three} {
		golden.Equal(t, fmt.Sprint("policy ", version), want, three.ForPolicy(version))
	}
	golden.Equal(t, "trunk", g, three.Trunk())
	parent, ok := three.Parent()
	golden.Equal(t, "parent", one, parent)
	if _, has := g.Parent(); has || !ok {
		t.Error("a parent of none, or none")
	}
	golden.Equal(t, "inherited", []uint64{0, 5, 9}, []uint64{g.Inherited(), one.Inherited(), three.Inherited()})
	// Forks of one ledger do not change each other.
	a, b := must.Get(three.Fork(9, 3, [32]byte{3}))(t), must.Get(three.Fork(10, 3, [32]byte{4}))(t)
	golden.Equal(t, "of the first", [32]byte{3}, a.Forks[2].Root)
	golden.Equal(t, "of the second", [32]byte{4}, b.Forks[2].Root)
	before := must.Get(three.Fork(8, 2, [32]byte{5}))(t)
	golden.Equal(t, "before the last fork", []uint64{5, 8}, []uint64{before.Forks[0].Last, before.Forks[1].Last})
	golden.Equal(t, "behind it", one, before.ForRecord(8))

	most := forked(slices.Repeat([]uint64{1}, ledger.MaxForks)...)
	must.FailGet(most.Fork(1, 0, [32]byte{}))(t, zkbench.ErrLimit, "too many forks")
	must.Get(most.Fork(0, 0, [32]byte{}))(t)
}

// TestDecodeForks: what is encoded is decoded, all of it is in the id, and what no Fork makes is refused.
func TestDecodeForks(t *testing.T) {
	g := forked(3, 3, 8)
	data := g.Append(nil)
	golden.Equal(t, "decoded", g, must.Get(ledger.DecodeGenesis(data))(t))
	for i := range data {
		changed := bytes.Clone(data)
		changed[i] ^= 1
		if other, err := ledger.DecodeGenesis(changed); err == nil && other.ID() == g.ID() {
			t.Errorf("byte %d is not in the id", i)
		}
	}
	many := forked(slices.Repeat([]uint64{1}, ledger.MaxForks+1)...)
	for name, wrong := range map[string][]byte{
		"short": data[:len(data)-1], "long": append(bytes.Clone(data), 0), "many": many.Append(nil),
	} {
		must.FailGet(ledger.DecodeGenesis(wrong))(t, zkbench.ErrMalformed, "%s", name)
	}
	for name, c := range map[string]struct {
		change func(f []ledger.Fork)
		path   string
		offset int
	}{
		"a fork before the one before":      {func(f []ledger.Fork) { f[1].Last = 2 }, "forks[1].last", 0},
		"a policy before the one before":    {func(f []ledger.Fork) { f[1].Policy = 1 }, "forks[1].policy", 8},
		"a policy of more updates than fit": {func(f []ledger.Fork) { f[1].Policy = 4 }, "forks[1].policy", 8},
	} {
		g := forked(3, 3, 8)
		c.change(g.Forks)
		_, err := ledger.DecodeGenesis(g.Append(nil))
		if d, ok := errors.AsType[*zkbench.DecodeError](err); !ok || d.Path != c.path || d.Offset != ledger.GenesisLen+ledger.ForkLen+c.offset {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzDecodeGenesis: what decodes is the one encoding of a genesis.
func FuzzDecodeGenesis(f *testing.F) {
	for _, lasts := range [][]uint64{nil, {0}, {3, 3, 8}} {
		g := forked(lasts...)
		f.Add(g.Append(nil))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		g, err := ledger.DecodeGenesis(data)
		if err != nil {
			if d, ok := errors.AsType[*zkbench.DecodeError](err); !ok || d.Offset < 0 || d.Offset > len(data) {
				t.Fatalf("%v", err)
			}
			return
		}
		if got := g.Append(nil); !bytes.Equal(got, data) {
			t.Fatalf("%x came back as %x", data, got)
		}
	})
}
