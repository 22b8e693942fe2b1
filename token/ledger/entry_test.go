package ledger_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
)

func example() ledger.Entry {
	return ledger.Entry{
		Anchor: []byte("tx1"), Digest: sha256.Sum256([]byte("request")), Time: time.Unix(1700000000, 5).UTC(),
		Policy: 9, PolicyDigest: [64]byte{6}, Update: true,
		Request: []byte("request"), Spends: []token.ID{token.ID("a"), token.ID("b")},
		Creates: []ledger.Created{{ID: token.ID("c"), Token: []byte("token c")}},
	}
}

// Vectors computed with Python's hashlib and struct from the formulas.
func TestVectors(t *testing.T) {
	e := example()
	data := e.Append(nil)
	const want = "037478311f58b9145b24d108d7ac38887338b3ea3229833b9c1e418250343f907bfd1047000000006553f10000000005000000000000000906000000" +
		"000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000010000000772657175657374000201610162000101630007746f6b656e2063"
	golden.Equal(t, "entry", want, hex.EncodeToString(data))
	r := ledger.Record{Seq: 1, Entry: e, Commitment: [32]byte{8}}
	golden.Equal(t, "leaf", "49731b786a17d1bf4969b9356f861cc3d18c36d0925bdeabc229c9fab33e13d3", hexOf(r.Leaf()))
	g := ledger.Genesis{Params: [64]byte{1}, Policy: [64]byte{5}, Nonce: [32]byte{2}}
	golden.Equal(t, "leaf of the genesis", "9685da650ed70b5931d8b7d2893b3f07d60673cb02db4d5a67ad98b8adbddd84", hexOf(g.Leaf()))
	golden.Equal(t, "ledger id", "a0239636af6476c4b6dc7439c8fe1653f505d90854bfb5922dc7ae52b5684887", hexOf(g.ID()))
}

// TestGenesis: what is encoded is decoded, and all of it is in the id; other lengths are refused.
func TestGenesis(t *testing.T) {
	params := must.Get(token.NewPublicParams("BN254", 8, token.CSP))(t)
	g, other := must.Get(ledger.NewGenesis(params))(t), must.Get(ledger.NewGenesis(params))(t)
	golden.Equal(t, "parameters", must.Get(params.Digest())(t), g.Params)
	golden.Equal(t, "policy", must.Get(params.Policy.Digest())(t), g.Policy)
	if g.ID() == other.ID() {
		t.Error("two new ledgers of one id")
	}
	data := g.Append(nil)
	golden.Equal(t, "decoded", g, must.Get(ledger.DecodeGenesis(data))(t))
	for i := range data {
		data[i] ^= 1
		if must.Get(ledger.DecodeGenesis(data))(t).ID() == g.ID() {
			t.Errorf("byte %d is not in the id", i)
		}
		data[i] ^= 1
	}
	for _, wrong := range [][]byte{nil, data[1:], append(data, 0)} {
		must.FailGet(ledger.DecodeGenesis(wrong))(t, zkbench.ErrMalformed, "%d bytes", len(wrong))
	}
	must.Do(t, g.CheckParams(g.Params))
	must.Fail(t, g.CheckParams([64]byte{}), zkbench.ErrParams, "other parameters")
	params.Bits = 0
	must.FailGet(ledger.NewGenesis(params))(t, zkbench.ErrParams, "parameters that are none")
}

func entries() *rapid.Generator[ledger.Entry] {
	id := rapid.Custom(func(t *rapid.T) token.ID {
		return rapid.SliceOfN(rapid.Byte(), 1, token.MaxID).Draw(t, "id")
	})
	created := rapid.Custom(func(t *rapid.T) ledger.Created {
		return ledger.Created{ID: id.Draw(t, "id"), Token: rapid.SliceOfN(rapid.Byte(), 1, 300).Draw(t, "token")}
	})
	return rapid.Custom(func(t *rapid.T) ledger.Entry {
		e := ledger.Entry{
			Anchor: rapid.SliceOfN(rapid.Byte(), 1, token.MaxAnchor).Draw(t, "anchor"),
			Time:   time.Unix(rapid.Int64().Draw(t, "seconds"), rapid.Int64Range(0, 1e9-1).Draw(t, "nanoseconds")).UTC(),
			Policy: rapid.Uint64().Draw(t, "policy"), Update: rapid.Bool().Draw(t, "update"),
			Request: rapid.SliceOfN(rapid.Byte(), 0, 100).Draw(t, "request"),
			Spends:  rapid.SliceOfN(id, 0, 4).Draw(t, "spends"),
			Creates: rapid.SliceOfN(created, 0, 4).Draw(t, "creates"),
		}
		copy(e.PolicyDigest[:], rapid.SliceOfN(rapid.Byte(), 64, 64).Draw(t, "policy digest"))
		copy(e.Digest[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "digest"))
		return e
	})
}

// TestRoundTrip: an entry comes back, and no proper prefix or extension of its
// encoding decodes.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := entries().Draw(t, "entry")
		must.Do(t, e.Check(0))
		data := e.Append(nil)
		golden.Equal(t, "size", len(data), e.Size())
		got := must.Get(ledger.DecodeEntry(data))(t)
		if !bytes.Equal(got.Append(nil), data) || !got.Time.Equal(e.Time) {
			t.Fatalf("%+v came back as %+v", e, got)
		}
		cut := rapid.IntRange(0, len(data)-1).Draw(t, "cut")
		for _, bad := range [][]byte{data[:cut], append(bytes.Clone(data), 0)} {
			var d *zkbench.DecodeError
			if _, err := ledger.DecodeEntry(bad); !errors.As(err, &d) {
				t.Fatalf("%d of %d bytes: %v", len(bad), len(data), err)
			}
		}
	})
}

func TestDecodeErrors(t *testing.T) {
	e := example()
	good := e.Append(nil)
	const seconds, request = 1 + 3 + 32, 1 + 3 + 32 + 12 + 8 + 64 + 1 // offsets of the time, and of the request's length
	for _, c := range []struct {
		name   string
		at     int
		b      byte
		path   string
		offset int
	}{
		{"anchor=empty", 0, 0, "anchor", 0},
		{"anchor=129", 0, 129, "anchor", 0},
		{"nanoseconds=1e9", seconds + 8, 0x3c, "time", seconds + 8},
		{"update=2", request - 1, 2, "update", request - 1},
		{"request=16M+", request, 2, "request", request},
		{"spends=truncated", request + 4 + 7, 9, "spends", request + 4 + 7},
		{"spends=many", request + 4 + 7, 0xff, "spends", request + 4 + 7},
		{"spend=empty", request + 4 + 7 + 2, 0, "spends[0]", request + 4 + 7 + 2},
		{"token=long", len(good) - 9, 0xff, "creates[0]", len(good) - 9},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := bytes.Clone(good)
			data[c.at] = c.b
			if c.name == "nanoseconds=1e9" {
				copy(data[c.at:], []byte{0x3b, 0x9a, 0xca, 0x00})
			}
			_, err := ledger.DecodeEntry(data)
			if d, ok := errors.AsType[*zkbench.DecodeError](err); !ok || !errors.Is(err, zkbench.ErrMalformed) || d.Path != c.path || d.Offset != c.offset {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	if e := example(); e.Check(3) != nil {
		t.Fatal(e.Check(3))
	}
	long := func(n int) []byte { return make([]byte, n) }
	for name, c := range map[string]struct {
		change func(*ledger.Entry)
		check  string
		index  int
	}{
		"anchor=0":        {func(e *ledger.Entry) { e.Anchor = nil }, "anchor", -1},
		"anchor=max+1":    {func(e *ledger.Entry) { e.Anchor = long(token.MaxAnchor + 1) }, "anchor", -1},
		"request=max+1":   {func(e *ledger.Entry) { e.Request = long(token.MaxRequest + 1) }, "request", -1},
		"spends=max+1":    {func(e *ledger.Entry) { e.Spends = make([]token.ID, ledger.MaxSpends+1) }, "spend", -1},
		"creates=max+1":   {func(e *ledger.Entry) { e.Creates = make([]ledger.Created, ledger.MaxCreates+1) }, "create", -1},
		"spend id=0":      {func(e *ledger.Entry) { e.Spends[1] = nil }, "spend", 1},
		"spend id=max+1":  {func(e *ledger.Entry) { e.Spends[1] = long(token.MaxID + 1) }, "spend", 1},
		"create id=0":     {func(e *ledger.Entry) { e.Creates[0].ID = nil }, "create", 0},
		"create id=max+1": {func(e *ledger.Entry) { e.Creates[0].ID = long(token.MaxID + 1) }, "create", 0},
		"token=0":         {func(e *ledger.Entry) { e.Creates[0].Token = nil }, "create", 0},
		"token=max+1":     {func(e *ledger.Entry) { e.Creates[0].Token = long(ledger.MaxToken + 1) }, "create", 0},
	} {
		t.Run(name, func(t *testing.T) {
			e := example()
			c.change(&e)
			err := e.Check(3)
			var check *zkbench.CheckError
			var limit *zkbench.LimitError
			if !errors.As(err, &check) || !errors.As(err, &limit) {
				t.Fatalf("%v", err)
			}
			got := fmt.Sprint(check.Check, check.Action, check.Index)
			golden.Equal(t, "check and place", fmt.Sprint(c.check, 3, c.index), got)
		})
	}
}

// FuzzDecodeEntry: what decodes is the one encoding of an entry within the
// limits.
func FuzzDecodeEntry(f *testing.F) {
	e := example()
	f.Add(e.Append(nil))
	f.Add((&ledger.Entry{Anchor: []byte{1}}).Append(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := ledger.DecodeEntry(data)
		if err != nil {
			if d, ok := errors.AsType[*zkbench.DecodeError](err); !ok || d.Offset < 0 || d.Offset > len(data) {
				t.Fatalf("%v", err)
			}
			return
		}
		must.Do(t, e.Check(0))
		if got := e.Append(nil); !bytes.Equal(got, data) {
			t.Fatalf("%x came back as %x", data, got)
		}
	})
}

func hexOf(hash [32]byte) string { return hex.EncodeToString(hash[:]) }
