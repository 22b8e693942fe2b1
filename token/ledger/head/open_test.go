package head_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger/head"
)

// realCheckpoint is a checkpoint of a Certificate Transparency log, with cosignatures of four public witnesses, as the
// tests of the Python library tlog_scales have it (TestCheckpointSigning).
const realCheckpoint = `arche2025h1.staging.ct.transparency.dev
1432088532
U7WM79jrzyhGZ5/GUBTpM7NzwdyfFx61t3RovgcC4Ro=

— arche2025h1.staging.ct.transparency.dev zTM8sQAAAZ5W0WdjBAMARjBEAiBjW5IQf9pvsYLfQFX6hoGREPMHbdQ3urbllzalApkptQIgIpwtEroeW2BXaHAI4kJXFbon5Ch9MNL5zRNZ55lvGt0=
— arche2025h1.staging.ct.transparency.dev ui8GwCF1+kWqZrxGdhj4aX3gcw7XUlXQQabg/27lefwhUkzbC3NygNI75MdhL1bfTW9g8Ei59RA23oHP7Ry1k3ZFWwQ=
— transparency.dev/DEV:witness-little-garden 2AQqhwAAAABqEiEgzgFIqqhbUoDwjMWE6UP8nd8/KYTzwZ2rhIgcqoXHAwVkjZr4AscylP3v7sEodkRAErumC2q44vdgJY096st5BQ==
— witness1.smartit.nu/witness1 pIyCDwAAAABqEiEghIp82KWebrw7/oHQwlTAm3g2RKS4+eebl8eO0WH+/iEcxZ75W3u5hNI7TOQtmJbqmNWVuE0tgh0XwzdZsDsUAQ==
— remora.n621.de 2net5wAAAABqEiEgPlfF3V06o0Y+fHM+J5J9s27wgxxcOVSpZ/2g/KSiXCg9DEZI+aVCIobWX9sXTynk5XeU/zZ0WBxtqB0DrAWfBw==
— witness.stagemole.eu Z/euoAAAAABqEiEgw0i+7g2ENfDAWHmtRzCfKTHSDwYDJA2NmKeGi9Y8FtEyOUvVr+AJmIY/2TUFucgKi7lI7cUiOvKFYe/TmN9DAg==
`

// realWitnesses are the verifier keys (C2SP signed-note, "Verifier keys") that its witnesses publish: on
// transparency.dev/witnesses, witness1.smartit.nu/witness1/about.txt, remora.n621.de and witness.stagemole.eu/about.
var realWitnesses = []string{
	"transparency.dev/DEV:witness-little-garden+d8042a87+BCtusOxINQNUTN5Oj8HObRkh2yHf/MwYaGX4CPdiVEPM",
	"witness1.smartit.nu/witness1+a48c820f+BPSFWg9G6KPiO7QPryYO5Xq4oYJJ+kAvLKLSimDhoxMO",
	"remora.n621.de+da77ade7+BOvN63jn/bLvkieywe8R6UYAtVtNbZpXh34x7onlmtw2",
	"witness.stagemole.eu+67f7aea0+BEqSG3yu9YrmcM3BHvQYTxwFj3uSWakQepafafpUqklv",
}

// TestRealWitnesses: key ids and cosignatures of four implementations in use are those of the package.
func TestRealWitnesses(t *testing.T) {
	t.Parallel()
	var all []note.Verifier
	for _, vkey := range realWitnesses {
		parts := strings.SplitN(vkey, "+", 3)
		material := must.Get(base64.StdEncoding.DecodeString(parts[2]))(t)
		v := head.NewVerifier(parts[0], [32]byte(material[1:]))
		golden.Equal(t, "name", parts[0], v.Name())
		golden.Equal(t, parts[0]+": key id", parts[1], fmt.Sprintf("%08x", v.KeyHash()))
		golden.Equal(t, parts[0]+": signature type", 4, int(material[0]))
		all = append(all, v)
	}
	n := must.Get(note.Open([]byte(realCheckpoint), note.VerifierList(all...)))(t)
	golden.Equal(t, "verified", len(realWitnesses), len(n.Sigs))
	for i, v := range all {
		one := note.VerifierList(v)
		_ = must.Get(note.Open([]byte(realCheckpoint), one))(t)
		for _, change := range []string{"1432088533", "1432088532\nU7WM79jrzyhGZ5/GUBTpM7NzwdyfFx61t3RovgcC4Ro=\nmore"} {
			changed := strings.Replace(realCheckpoint, "1432088532", change, 1)
			_, err := note.Open([]byte(changed), one)
			if _, ok := errors.AsType[*note.InvalidSignatureError](err); !ok {
				t.Errorf("%s signs %q too: %v", realWitnesses[i], change, err)
			}
		}
	}
}

// TestCosignedMessage: the message is that of C2SP tlog-cosignature, "Ed25519 signed message".
func TestCosignedMessage(t *testing.T) {
	t.Parallel()
	checkpoint := "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n"
	golden.Equal(t, "message", "cosignature/v1\ntime 1679315147\n"+checkpoint, string(head.Cosigned(1679315147, []byte(checkpoint))))
}

// TestVerifier: any change of a cosignature, of the text, of the name or the key is noticed.
func TestVerifier(t *testing.T) {
	t.Parallel()
	text := logOf(t, "abc").head(t, 0).Checkpoint()
	blob := func(c cosigner) []byte {
		_, b64, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(c.line(text), "— "), "\n"), " ")
		return must.Get(base64.StdEncoding.DecodeString(b64))(t)
	}
	good := blob(validator("v", noon))
	v := head.NewVerifier(head.KeyName(publicKey("v")), publicKey("v"))
	golden.Equal(t, "name", validator("v", noon).name, v.Name())
	golden.Equal(t, "key id", binary.BigEndian.Uint32(good), v.KeyHash())
	signature := good[4:]
	if !v.Verify([]byte(text), signature) {
		t.Fatal("the signature is refused")
	}
	for i := range signature {
		changed := slices.Clone(signature)
		changed[i] ^= 1
		if v.Verify([]byte(text), changed) {
			t.Errorf("byte %d does not matter", i)
		}
	}
	for name, bad := range map[string][]byte{
		"empty": nil, "only a time": signature[:8], "short": signature[:71], "long": append(slices.Clone(signature), 0), "without a time": signature[8:],
		"plain Ed25519": ed25519.Sign(privateKey("v"), []byte(text)),
	} {
		if v.Verify([]byte(text), bad) {
			t.Errorf("%s: accepted", name)
		}
	}
	if v.Verify([]byte(text+"more\n"), signature) {
		t.Error("another text is accepted")
	}
	if head.NewVerifier("another", publicKey("v")).KeyHash() == v.KeyHash() || head.NewVerifier(v.Name(), publicKey("w")).KeyHash() == v.KeyHash() {
		t.Error("the key id depends on the name or on the key alone")
	}
	if head.NewVerifier(v.Name(), publicKey("w")).Verify([]byte(text), signature) {
		t.Error("another key accepts the signature")
	}
	// The last second that can be written, the next one, and those at which a time.Time or an int64 overflows.
	for seconds, want := range map[int64]bool{0: true, 253402300799: true, 253402300800: false, math.MaxInt64: false, math.MinInt64: false, -1: false} {
		c := validator("v", noon)
		c.seconds = seconds
		if v.Verify([]byte(text), blob(c)[4:]) != want {
			t.Errorf("at %d seconds: not %t", seconds, want)
		}
	}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	h := logOf(t, "abcde").head(t, 0)
	text := h.Checkpoint()
	at := func(name string, seconds int) cosigner {
		return validator(name, noon.Add(time.Duration(seconds)*time.Second))
	}
	witness := cosigner{"witness.example/w", privateKey("w"), noon.Unix() + 100}
	abc := policyOf(2, "a", "b", "c")
	for name, test := range map[string]struct {
		policy *token.Policy
		signed []byte
		time   int // seconds after noon
		keys   []string
		others int
	}{
		"one of one":           {policyOf(1, "a"), signedBy(text, at("a", 3)), 3, []string{"a"}, 0},
		"two of three":         {abc, signedBy(text, at("c", 1), at("a", 5)), 1, []string{"a", "c"}, 0},
		"all":                  {abc, signedBy(text, at("a", 1), at("b", 2), at("c", 3)), 2, []string{"c", "b", "a"}, 0},
		"three of three":       {policyOf(3, "a", "b", "c"), signedBy(text, at("a", 2), at("b", 3), at("c", 1)), 1, []string{"b", "a", "c"}, 0},
		"one of three":         {policyOf(1, "a", "b", "c"), signedBy(text, at("a", 2), at("b", 3), at("c", 1)), 3, []string{"b", "a", "c"}, 0},
		"with a witness":       {abc, signedBy(text, witness, at("a", 1), at("b", 2)), 1, []string{"b", "a"}, 1},
		"twice by one":         {abc, signedBy(text, at("a", 1), at("a", 9), at("b", 2)), 1, []string{"b", "a"}, 0},
		"a validator of old":   {abc, signedBy(text, at("d", 9), at("a", 1), at("b", 2)), 1, []string{"b", "a"}, 1},
		"a plain signature":    {abc, append(signedBy(text, at("a", 1), at("b", 2)), plainLine(text, "c")...), 1, []string{"b", "a"}, 1},
		"a name with our keys": {abc, append(signedBy(text, at("a", 1), at("b", 2)), (cosigner{at("a", 1).name, privateKey("w"), 0}).line(text)...), 1, []string{"b", "a"}, 1},
	} {
		o, err := head.Open(test.signed, home, test.policy)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		golden.Equal(t, name+": head", h, o.Head)
		golden.Equal(t, name+": time", noon.Add(time.Duration(test.time)*time.Second), o.Time)
		var want [][32]byte
		for _, key := range test.keys {
			want = append(want, publicKey(key))
		}
		var got [][32]byte
		for i, c := range o.Validators {
			got = append(got, c.Key)
			if i > 0 && c.Time.After(o.Validators[i-1].Time) {
				t.Errorf("%s: cosignature %d is newer than the one before", name, i)
			}
		}
		golden.Equal(t, name+": validators", want, got)
		golden.Equal(t, name+": others", test.others, len(o.Others))
	}
}

// plainLine returns a signature of type 0x01 under the name of a validator. It is of another key, as key ids tell.
func plainLine(text, name string) string {
	c := validator(name, noon)
	public := c.key.Public().(ed25519.PublicKey)
	id := sha256.Sum256([]byte(c.name + "\n\x01" + string(public)))
	return "— " + c.name + " " + base64.StdEncoding.EncodeToString(append(id[:4:4], ed25519.Sign(c.key, []byte(text))...)) + "\n"
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	h := logOf(t, "abcde").head(t, 0)
	text := h.Checkpoint()
	at := func(name string) cosigner { return validator(name, noon) }
	witness := cosigner{"witness.example/w", privateKey("w"), noon.Unix()}
	good := signedBy(text, at("a"), at("b"))
	two := policyOf(2, "a", "b", "c")
	_ = must.Get(head.Open(good, home, two))(t)
	badLine := strings.Replace(string(good), strings.Fields(at("b").line(text))[2], forged(at("b"), text), 1)
	elsewhere := h
	elsewhere.Ledger[0]++
	for name, test := range map[string]struct {
		policy *token.Policy
		signed []byte
		want   error
	}{
		"a policy without validators":   {policyOf(0), good, head.ErrNoValidators},
		"a threshold of 0":              {policyOf(0, "a", "b"), good, zkbench.ErrParams},
		"a negative threshold":          {policyOf(-1, "a", "b"), good, zkbench.ErrParams},
		"a threshold above all":         {policyOf(3, "a", "b"), good, zkbench.ErrParams},
		"more than a head has room for": {policyOf(1, manyNames(token.MaxValidators+1)...), good, zkbench.ErrLimit},
		"one signature":                 {two, signedBy(text, at("a")), &head.ThresholdError{Signed: 1, Want: 2, Of: 3}},
		"twice by one":                  {two, signedBy(text, at("a"), validator("a", noon.Add(time.Second))), &head.ThresholdError{Signed: 1, Want: 2, Of: 3}},
		"a witness does not count":      {two, signedBy(text, at("a"), witness), &head.ThresholdError{Signed: 1, Want: 2, Of: 3}},
		"nobody known":                  {two, signedBy(text, witness), &head.ThresholdError{Signed: 0, Want: 2, Of: 3}},
		"a validator of old":            {two, signedBy(text, at("a"), at("d")), &head.ThresholdError{Signed: 1, Want: 2, Of: 3}},
		"a plain signature":             {two, append(signedBy(text, at("a")), plainLine(text, "b")...), &head.ThresholdError{Signed: 1, Want: 2, Of: 3}},
		"a bad signature":               {two, []byte(badLine), zkbench.ErrSignature},
		"a bad signature besides":       {two, []byte(badLine + at("c").line(text)), zkbench.ErrSignature},
		"a changed text":                {two, []byte(strings.Replace(string(good), "\n5\n", "\n6\n", 1)), zkbench.ErrSignature},
		"another ledger":                {two, signedBy(elsewhere.Checkpoint(), at("a"), at("b")), &head.LedgerError{Got: elsewhere.Ledger, Want: home}},
		"another ledger, unsigned":      {two, signedBy(elsewhere.Checkpoint(), witness), &head.LedgerError{Got: elsewhere.Ledger, Want: home}},
		"another log":                   {two, []byte(realCheckpoint), zkbench.ErrMalformed},
		"an extension line":             {two, signedBy(text+"more\n", at("a"), at("b")), zkbench.ErrMalformed},
		"size 0":                        {two, signedBy(strings.Replace(text, "\n5\n", "\n0\n", 1), at("a"), at("b")), zkbench.ErrMalformed},
		"empty":                         {two, nil, zkbench.ErrMalformed},
		"without signatures":            {two, []byte(text + "\n"), zkbench.ErrMalformed},
		"without an empty line":         {two, []byte(strings.Replace(string(good), "\n\n", "\n", 1)), zkbench.ErrMalformed},
		"truncated":                     {two, good[:len(good)-1], zkbench.ErrMalformed},
		"a control character":           {two, []byte(strings.Replace(string(good), "\n5\n", "\n5\r\n", 1)), zkbench.ErrMalformed},
		"not UTF-8":                     {two, append(slices.Clone(good), "— \xff AAAAAAAA\n"...), zkbench.ErrMalformed},
		"101 signatures":                {two, append(slices.Clone(good), strings.Repeat(witness.line(text), 99)...), zkbench.ErrMalformed},
		"too long":                      {two, append(slices.Clone(good), make([]byte, head.MaxSigned)...), zkbench.ErrLimit},
	} {
		o, err := head.Open(test.signed, home, test.policy)
		switch test.want.(type) {
		case *head.ThresholdError, *head.LedgerError:
			if err == nil || err.Error() != test.want.Error() {
				t.Errorf("%s: %v, want %v", name, err, test.want)
			}
			must.Fail(t, err, errors.Unwrap(test.want), "%s", name)
		default:
			must.Fail(t, err, test.want, "%s", name)
		}
		if err == nil || o.Head != (head.Head{}) || o.Validators != nil {
			t.Errorf("%s: opened %v beside %v", name, o, err)
		}
	}
	_, err := head.Open([]byte(badLine), home, two)
	if e, ok := errors.AsType[*note.InvalidSignatureError](err); !ok || e.Name != at("b").name {
		t.Errorf("%v does not name the key", err)
	}
}

// forged returns the base64 of a signature line that another key made.
func forged(c cosigner, text string) string {
	raw, _ := base64.StdEncoding.DecodeString(strings.Fields(c.line(text))[2])
	raw[len(raw)-1] ^= 1
	return base64.StdEncoding.EncodeToString(raw)
}

// TestFullHead: a head has room for the signatures of all validators and of 20 witnesses.
func TestFullHead(t *testing.T) {
	text := logOf(t, "abc").head(t, 0).Checkpoint()
	names := manyNames(token.MaxValidators)
	var parts [][]byte
	for _, name := range names {
		parts = append(parts, signedBy(text, validator(name, noon)))
	}
	for i := range 20 {
		name := fmt.Sprintf("witness %d", i)
		parts = append(parts, signedBy(text, cosigner{strings.ReplaceAll(name, " ", "-") + ".example/" + strings.Repeat("w", 100), privateKey(name), noon.Unix()}))
	}
	p := policyOf(token.MaxValidators, names...)
	h := must.Get(head.Open(must.Get(head.Merge(note.VerifierList(head.Validators(p)...), parts...))(t), home, p))(t)
	golden.Equal(t, "validators", token.MaxValidators, len(h.Validators))
	golden.Equal(t, "others", head.MaxSignatures-token.MaxValidators, len(h.Others))
}

func manyNames(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprint("validator ", i))
	}
	return names
}

// TestReadByOthers: a signed head is opened by golang.org/x/mod/sumdb/note with the package's verifier, and its
// cosignature is checked with crypto/ed25519 alone.
func TestReadByOthers(t *testing.T) {
	t.Parallel()
	l := logOf(t, "abcde")
	s, _ := newSigner(t, l.head(t, 2))
	signed := must.Get(s.Sign(t.Context(), l.head(t, 5), noon.Add(7*time.Second), l.prove))(t)

	name, key := head.KeyName(publicKey("v")), publicKey("v")
	n := must.Get(note.Open(signed, note.VerifierList(head.NewVerifier(name, key))))(t)
	golden.Equal(t, "text", l.head(t, 5).Checkpoint(), n.Text)
	golden.Equal(t, "signatures", 1, len(n.Sigs))

	text, rest, _ := strings.Cut(string(signed), "\n\n")
	fields := strings.Fields(rest)
	golden.Equal(t, "line", []string{"—", name}, fields[:2])
	blob := must.Get(base64.StdEncoding.DecodeString(fields[2]))(t)
	golden.Equal(t, "length", 4+8+64, len(blob))
	id := sha256.Sum256(append([]byte(name+"\n\x04"), key[:]...))
	golden.Equal(t, "key id", id[:4], blob[:4])
	golden.Equal(t, "time", uint64(noon.Unix())+7, binary.BigEndian.Uint64(blob[4:]))
	message := fmt.Sprintf("cosignature/v1\ntime %d\n%s\n", noon.Unix()+7, text)
	if !ed25519.Verify(key[:], []byte(message), blob[12:]) {
		t.Error("crypto/ed25519 does not verify the signature")
	}
	golden.Equal(t, "as we would write it", string(signedBy(n.Text, validator("v", noon.Add(7*time.Second)))), string(signed))
}

// FuzzOpen: any bytes are refused with a typed error, or are a note that x/mod reads too, with enough signatures.
func FuzzOpen(f *testing.F) {
	h := head.Head{Ledger: home, Size: 5, Root: [32]byte{1}}
	text := h.Checkpoint()
	witness := cosigner{"witness.example/w", privateKey("w"), noon.Unix()}
	f.Add(signedBy(text, validator("a", noon), validator("b", noon), witness))
	f.Add(signedBy(text, validator("a", noon)))
	f.Add(signedBy(text+"more\n", validator("a", noon), validator("b", noon)))
	f.Add([]byte(realCheckpoint))
	p := policyOf(2, "a", "b", "c")
	f.Fuzz(func(t *testing.T, signed []byte) {
		o, err := head.Open(signed, home, p)
		if err != nil {
			typed := false
			for _, cause := range []error{zkbench.ErrMalformed, zkbench.ErrSignature, zkbench.ErrPolicy, zkbench.ErrLimit} {
				typed = typed || errors.Is(err, cause)
			}
			if !typed {
				t.Fatalf("untyped error: %v", err)
			}
			return
		}
		n := must.Get(note.Open(signed, note.VerifierList(head.Validators(p)...)))(t)
		golden.Equal(t, "text", n.Text, o.Checkpoint())
		golden.Equal(t, "ledger", home, o.Ledger)
		if len(o.Validators) < 2 || o.Validators[0].Key == o.Validators[1].Key || o.Time.After(o.Validators[0].Time) {
			t.Fatalf("opened %v", o)
		}
	})
}
