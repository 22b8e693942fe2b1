package request_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/request"
)

func draw(t *rapid.T) *request.Request {
	data := func(name string, lo, hi int) []byte { return rapid.SliceOfN(rapid.Byte(), lo, hi).Draw(t, name) }
	r := &request.Request{Anchor: data("anchor", 1, token.MaxAnchor), Until: rapid.Uint64().Draw(t, "until")}
	for range rapid.IntRange(1, 4).Draw(t, "actions") {
		a := request.Action{
			Kind:      rapid.SampledFrom([]token.Kind{token.Issue, token.Transfer}).Draw(t, "kind"),
			ProofType: rapid.SampledFrom(token.ProofTypes()).Draw(t, "proof type"),
			Raw:       data("action", 1, 100),
		}
		for range rapid.IntRange(0, 3).Draw(t, "spends") {
			s := request.Spend{Unlock: data("unlock", 0, 40), Preimage: data("preimage", 0, request.MaxPreimage)}
			for range rapid.IntRange(0, 3).Draw(t, "signatures") {
				s.Signatures = append(s.Signatures, data("signature", 0, 64))
			}
			a.Spends = append(a.Spends, s)
		}
		if rapid.Bool().Draw(t, "issuer") {
			a.Issuer = &request.Issuer{Identity: data("issuer", 1, 40), Signature: data("issuer's signature", 0, 64)}
		}
		r.Actions = append(r.Actions, a)
	}
	for range rapid.IntRange(0, 2).Draw(t, "auditors") {
		r.Auditors = append(r.Auditors, data("auditor's signature", 0, 64))
	}
	return r
}

func encode(t testing.TB, r *request.Request) []byte {
	t.Helper()
	return must.Get(r.Encode())(t)
}

// sameBytes treats empty and nil slices as equal.
var sameBytes = cmp.Comparer(func(a, b []byte) bool { return bytes.Equal(a, b) })

// TestEncoding: what is decoded is what was encoded, and no other bytes decode to
// the same; the message commits to all but signatures and unlocks.
func TestEncoding(t *testing.T) {
	t.Parallel()
	of := token.LedgerID{1, 2, 3}
	rapid.Check(t, func(t *rapid.T) {
		r := draw(t)
		data := must.Get(r.Encode())(t)
		got := must.Get(request.Decode(data))(t)
		golden.Equal(t, "request", r, got, sameBytes)
		i := rapid.IntRange(0, len(data)-1).Draw(t, "byte")
		flipped := bytes.Clone(data)
		flipped[i] ^= byte(rapid.IntRange(1, 255).Draw(t, "flip"))
		other, err := request.Decode(flipped)
		if err != nil {
			must.Fail(t, err, zkbench.ErrMalformed, "untyped error")
			return
		}
		golden.Equal(t, "what was decoded, encoded again", flipped, must.Get(other.Encode())(t))
		unsigned := func(r *request.Request) *request.Request {
			c := &request.Request{Anchor: r.Anchor, Until: r.Until}
			for _, a := range r.Actions {
				next := request.Action{Kind: a.Kind, ProofType: a.ProofType, Raw: a.Raw}
				if a.Issuer != nil {
					next.Issuer = &request.Issuer{Identity: a.Issuer.Identity}
				}
				c.Actions = append(c.Actions, next)
			}
			return c
		}
		same := cmp.Equal(unsigned(r), unsigned(other), sameBytes)
		if (r.Message(of) == other.Message(of)) != same || (r.Digest(of) == other.Digest(of)) != same {
			t.Errorf("same but for signatures: %v; messages %x and %x", same, r.Message(of), other.Message(of))
		}
		audited := func(r *request.Request) *request.Request {
			c := unsigned(r)
			for i, a := range r.Actions {
				for _, s := range a.Spends {
					c.Actions[i].Spends = append(c.Actions[i].Spends, request.Spend{Unlock: s.Unlock})
				}
			}
			return c
		}
		same = cmp.Equal(audited(r), audited(other), sameBytes)
		if (r.AuditMessage(r.Message(of)) == other.AuditMessage(other.Message(of))) != same {
			t.Errorf("same but for signatures and preimages: %v, and another message of auditors", same)
		}
		golden.Equal(t, "message without preimages", r.AuditMessage(r.Message(of)), r.WithoutPreimages().AuditMessage(r.WithoutPreimages().Message(of)))
		for _, a := range r.WithoutPreimages().Actions {
			for _, s := range a.Spends {
				golden.Equal(t, "preimage", 0, len(s.Preimage))
			}
		}
		golden.Equal(t, "request after it", data, must.Get(r.Encode())(t))
	})
}

// TestToSign: a signature says in which role, of what and as whom.
func TestToSign(t *testing.T) {
	t.Parallel()
	m, one := [64]byte{1}, []byte{1}
	signed := request.ToSign(m, request.Owner, 0, one)
	for name, other := range map[string][64]byte{
		"message":  request.ToSign([64]byte{2}, request.Owner, 0, one),
		"role":     request.ToSign(m, request.IssuerRole, 0, one),
		"of":       request.ToSign(m, request.Owner, 1, one),
		"identity": request.ToSign(m, request.Owner, 0, []byte{2}),
	} {
		if signed == other {
			t.Errorf("another %s is signed alike", name)
		}
	}
}

func TestMessageBindsTheLedger(t *testing.T) {
	t.Parallel()
	r := &request.Request{Anchor: []byte{1}, Actions: []request.Action{{Kind: token.Issue, ProofType: token.CSP, Raw: []byte{1}}}}
	if r.Message(token.LedgerID{1}) == r.Message(token.LedgerID{2}) {
		t.Error("one message on two ledgers")
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	good := func() *request.Request {
		return &request.Request{
			Anchor: []byte("anchor"),
			Actions: []request.Action{{
				Kind: token.Transfer, ProofType: token.CSP, Raw: []byte("raw"),
				Spends: []request.Spend{{Unlock: []byte{1}, Preimage: []byte{7}, Signatures: [][]byte{{2}, {6}}}}, Issuer: &request.Issuer{Identity: []byte{3}, Signature: []byte{4}},
			}},
			Auditors: [][]byte{{5}},
		}
	}
	data := encode(t, good())
	for n := range data {
		must.FailGet(request.Decode(data[:n]))(t, zkbench.ErrMalformed, "%d of %d bytes", n, len(data))
	}
	// head is a request with an anchor of one byte and no end, and the bytes given.
	head := func(rest ...byte) []byte {
		return append(append([]byte{request.Version, 1, 7}, make([]byte, 8)...), rest...)
	}
	spend := func(signatures ...byte) []byte { // a request up to the signatures of its first spend, and the bytes given
		return append(head(1, 2, 1, 'x', 0, 0, 1, 1, 1, 0, 0, 0), signatures...)
	}
	// many encodes so many signatures of owners, 16 a spend and 64 spends an action.
	many := func(n int) []byte {
		out := head(2)
		for n > 0 {
			spends := min((n+15)/16, 64)
			out = append(out, 2, 1, 'x', 0, 0, 1, 1, byte(spends))
			for range spends {
				m := min(n, 16)
				out = append(append(out, 0, 0, 0, byte(m)), make([]byte, 2*m)...)
				n -= m
			}
			out = append(out, 0, 0)
		}
		return append(out, 0, 0)
	}
	one := append(head(1), many(request.MaxSignatures)[12:]...)
	must.Get(request.Decode(one))(t) // as many as there may be
	for _, test := range []struct {
		name string
		data []byte
		path string
	}{
		{"trailing", append(bytes.Clone(data), 0), "request"},
		{"version=1", append([]byte{1}, data[1:]...), "version"},
		{"version=3", append([]byte{3}, data[1:]...), "version"},
		{"anchor=none", append([]byte{request.Version, 0}, data[8:]...), "anchor"},
		{"actions=0", head(0, 0, 0), "actions"},
		{"actions=17", head(append([]byte{17}, make([]byte, 100)...)...), "actions"},
		{"kind=9", head(1, 9, 1, 'x', 0, 0, 1, 1, 0, 0, 0, 0, 0), "actions[0].kind"},
		{"action=3 MiB", head(1, 1, 1, 'x', 0x30, 0, 0), "actions[0].action"},
		{"issuer of 4097 bytes", head(1, 1, 1, 'x', 0, 0, 1, 1, 0, 0x10, 1), "actions[0].issuer"},
		{"issuer without a signature", head(1, 1, 1, 'x', 0, 0, 1, 1, 0, 0, 1, 9), "actions[0].issuer.signature"},
		{"preimage of 65 bytes", head(1, 2, 1, 'x', 0, 0, 1, 1, 1, 0, 0, 65), "actions[0].spends[0].preimage"},
		{"signatures=17", spend(17), "actions[0].spends[0].signatures"},
		{"signature of 1025 bytes", spend(append([]byte{2, 0, 0, 4, 1}, make([]byte, 1025+3)...)...), "actions[0].spends[0].signatures[1]"},
		{"signatures=1025 in all", many(1025), "actions[1].spends[0].signatures"},
		{"too long", make([]byte, token.MaxRequest+1), "request"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := request.Decode(test.data)
			if d, ok := errors.AsType[*zkbench.DecodeError](err); !ok || d.Path != test.path {
				t.Errorf("%v, want a DecodeError at %s", err, test.path)
			}
		})
	}
	long := good()
	long.Actions[0].Spends[0].Signatures[1] = make([]byte, request.MaxSignature+1)
	must.FailGet(long.Encode())(t, zkbench.ErrLimit, "an owner's signature of %d bytes", request.MaxSignature+1)
	for name, edit := range map[string]func(r *request.Request){
		"bytes of anchor":       func(r *request.Request) { r.Anchor = nil },
		"actions":               func(r *request.Request) { r.Actions = nil },
		"bytes of proof type":   func(r *request.Request) { r.Actions[0].ProofType = strings.Repeat("x", 33) },
		"bytes of action":       func(r *request.Request) { r.Actions[0].Raw = make([]byte, request.MaxAction+1) },
		"spends":                func(r *request.Request) { r.Actions[0].Spends = make([]request.Spend, token.MaxTokens+1) },
		"bytes of unlock":       func(r *request.Request) { r.Actions[0].Spends[0].Unlock = make([]byte, request.MaxUnlock+1) },
		"signatures of a spend": func(r *request.Request) { r.Actions[0].Spends[0].Signatures = make([][]byte, token.MaxMembers+1) },
		"signatures of owners": func(r *request.Request) {
			full := request.Spend{Signatures: make([][]byte, token.MaxMembers)}
			r.Actions[0].Spends = slices.Repeat([]request.Spend{full}, token.MaxTokens)
			r.Actions = append(r.Actions, request.Action{Kind: token.Transfer, ProofType: token.CSP, Raw: []byte{1}, Spends: []request.Spend{{Signatures: make([][]byte, 1)}}})
		},
		"bytes of signature":     func(r *request.Request) { r.Auditors[0] = make([]byte, request.MaxSignature+1) },
		"bytes of issuer":        func(r *request.Request) { r.Actions[0].Issuer.Identity = nil },
		"bytes of preimage":      func(r *request.Request) { r.Actions[0].Spends[0].Preimage = make([]byte, request.MaxPreimage+1) },
		"signatures of auditors": func(r *request.Request) { r.Auditors = make([][]byte, token.MaxIdentities+1) },
		"bytes of request": func(r *request.Request) {
			a := request.Action{Kind: token.Issue, ProofType: token.CSP, Raw: make([]byte, request.MaxAction)}
			r.Actions = slices.Repeat([]request.Action{a}, token.MaxRequest/request.MaxAction)
		},
	} {
		r := good()
		edit(r)
		_, err := r.Encode()
		if l, ok := errors.AsType[*zkbench.LimitError](err); !ok || l.What != name {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestOutputIDs: no two outputs of any requests with different anchors share an id.
func TestOutputIDs(t *testing.T) {
	t.Parallel()
	of := token.LedgerID{1}
	rapid.Check(t, func(t *rapid.T) {
		part := func(name string) ([]byte, int, int) {
			return rapid.SliceOfN(rapid.ByteRange(0, 1), 1, 6).Draw(t, name), rapid.IntRange(0, 2).Draw(t, name+" action"), rapid.IntRange(0, 2).Draw(t, name+" output")
		}
		a, i, j := part("first")
		b, k, l := part("second")
		same := bytes.Equal(a, b) && i == k && j == l
		if bytes.Equal(request.OutputID(a, i, j), request.OutputID(b, k, l)) != same {
			t.Errorf("%x %d %d and %x %d %d", a, i, j, b, k, l)
		}
		if (request.ActionAnchor(of, a, i) == request.ActionAnchor(of, b, k)) != (bytes.Equal(a, b) && i == k) {
			t.Errorf("anchors of %x %d and %x %d", a, i, b, k)
		}
		if request.ActionAnchor(of, a, i) == request.ActionAnchor(token.LedgerID{}, a, i) {
			t.Errorf("one anchor of %x %d on two ledgers", a, i)
		}
	})
	golden.Equal(t, "bytes of the longest id", token.MaxID, len(request.OutputID(make([]byte, token.MaxAnchor), 1, 1)))
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte{request.Version, 1, 7, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 'x', 0, 0, 1, 1, 0, 0, 0, 0, 0})
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := request.Decode(data)
		if err != nil {
			must.Fail(t, err, zkbench.ErrMalformed, "untyped error")
			return
		}
		golden.Equal(t, "the same request, encoded again", data, must.Get(r.Encode())(t))
	})
}
