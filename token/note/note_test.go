package note_test

import (
	"bytes"
	"crypto/hpke"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"filippo.io/edwards25519"
	"filippo.io/edwards25519/field"
	"github.com/google/go-cmp/cmp"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/note"
)

var kems = []token.KEM{token.X25519, token.MLKEM768X25519}

func place() note.Place {
	return note.Place{Ledger: token.LedgerID{1}, ID: token.ID("id"), Owner: []byte("owner")}
}

func opening(typ string) token.Opening {
	return token.Opening{Type: typ, Value: 1 << 40, Blinding: bytes.Repeat([]byte{7}, 32)}
}

func nonceOf(t testing.TB) (n note.Nonce) {
	t.Helper()
	must.Get(rand.Read(n[:]))(t)
	return n
}

// TestNote seals to two readers, each of whom finds its share by the tag and opens it.
func TestNote(t *testing.T) {
	for _, kem := range kems {
		for _, typ := range []string{"", "USD", strings.Repeat("x", 32), strings.Repeat("y", token.MaxType)} {
			readers := []*note.Reader{note.NewReader([]byte("a"), place().Ledger), note.NewReader([]byte("b"), place().Ledger)}
			var payees []note.Payee
			var nonces []note.Nonce
			for _, r := range readers {
				nonces = append(nonces, nonceOf(t))
				payees = append(payees, must.Get(r.Payee(nonces[len(nonces)-1], kem))(t))
			}
			raw := must.Get(note.Seal(place(), payees, opening(typ)))(t)
			if len(raw) > token.MaxNote {
				t.Errorf("%v: %d bytes", kem, len(raw))
			}
			shares := must.Get(note.Decode(raw))(t)
			for i, r := range readers {
				for j := range shares {
					nonce, mine := r.Mine(&shares[j].Tag)
					if mine != (i == j) || mine && nonce != nonces[i] {
						t.Fatalf("%v: reader %d, share %d: mine %v, nonce %x", kem, i, j, mine, nonce)
					}
					got, err := r.Open(place(), &shares[j], nonces[i])
					if i != j {
						must.Fail(t, err, zkbench.ErrMalformed, "another reader's share")
						continue
					}
					if err != nil || cmp.Diff(opening(typ), got) != "" {
						t.Errorf("%v: %v %s", kem, err, cmp.Diff(opening(typ), got))
					}
				}
			}
		}
	}
}

// TestElsewhere opens a note in places that are not its own.
func TestElsewhere(t *testing.T) {
	r := note.NewReader([]byte("seed"), place().Ledger)
	nonce := nonceOf(t)
	shares := must.Get(note.Decode(must.Get(note.Seal(place(), []note.Payee{must.Get(r.Payee(nonce, token.X25519))(t)}, opening("USD")))(t)))(t)
	must.Get(r.Open(place(), &shares[0], nonce))(t)
	for name, change := range map[string]func(*note.Place){
		"id":             func(p *note.Place) { p.ID = token.ID("iD") },
		"owner":          func(p *note.Place) { p.Owner = []byte("ownes") },
		"id/owner split": func(p *note.Place) { p.ID, p.Owner = token.ID("ido"), []byte("wner") },
	} {
		p := place()
		change(&p)
		must.FailGet(r.Open(p, &shares[0], nonce))(t, zkbench.ErrMalformed, name)
	}
	other := note.NewReader([]byte("seed"), token.LedgerID{2})
	if _, mine := other.Mine(&shares[0].Tag); mine {
		t.Error("a reader of the same seed finds the note of another ledger")
	}
	must.FailGet(other.Open(place(), &shares[0], nonce))(t, zkbench.ErrMalformed, "another ledger")
}

// TestTagIsAuthenticated changes every byte of a tag.
func TestTagIsAuthenticated(t *testing.T) {
	r := note.NewReader([]byte("seed"), place().Ledger)
	tag := r.Tag(nonceOf(t))
	for i := range tag {
		bad := tag
		bad[i] ^= 1
		if _, mine := r.Mine(&bad); mine {
			t.Errorf("byte %d is not authenticated", i)
		}
	}
}

// TestUnlinkable: two addresses of one payee share no 8 bytes in a row, and one address has one tag and key.
func TestUnlinkable(t *testing.T) {
	r := note.NewReader([]byte("seed"), place().Ledger)
	n := nonceOf(t)
	a, b, again := must.Get(r.Payee(n, token.X25519))(t), must.Get(r.Payee(nonceOf(t), token.X25519))(t), must.Get(r.Payee(n, token.X25519))(t)
	if a.Tag != again.Tag || !bytes.Equal(a.Key, again.Key) {
		t.Error("one nonce, two payees")
	}
	all := append(b.Tag[:], b.Key...)
	for i := range len(all) - 8 {
		if bytes.Contains(append(a.Tag[:], a.Key...), all[i:i+8]) {
			t.Error("two addresses have bytes in common")
		}
	}
}

// TestOwn: what a reader seals to itself it opens, in its place alone; it is as long as what others seal to it, and has a point of the
// curve in front; and nobody else opens it.
func TestOwn(t *testing.T) {
	r := note.NewReader([]byte("seed"), place().Ledger)
	for _, kem := range kems {
		nonce := nonceOf(t)
		own, foreign := must.Get(r.Own(nonce, kem))(t), must.Get(r.Payee(nonce, kem))(t)
		golden.Equal(t, "tag", foreign.Tag, own.Tag)
		a, b := must.Get(note.Seal(place(), []note.Payee{own}, opening("USD")))(t), must.Get(note.Seal(place(), []note.Payee{foreign}, opening("USD")))(t)
		golden.Equal(t, "bytes", len(b), len(a))
		share := must.Get(note.Decode(a))(t)[0]
		golden.Equal(t, "opening", opening("USD"), must.Get(r.Open(place(), &share, nonce))(t))
		again := must.Get(note.Decode(must.Get(note.Seal(place(), []note.Payee{own}, opening("USD")))(t)))(t)[0]
		if bytes.Equal(again.Sealed[:32], share.Sealed[:32]) {
			t.Errorf("%v: one point twice", kem)
		}
		if kem == token.X25519 {
			// On the curve and not its twist, and of prime order: as an ephemeral key is. Of random bytes that holds for 1 of 16.
			u := must.Get(new(field.Element).SetBytes(share.Sealed[:32]))(t)
			one := new(field.Element).One()
			y := new(field.Element).Multiply(new(field.Element).Subtract(u, one), new(field.Element).Invert(new(field.Element).Add(u, one)))
			p, err := new(edwards25519.Point).SetBytes(y.Bytes())
			if err != nil || new(edwards25519.Point).MultByCofactor(p).Equal(edwards25519.NewIdentityPoint()) == 1 {
				t.Errorf("not a point of the curve: %v", err)
			}
		}
		other := place()
		other.ID = token.ID("another")
		must.FailGet(r.Open(other, &share, nonce))(t, zkbench.ErrMalformed, "another place")
		must.FailGet(r.Open(place(), &share, nonceOf(t)))(t, zkbench.ErrMalformed, "another address")
		must.FailGet(note.NewReader([]byte("other"), place().Ledger).Open(place(), &share, nonce))(t, zkbench.ErrMalformed, "another reader")
	}
	must.FailGet(r.Own(note.Nonce{}, 1))(t, zkbench.ErrParams, "KEM")
}

// TestForeignVector: another program, from docs/wallets.md and RFC 9180 alone, finds the same nonces and keys, and its note opens.
func TestForeignVector(t *testing.T) {
	vector := make(map[string][]byte)
	value := ""
	for line := range strings.Lines(golden.Read(t, "token/notes.txt")) {
		name, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name == "value" {
			value = text
			continue
		}
		vector[name] = must.Get(hex.DecodeString(text))(t)
	}
	r := note.NewReader(vector["seed"], token.LedgerID(vector["ledger"]))
	payee := must.Get(r.Payee(note.Nonce(vector["nonce"]), token.X25519))(t)
	golden.Equal(t, "tag", vector["tag"], payee.Tag[:])
	golden.Equal(t, "key", vector["key"], payee.Key)
	shares := must.Get(note.Decode(vector["note"]))(t)
	nonce, mine := r.Mine(&shares[0].Tag)
	if !mine || !bytes.Equal(nonce[:], vector["nonce"]) {
		t.Errorf("nonce %x, mine: %v", nonce, mine)
	}
	o := must.Get(r.Open(note.Place{ID: vector["id"], Owner: vector["owner"]}, &shares[0], nonce))(t)
	golden.Equal(t, "opening", token.Opening{Type: string(vector["type"]), Value: must.Get(strconv.ParseUint(value, 10, 64))(t), Blinding: vector["blinding"]}, o)
}

// TestVectors are this package's own: what a seed finds today it finds for ever.
func TestVectors(t *testing.T) {
	r := note.NewReader([]byte("seed"), place().Ledger)
	tag := r.Tag(note.Nonce{1})
	if got := hex.EncodeToString(tag[:]); got != tagVector {
		t.Errorf("tag %s", got)
	}
	for _, kem := range kems {
		key := must.Get(r.Payee(note.Nonce{1}, kem))(t).Key
		if got := hex.EncodeToString(key[:8]); got != keyVectors[kem] {
			t.Errorf("%v: key %s", kem, got)
		}
	}
}

func TestRefused(t *testing.T) {
	r := note.NewReader([]byte("seed"), place().Ledger)
	good := must.Get(r.Payee(note.Nonce{}, token.X25519))(t)
	seal := func(change func(*note.Payee, *token.Opening)) error {
		p, o := good, opening("USD")
		p.Key = bytes.Clone(p.Key)
		change(&p, &o)
		_, err := note.Seal(place(), []note.Payee{p}, o)
		return err
	}
	must.Fail(t, seal(func(p *note.Payee, _ *token.Opening) { p.KEM = 1 }), zkbench.ErrParams, "KEM")
	must.Fail(t, seal(func(p *note.Payee, _ *token.Opening) { p.Key = p.Key[1:] }), zkbench.ErrParams, "short key")
	must.Fail(t, seal(func(p *note.Payee, _ *token.Opening) { clear(p.Key) }), zkbench.ErrParams, "key of small order")
	must.Fail(t, seal(func(_ *note.Payee, o *token.Opening) { o.Blinding = o.Blinding[1:] }), zkbench.ErrLimit, "blinding")
	must.Fail(t, seal(func(_ *note.Payee, o *token.Opening) { o.Type = strings.Repeat("x", token.MaxType+1) }), zkbench.ErrLimit, "type")
	must.FailGet(note.Seal(place(), nil, opening("USD")))(t, zkbench.ErrLimit, "nobody")
	must.FailGet(note.Seal(place(), make([]note.Payee, token.MaxMembers+1), opening("USD")))(t, zkbench.ErrLimit, "too many")
	must.FailGet(r.Payee(note.Nonce{}, 1))(t, zkbench.ErrParams, "KEM of a payee")

	raw := must.Get(note.Seal(place(), []note.Payee{good}, opening("USD")))(t)
	for i := range raw {
		must.FailGet(note.Decode(raw[:i]))(t, zkbench.ErrMalformed, "truncated")
	}
	must.FailGet(note.Decode(append(bytes.Clone(raw), 0)))(t, zkbench.ErrMalformed, "trailing")
	shares := must.Get(note.Decode(raw))(t)
	shares[0].KEM = 1
	must.FailGet(r.Open(place(), &shares[0], note.Nonce{}))(t, zkbench.ErrMalformed, "unknown KEM")
}

// TestOpeningForm: what a share seals has one form.
func TestOpeningForm(t *testing.T) {
	r := note.NewReader([]byte("seed"), place().Ledger)
	payee := must.Get(r.Payee(note.Nonce{}, token.X25519))(t)
	info := slices.Concat([]byte("zkbench/v3/note"), make([]byte, 32), []byte{2}, []byte("idowner"))
	info[len("zkbench/v3/note")] = 1
	plain := slices.Concat(make([]byte, 8), make([]byte, 32), []byte{0, 3}, []byte("USD"), make([]byte, 29))
	for name, test := range map[string]struct {
		edit func(plain []byte) []byte
		want error
	}{
		"as it is":        {func(plain []byte) []byte { return plain }, nil},
		"not filled up":   {func(plain []byte) []byte { return plain[:len(plain)-29] }, zkbench.ErrMalformed},
		"filled up more":  {func(plain []byte) []byte { return append(plain, make([]byte, 32)...) }, zkbench.ErrMalformed},
		"not with zeros":  {func(plain []byte) []byte { plain[len(plain)-1] = 1; return plain }, zkbench.ErrMalformed},
		"type too long":   {func(plain []byte) []byte { plain[40] = 0xff; return plain }, zkbench.ErrMalformed},
		"nothing of it":   {func([]byte) []byte { return nil }, zkbench.ErrMalformed},
		"without a value": {func(plain []byte) []byte { return plain[8:] }, zkbench.ErrMalformed},
	} {
		key := must.Get(must.Get(token.X25519.HPKE())(t).NewPublicKey(payee.Key))(t)
		sealed := must.Get(hpke.Seal(key, hpke.HKDFSHA256(), hpke.ChaCha20Poly1305(), info, test.edit(bytes.Clone(plain))))(t)
		o, err := r.Open(place(), &note.Share{Tag: payee.Tag, KEM: token.X25519, Sealed: sealed}, note.Nonce{})
		if !errors.Is(err, test.want) || err == nil && o.Type != "USD" {
			t.Errorf("%s: %+v, %v", name, o, err)
		}
	}
	for _, n := range []int{1, 31, 32, 47} {
		must.FailGet(r.Open(place(), &note.Share{KEM: token.MLKEM768X25519, Sealed: make([]byte, n)}, note.Nonce{}))(t, zkbench.ErrMalformed, "%d bytes", n)
	}
}

func FuzzDecode(f *testing.F) {
	r := note.NewReader([]byte("seed"), place().Ledger)
	for _, kem := range kems {
		f.Add(must.Get(note.Seal(place(), []note.Payee{must.Get(r.Payee(note.Nonce{}, kem))(f)}, opening("USD")))(f))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		shares, err := note.Decode(data)
		if err != nil {
			return
		}
		for i := range shares {
			if nonce, mine := r.Mine(&shares[i].Tag); mine {
				_, _ = r.Open(place(), &shares[i], nonce)
			}
		}
	})
}

func BenchmarkSeal(b *testing.B) {
	for _, kem := range kems {
		b.Run(kem.String(), func(b *testing.B) {
			p := must.Get(note.NewReader(nil, place().Ledger).Payee(note.Nonce{}, kem))(b)
			for b.Loop() {
				must.Get(note.Seal(place(), []note.Payee{p}, opening("USD")))(b)
			}
		})
	}
}

func BenchmarkSealOwn(b *testing.B) {
	p := must.Get(note.NewReader(nil, place().Ledger).Own(note.Nonce{}, token.X25519))(b)
	for b.Loop() {
		must.Get(note.Seal(place(), []note.Payee{p}, opening("USD")))(b)
	}
}

// BenchmarkMine is what a foreign note costs a wallet, decoding apart.
func BenchmarkMine(b *testing.B) {
	r := note.NewReader(nil, place().Ledger)
	var tag [note.TagLen]byte
	b.ReportAllocs()
	for b.Loop() {
		if _, mine := r.Mine(&tag); mine {
			b.Fatal("mine")
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	for _, kem := range kems {
		b.Run(kem.String(), func(b *testing.B) {
			r := note.NewReader(nil, place().Ledger)
			shares := must.Get(note.Decode(must.Get(note.Seal(place(), []note.Payee{must.Get(r.Payee(note.Nonce{}, kem))(b)}, opening("USD")))(b)))(b)
			for b.Loop() {
				must.Get(r.Open(place(), &shares[0], note.Nonce{}))(b)
			}
		})
	}
}

func BenchmarkPayee(b *testing.B) {
	r := note.NewReader(nil, place().Ledger)
	for b.Loop() {
		must.Get(r.Payee(note.Nonce{}, token.X25519))(b)
	}
}

const tagVector = "38cb756d173191bffc892bcd4b083d49a7ee72044e0a7b70d1d7ea238de96783e23f33e687abdc4ce4fc2be049f0715e"

var keyVectors = map[token.KEM]string{token.X25519: "b0d9d9becb1997b3", token.MLKEM768X25519: "e982ae3de09e4017"}
