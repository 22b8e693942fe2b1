package head_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token/ledger/head"
)

// TestMerge: three validators and a witness who is none sign a head, each on its own. The merged note has each of
// them once, with the newest time, and opens. The witness does not count, and is still there.
func TestMerge(t *testing.T) {
	t.Parallel()
	h := logOf(t, "abcde").head(t, 0)
	text := h.Checkpoint()
	at := func(name string, seconds int) cosigner {
		return validator(name, noon.Add(time.Duration(seconds)*time.Second))
	}
	witness := func(seconds int64) cosigner {
		return cosigner{"witness.example/w", privateKey("w"), noon.Unix() + seconds}
	}
	p := policyOf(2, "a", "b", "c")
	known := note.VerifierList(head.Validators(p)...)

	of := [][]byte{
		signedBy(text, at("a", 1)), signedBy(text, at("b", 2), witness(7)), signedBy(text, at("a", 4), at("c", 3)),
		signedBy(text, witness(5), at("a", 2)),
	}
	merged := must.Get(head.Merge(known, of...))(t)
	o := must.Get(head.Open(merged, home, p))(t)
	golden.Equal(t, "times", []string{"4s", "3s", "2s"}, []string{
		o.Validators[0].Time.Sub(noon).String(), o.Validators[1].Time.Sub(noon).String(), o.Validators[2].Time.Sub(noon).String(),
	})
	golden.Equal(t, "time", noon.Add(3*time.Second), o.Time)
	golden.Equal(t, "witnesses", 1, len(o.Others))
	golden.Equal(t, "lines", 4, strings.Count(string(merged), "— "))
	if !strings.Contains(string(merged), witness(7).line(text)) {
		t.Errorf("the newest signature of the witness is not in:\n%s", merged)
	}
	// The witness alone opens nothing.
	_, err := head.Open(must.Get(head.Merge(known, signedBy(text, witness(1)), signedBy(text, at("a", 1))))(t), home, p)
	e, ok := errors.AsType[*head.ThresholdError](err)
	if !ok || *e != (head.ThresholdError{Signed: 1, Want: 2, Of: 3}) {
		t.Errorf("a validator and a witness: %v", err)
	}
	// A caller who knows the witness has it verified.
	w := head.NewVerifier("witness.example/w", publicKey("w"))
	all := note.VerifierList(append(head.Validators(p), w)...)
	golden.Equal(t, "with the witness known", string(merged), string(must.Get(head.Merge(all, of...))(t)))
	golden.Equal(t, "read by x/mod", 4, len(must.Get(note.Open(merged, all))(t).Sigs))

	// Neither the order nor a repetition matters.
	for i := range of {
		other := append(append([][]byte{merged}, of[i:]...), of[:i]...)
		golden.Equal(t, fmt.Sprint("from ", i), string(merged), string(must.Get(head.Merge(known, other...))(t)))
	}
	// The newest signature is kept for each pair of times, and for those of type ML-DSA-44 too.
	for seconds := range int64(64) {
		for _, pad := range []int{0, 2420 - 64} {
			older, newer := padded(witness(seconds), text, pad), padded(witness(seconds+1), text, pad)
			golden.Equal(t, "the newer one", text+"\n"+newer, string(must.Get(head.Merge(known, []byte(text+"\n"+newer), []byte(text+"\n"+older)))(t)))
		}
	}
	// Two unverified signatures of one key at one time: the same one is kept in either order.
	x, y := signedBy(text, at("x", 1)), []byte(strings.Replace(string(signedBy(text, at("x", 1))), strings.Fields(at("x", 1).line(text))[2], forged(at("x", 1), text), 1))
	golden.Equal(t, "two at one time", string(must.Get(head.Merge(known, x, y))(t)), string(must.Get(head.Merge(known, y, x))(t)))
}

// padded returns a signature line whose signature is longer than an Ed25519 one.
func padded(c cosigner, text string, bytes int) string {
	fields := strings.Fields(c.line(text))
	raw, _ := base64.StdEncoding.DecodeString(fields[2])
	return "— " + c.name + " " + base64.StdEncoding.EncodeToString(append(raw, make([]byte, bytes)...)) + "\n"
}

func TestMergeRefuses(t *testing.T) {
	t.Parallel()
	l := logOf(t, "abcde")
	h := l.head(t, 0)
	p := policyOf(2, "a", "b")
	known := note.VerifierList(head.Validators(p)...)
	a := signedBy(h.Checkpoint(), validator("a", noon))
	root, ledger := h, h
	root.Root[31] ^= 1
	ledger.Ledger[0]++
	for name, other := range map[string]head.Head{"a smaller one": l.head(t, 4), "another root": root, "another ledger": ledger} {
		_, err := head.Merge(known, a, signedBy(other.Checkpoint(), validator("b", noon)))
		e, ok := errors.AsType[*head.OtherHeadError](err)
		if !ok || e.Got != other || e.Want != h || !errors.Is(err, zkbench.ErrParams) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A later bad signature must not replace a good one.
	newer := validator("a", noon.Add(time.Hour))
	bad := strings.Replace(string(signedBy(h.Checkpoint(), newer)), strings.Fields(newer.line(h.Checkpoint()))[2], forged(newer, h.Checkpoint()), 1)
	must.FailGet(head.Merge(known, a, []byte(bad)))(t, zkbench.ErrSignature, "a bad signature")
	must.FailGet(head.Merge(known))(t, zkbench.ErrParams, "nothing")
	must.FailGet(head.Merge(known, a, nil))(t, zkbench.ErrMalformed, "an empty one")
	must.FailGet(head.Merge(known, []byte(realCheckpoint)))(t, zkbench.ErrMalformed, "another log")

	// The result can be read: it has at most as many signatures and bytes as Open accepts.
	var many []cosigner
	for _, name := range manyNames(60) {
		many = append(many, validator(name, noon))
	}
	var others []cosigner
	for _, name := range manyNames(41) {
		others = append(others, cosigner{"witness.example/" + strings.ReplaceAll(name, " ", "-"), privateKey(name), noon.Unix()})
	}
	first := signedBy(h.Checkpoint(), many...)
	must.FailGet(head.Merge(nil, first, signedBy(h.Checkpoint(), others...)))(t, zkbench.ErrLimit, "101 signatures")
	golden.Equal(t, "100 signatures", 100, strings.Count(string(must.Get(head.Merge(nil, first, signedBy(h.Checkpoint(), others[1:]...)))(t)), "— "))
	long := func(c cosigner) []byte {
		c.name += "/" + strings.Repeat("x", head.MaxSigned*2/3)
		return signedBy(h.Checkpoint(), c)
	}
	must.FailGet(head.Merge(nil, long(others[0]), long(others[1])))(t, zkbench.ErrLimit, "too long together")
}
