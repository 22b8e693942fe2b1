package ledger_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
)

// appended returns an edge after n entries.
func appended(n int) ledger.Edge {
	e := ledger.NewEdge(ledger.Genesis{})
	for i := range n {
		entry := ledger.Entry{Anchor: []byte{byte(i)}, Creates: []ledger.Created{{ID: token.ID{byte(i)}, Token: []byte("token")}}}
		e.Append(&entry, entry.Append(nil))
	}
	return e
}

// TestEdge: what is encoded is decoded, goes on as the edge itself does, and no other encoding is accepted.
func TestEdge(t *testing.T) {
	for n := range 20 {
		e := appended(n)
		data := e.AppendTo(nil)
		decoded := must.Get(ledger.DecodeEdge(data))(t)
		if decoded != e {
			t.Fatalf("%d entries: %+v came back as %+v", n, e.State(nil), decoded.State(nil))
		}
		next := ledger.Entry{Anchor: []byte("next")}
		e.Append(&next, next.Append(nil))
		decoded.Append(&next, next.Append(nil))
		golden.Equal(t, "after another", e.State(nil), decoded.State(nil))
		for name, wrong := range map[string][]byte{"short": data[:len(data)-1], "long": append(bytes.Clone(data), 0), "empty": nil} {
			must.FailGet(ledger.DecodeEdge(wrong))(t, zkbench.ErrMalformed, "%s", name)
		}
	}
	empty := ledger.NewEdge(ledger.Genesis{})
	data := empty.AppendTo(nil)
	data[0] = 1
	_, err := ledger.DecodeEdge(data)
	if d, ok := errors.AsType[*zkbench.DecodeError](err); !ok || d.Path != "last" {
		t.Errorf("2^56 records: %v", err)
	}
}

// TestCommitment: the commitment depends on the state, and on nothing else of how it came about.
func TestCommitment(t *testing.T) {
	issue := func(anchor, id, encoded string) ledger.Entry {
		return ledger.Entry{Anchor: []byte(anchor), Creates: []ledger.Created{{ID: token.ID(id), Token: []byte(encoded)}}}
	}
	spend := ledger.Entry{Anchor: []byte("s"), Spends: []token.ID{token.ID("x")}}
	after := func(entries ...ledger.Entry) [32]byte {
		e := ledger.NewEdge(ledger.Genesis{})
		for i := range entries {
			e.Append(&entries[i], entries[i].Append(nil))
		}
		return e.Commitment()
	}
	a, b := issue("a", "x", "token x"), issue("b", "y", "token y")
	golden.Equal(t, "in another order", after(a, b), after(b, a))
	golden.Equal(t, "of the other request", after(a, b), func() [32]byte {
		b := b
		b.Request, b.Spends = []byte("another request"), nil
		return after(a, b)
	}())
	update := ledger.Entry{Anchor: []byte("b"), Update: true, PolicyDigest: [64]byte{1}, Creates: b.Creates}
	otherDigest := update
	otherDigest.PolicyDigest[0]++
	later := b
	later.Time = later.Time.Add(1)
	digest := b
	digest.Digest[0]++
	seen := map[[32]byte]string{}
	for name, c := range map[string][32]byte{
		"empty": after(), "a": after(a), "a, b": after(a, b), "another token": after(a, issue("b", "y", "token z")), "another id": after(a, issue("b", "z", "token y")),
		"another anchor": after(a, issue("c", "y", "token y")), "spent": after(a, b, spend), "an update": after(a, update), "another update": after(a, otherDigest),
		"later": after(a, later), "another digest": after(a, digest),
	} {
		if other, twice := seen[c]; twice {
			t.Errorf("%s and %s have one commitment", name, other)
		}
		seen[c] = name
	}
}

// FuzzDecodeEdge: what decodes is the one encoding of an edge.
func FuzzDecodeEdge(f *testing.F) {
	for n := range 4 {
		e := appended(n)
		f.Add(e.AppendTo(nil))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := ledger.DecodeEdge(data)
		if err != nil {
			if d, ok := errors.AsType[*zkbench.DecodeError](err); !ok || d.Offset < 0 || d.Offset > len(data) {
				t.Fatalf("%v", err)
			}
			return
		}
		e.Root()
		if got := e.AppendTo(nil); !bytes.Equal(got, data) {
			t.Fatalf("%x came back as %x", data, got)
		}
	})
}
