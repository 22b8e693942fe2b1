package state_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"testing"

	"lukechampine.com/blake3"
	"pgregory.net/rapid"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token/ledger/state"
)

// TestExpand: a record is hashed by BLAKE3 in keyed mode, in one piece here, over its encoding.
func TestExpand(t *testing.T) {
	// SHA-256 of "zkbench/v1/ledger state", by sha256sum.
	key := must.Get(hex.DecodeString("9c715d50c0720816164d7867d4c82925faa3246d4134f6f3954ab74f56390e25"))(t)
	h := blake3.New(state.SumLen, key)
	_, _ = h.Write(append([]byte{2, 0, 0, 0, 3}, "ab\x00value"...))
	var s state.Sum
	s.Add(state.Record{Kind: state.Used, Key: []byte("ab\x00"), Value: []byte("value")})
	golden.Equal(t, "numbers", hex.EncodeToString(h.Sum(nil)), hex.EncodeToString(s.Append(nil)))
}

// TestCommitment has the SHA-256 of the domain and 2048 zeros, computed with Python's hashlib.
func TestCommitment(t *testing.T) {
	var s state.Sum
	c := s.Commitment()
	golden.Equal(t, "of nothing", "46c4e63172031cd972cf43bcd062ebd02d560b7de3472ee6608c1cfeede6b0c2", hex.EncodeToString(c[:]))
}

// TestSum: the sum of a set does not depend on the order, nor on what came and went; a record that differs in any part
// is another.
func TestSum(t *testing.T) {
	record := rapid.Custom(func(t *rapid.T) state.Record {
		return state.Record{
			Kind: state.Kind(rapid.IntRange(1, 5).Draw(t, "kind")), Key: rapid.SliceOfN(rapid.Byte(), 0, 4).Draw(t, "key"),
			Value: rapid.SliceOfN(rapid.Byte(), 0, 2000).Draw(t, "value"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		records := rapid.SliceOfN(record, 0, 6).Draw(t, "records")
		var a, b state.Sum
		for _, r := range records {
			a.Add(r)
		}
		other := record.Draw(t, "other")
		b.Add(other)
		for i := range records {
			b.Add(records[len(records)-1-i])
		}
		if a == b {
			t.Fatal("one record more, and the same sum")
		}
		b.Remove(other)
		if a != b || a.Commitment() != b.Commitment() {
			t.Fatal("other sums of one set")
		}
		decoded := must.Get(state.Decode(a.Append(nil)))(t)
		if decoded != a {
			t.Fatal("another sum came back")
		}
	})
	seen := map[state.Sum]bool{}
	for _, r := range []state.Record{
		{Kind: 1, Key: []byte("k"), Value: []byte("v")},
		{Kind: 2, Key: []byte("k"), Value: []byte("v")},
		{Kind: 1, Key: []byte("kv")},
		{Kind: 1, Value: []byte("kv")},
		{Kind: 1, Key: []byte("k"), Value: []byte("w")},
	} {
		var s state.Sum
		if s.Add(r); seen[s] {
			t.Errorf("%+v has the sum of another record", r)
		}
		seen[s] = true
	}
}

// FuzzDecode: what decodes is the one encoding of a sum.
func FuzzDecode(f *testing.F) {
	f.Add(make([]byte, state.SumLen))
	f.Add([]byte{1})
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := state.Decode(data)
		if (err == nil) != (len(data) == state.SumLen) {
			t.Fatalf("%d bytes: %v", len(data), err)
		}
		if err != nil {
			must.Fail(t, err, zkbench.ErrMalformed, "%d bytes", len(data))
		} else if !bytes.Equal(s.Append(nil), data) || s[1] != binary.LittleEndian.Uint16(data[2:]) {
			t.Fatal("another encoding came back")
		}
	})
}

func BenchmarkAdd(b *testing.B) {
	var s state.Sum
	r := state.Record{Kind: state.Used, Key: make([]byte, 32), Value: make([]byte, 32)}
	for b.Loop() {
		s.Add(r)
	}
}

// BenchmarkHashAfter hashes with SHA-256 after a record was added, as a ledger does: 100 times slower if the vector
// registers were left in use (package vector).
func BenchmarkHashAfter(b *testing.B) {
	var s state.Sum
	r := state.Record{Kind: state.Unspent, Key: make([]byte, 32)}
	for b.Loop() {
		s.Add(r)
		s.Commitment()
	}
}

func BenchmarkCommitment(b *testing.B) {
	var s state.Sum
	for b.Loop() {
		s.Commitment()
	}
}
