package transcript_test

import (
	"encoding/hex"
	"io"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zkbench/zkbench/transcript"
	"pgregory.net/rapid"
)

func read(r io.Reader) [64]byte {
	var b [64]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		panic(err) // a XOF never fails to read
	}
	return b
}

func xof(domain string, parts ...string) [64]byte {
	var bs [][]byte
	for _, p := range parts {
		bs = append(bs, []byte(p))
	}
	return read(transcript.XOF(domain, bs...))
}

// Vectors computed with Python's hashlib from the formulas.
func TestXOFVectors(t *testing.T) {
	got := xof("zkbench/v1/open", "", "ab")
	const want = "40638d21bd8a796834077249f271b4d4314f75bc363f1a5f4d1adc299f56d7def5eeadd23a25d88708c08a0fe3f557e419b34c4d83dc7556696046c99a06d527"
	if diff := cmp.Diff(want, hex.EncodeToString(got[:])); diff != "" {
		t.Errorf("XOF (-want +got):\n%s", diff)
	}

	tr := transcript.New("test")
	tr.Append("point", []byte{2, 0xab, 0xcd})
	tr.AppendUint64("n", 0x0102030405060708)
	tr.Challenge("x")
	child := tr.Fork("range", 0)
	child.Append("m", []byte("zero"))
	tr.Join(child, tr.Fork("range", 1))
	n := transcript.Nonces{Protocol: "csp", Label: "range", Index: 7, Seed: testSeed()}
	got = read(n.Stream([]byte("witness"), &tr))
	const wantNonce = "abd0b7006cc9014d5bc290078d8acec71c6bbf13f1971ef55da4690bf64da3784f8baa35295255bd3a67bc784a26cd0b7ec98286920a2a4d55db1926dd6a06c3"
	if diff := cmp.Diff(wantNonce, hex.EncodeToString(got[:])); diff != "" {
		t.Errorf("Nonces (-want +got):\n%s", diff)
	}
}

func testSeed() (seed [transcript.SeedLen]byte) {
	for i := range seed {
		seed[i] = byte(i)
	}
	return seed
}

// Two lists of parts give one stream only if they are the same list.
func TestXOFFramingIsInjective(t *testing.T) {
	lists := rapid.SliceOfN(rapid.StringOfN(rapid.Just('a'), 0, 3, -1), 1, 4)
	rapid.Check(t, func(t *rapid.T) {
		a, b := lists.Draw(t, "a"), lists.Draw(t, "b")
		if same, equal := slices.Equal(a, b), xof(a[0], a[1:]...) == xof(b[0], b[1:]...); same != equal {
			t.Fatalf("equal lists: %v, equal streams: %v", same, equal)
		}
	})
	if xof("d", "a") == xof("e", "a") {
		t.Error("two domains have one stream")
	}
	if xof("d", "a", "b") == xof("d", "a\x00\x00\x00\x00b") {
		t.Error("frames hold no lengths")
	}
}

// A stream is a function of all its parts and of nothing else: each alone
// changes it, and drawing it twice gives the same bytes.
func TestNonceStreamsDifferInEachPart(t *testing.T) {
	type parts struct {
		n       transcript.Nonces
		witness string
		message string // absorbed by the sub-proof's transcript
	}
	honest := parts{transcript.Nonces{Protocol: "bulletproof", Label: "output", Index: 1, Seed: testSeed()}, "witness", "V"}
	stream := func(p parts) [64]byte {
		tr := transcript.New("transfer")
		tr.Append("m", []byte(p.message))
		before := tr.State()
		s := read(p.n.Stream([]byte(p.witness), &tr))
		if tr.State() != before {
			t.Error("drawing nonces changed the transcript")
		}
		return s
	}
	first := stream(honest)
	if again := stream(honest); again != first {
		t.Fatal("the stream is not deterministic")
	}
	streams := map[[64]byte]string{first: "honest"}
	for name, change := range map[string]func(p *parts){
		"protocol":                      func(p *parts) { p.n.Protocol = "csp" },
		"label":                         func(p *parts) { p.n.Label = "input" },
		"index":                         func(p *parts) { p.n.Index = 2 },
		"seed":                          func(p *parts) { p.n.Seed[31] ^= 1 },
		"witness":                       func(p *parts) { p.witness = "witnest" },
		"longer witness":                func(p *parts) { p.witness += "\x00" },
		"transcript":                    func(p *parts) { p.message = "W" },
		"letter from protocol to label": func(p *parts) { p.n.Protocol, p.n.Label = "bulletproo", "foutput" },
	} {
		p := honest
		change(&p)
		s := stream(p)
		if other, dup := streams[s]; dup {
			t.Errorf("changing the %s gives the stream of %s", name, other)
		}
		streams[s] = name
	}
}
