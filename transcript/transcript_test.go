package transcript_test

import (
	"bytes"
	"crypto/sha512"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zkbench/zkbench/transcript"
	"pgregory.net/rapid"
)

type state = [transcript.StateLen]byte

// model computes the formulas of the package documentation directly.
type model struct{ state state }

func newModel(protocol string) *model {
	m := new(model)
	m.append("protocol", []byte("zkbench/v1/"+protocol))
	return m
}

func (m *model) hash(tag byte, parts ...[]byte) state {
	return sha512.Sum512(append(append(m.state[:], tag), slices.Concat(parts...)...))
}

func (m *model) append(label string, data []byte) {
	m.state = m.hash(0, uint32LE(len(label)), []byte(label), uint32LE(len(data)), data)
}

func (m *model) challenge(label string) state {
	c := m.hash(1, uint32LE(len(label)), []byte(label))
	m.append(label, c[:])
	return c
}

func (m *model) fork(label string, i uint32) *model {
	return &model{m.hash(2, uint32LE(len(label)), []byte(label), uint32LE(int(i)))}
}

func uint32LE(v int) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(v)) }

// The vectors were computed with Python's hashlib from the formulas.
func TestVectors(t *testing.T) {
	tr := transcript.New("test")
	check := func(what string, got []byte, want string) {
		t.Helper()
		if diff := cmp.Diff(want, hex.EncodeToString(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	checkState := func(what, want string) {
		t.Helper()
		s := tr.State()
		check(what, s[:], want)
	}
	checkState("New", "150c48bcc859f5e0d51cf94bd90f5169166e04cee1f621b2f36956ea7bbbb393f0956891d5530d88ab256fb5e70c278a25adf431c56b8c30501fa21833d8e2cd")
	tr.Append("point", []byte{2, 0xab, 0xcd})
	checkState("Append", "204dacbc79849814379dbdba5b877b26dd1c0908e47ab773a308f46a4ed85a68fffb75e69bf8e5aa2d422fff5f4d3ee626709dfdce366d9d77180c7e72d7a13f")
	tr.AppendUint64("n", 0x0102030405060708)
	checkState("AppendUint64", "04e8ade26c55a3622b16599088642a20380667f2ad92552d62b64edc42f4167863bfa7157708f83459ae49a7cd4cfe73e4600cbb60277102270c01bb6232681f")
	c := tr.Challenge("x")
	check("Challenge", c[:], "89444af94f15c645882ae6632762d922febc3e642e60344dee880932a88c04196c5ba51551337f8c03d43ac45a48e0d24cb267640c7fb687df3fa9b0ad91b013")
	checkState("after Challenge", "940d354719585f35ba28eac2cde82260994c31f51d3d5a62f5c19b79c0d7149ddea1df4ec8e9f1e7f7c923ab2d252d0774c0d1f1c31c07a021eae1590a456f6e")
	child0, child1 := tr.Fork("range", 0), tr.Fork("range", 1)
	s := child1.State()
	check("Fork", s[:], "2d00a989709d9ffc5b7079222cdc3429e41bf0d3ffdf20f3150981d8ded7772683b4da118be1a7d6429d7fac8a195416a657af3bdc0302afda0c987cb112d1e6")
	child0.Append("m", []byte("zero"))
	tr.Join(child0, child1)
	checkState("Join", "c1d3ec40f0816859cd150cee718b5b885a0750de474faceb6eea80badb948b5e820d0f190e2eb1c29fca94fd82027a3b72c4423a658cdc5d3cbce6740cde7548")
}

// Any sequence of operations gives what the formulas give; the lengths go
// beyond the buffers on the stack.
func TestMatchesFormula(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr, m := transcript.New("formula"), newModel("formula")
		for range rapid.IntRange(0, 6).Draw(t, "operations") {
			label := rapid.StringN(0, -1, 300).Draw(t, "label")
			switch rapid.SampledFrom([]string{"append", "uint64", "challenge", "fork", "join"}).Draw(t, "operation") {
			case "append":
				data := rapid.SliceOfN(rapid.Byte(), 0, 700).Draw(t, "data")
				tr.Append(label, data)
				m.append(label, data)
			case "uint64":
				v := rapid.Uint64().Draw(t, "v")
				tr.AppendUint64(label, v)
				m.append(label, binary.LittleEndian.AppendUint64(nil, v))
			case "challenge":
				if got, want := tr.Challenge(label), m.challenge(label); got != want {
					t.Fatalf("challenge %x, want %x", got, want)
				}
			case "fork":
				i := rapid.Uint32().Draw(t, "i")
				tr, m = tr.Fork(label, i), m.fork(label, i)
			case "join":
				i := rapid.Uint32().Draw(t, "i")
				tr.Join(tr.Fork(label, i))
				child := m.fork(label, i).state
				m.append("join", child[:])
			}
			if tr.State() != m.state {
				t.Fatalf("state %x, want %x", tr.State(), m.state)
			}
		}
	})
}

// Two histories of appends meet in one state only if they are the same: moving
// a byte between label and data, or across frames, changes the state.
func TestFramingIsInjective(t *testing.T) {
	type frame struct {
		Label string
		Data  string
	}
	// Histories over one repeated letter, cut at random places: the unframed
	// concatenations coincide often.
	histories := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) frame {
		letters := rapid.StringOfN(rapid.Just('a'), 0, 3, -1)
		return frame{letters.Draw(t, "label"), letters.Draw(t, "data")}
	}), 0, 4)
	replay := func(h []frame) state {
		tr := transcript.New("framing")
		for _, f := range h {
			tr.Append(f.Label, []byte(f.Data))
		}
		return tr.State()
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := histories.Draw(t, "a"), histories.Draw(t, "b")
		if sameState, same := replay(a) == replay(b), slices.Equal(a, b); sameState != same {
			t.Fatalf("equal states: %v, equal histories: %v", sameState, same)
		}
	})
	// Every way to cut "abcd" into a label and data.
	seen := make(map[state]int)
	for i := range 5 {
		s := replay([]frame{{"abcd"[:i], "abcd"[i:]}})
		if j, dup := seen[s]; dup {
			t.Errorf("cut at %d and at %d give one state", i, j)
		}
		seen[s] = i
	}
}

// Append, challenge and fork with the same bytes behind the tag stay apart, and
// so do protocols, labels and indices.
func TestDomainsAreSeparate(t *testing.T) {
	states := map[string]state{}
	add := func(name string, s state) {
		for other, o := range states {
			if s == o {
				t.Errorf("%s and %s give one state", name, other)
			}
		}
		states[name] = s
	}
	base := transcript.New("a")
	add("New(a)", base.State())
	other := transcript.New("b")
	add("New(b)", other.State())
	appended := base
	appended.Append("x", nil) // the frame of no data is four zero bytes, like fork index 0
	add("append", appended.State())
	challenged := base
	add("challenge", challenged.Challenge("x"))
	add("after challenge", challenged.State())
	for _, label := range []string{"x", "y"} {
		for i := range uint32(3) {
			f := base.Fork(label, i)
			add(fmt.Sprintf("Fork(%s,%d)", label, i), f.State())
		}
	}
}

func TestChallengeDependsOnEverythingBefore(t *testing.T) {
	messages := []string{"one", "two", "three"}
	challenge := func(ms []string) state {
		tr := transcript.New("challenge")
		for _, m := range ms {
			tr.Append("m", []byte(m))
			tr.Challenge("c")
		}
		return tr.Challenge("last")
	}
	honest := challenge(messages)
	for i, m := range messages {
		for bit := range len(m) * 8 {
			flipped := slices.Clone(messages)
			b := []byte(m)
			b[bit/8] ^= 1 << (bit % 8)
			flipped[i] = string(b)
			if challenge(flipped) == honest {
				t.Errorf("message=%d/bit=%d: the challenge did not change", i, bit)
			}
		}
	}
	if challenge(messages[:2]) == honest || challenge([]string{"two", "one", "three"}) == honest {
		t.Error("dropping or swapping messages did not change the challenge")
	}
	tr := transcript.New("challenge")
	first := tr.Challenge("c")
	if second := tr.Challenge("c"); second == first {
		t.Error("two challenges in a row are equal")
	}
}

func TestForkAndJoin(t *testing.T) {
	parent := transcript.New("fork")
	parent.Append("statement", []byte("s"))
	before := parent.State()
	child := [3]transcript.Transcript{}
	for i := range child {
		child[i] = parent.Fork("part", uint32(i))
	}
	if parent.State() != before {
		t.Error("Fork changed the parent")
	}
	// A child does not see what the parent absorbs after the fork, and the
	// parent nothing of the child before the join.
	sibling := child[1]
	parent.Append("later", []byte("x"))
	if sibling.Challenge("c") != child[1].Challenge("c") {
		t.Error("the child depends on the parent's later messages")
	}
	parent = transcript.New("fork")
	parent.Append("statement", []byte("s"))
	child[0].Append("m", []byte("x"))
	if parent.State() != before {
		t.Error("a child's message changed the parent before the join")
	}
	// What the parent absorbed before the fork binds the child.
	other := transcript.New("fork")
	other.Append("statement", []byte("t"))
	if other.Fork("part", 2) == child[2] {
		t.Error("the child does not depend on the statement")
	}

	join := func(children ...transcript.Transcript) state {
		p := parent
		p.Join(children...)
		return p.State()
	}
	joined := join(child[0], child[1], child[2])
	for name, s := range map[string]state{
		"swapped":  join(child[1], child[0], child[2]),
		"dropped":  join(child[0], child[1]),
		"repeated": join(child[0], child[1], child[1]),
		"none":     join(),
	} {
		if s == joined {
			t.Errorf("joining children %s gives the same state", name)
		}
	}
	for i := range child {
		changed := child
		changed[i].Append("last", nil)
		if join(changed[:]...) == joined {
			t.Errorf("the join misses the last message of child %d", i)
		}
	}
	stepwise := parent
	stepwise.Join(child[0])
	stepwise.Join(child[1], child[2])
	if stepwise.State() != joined {
		t.Error("joining one after the other differs from joining together")
	}
}

func TestCopyByAssignment(t *testing.T) {
	a := transcript.New("copy")
	a.Append("m", []byte("1"))
	before := a.State()
	b := a
	b.Append("m", []byte("2"))
	if a.State() != before {
		t.Fatal("an append to the copy changed the original")
	}
	a.Append("m", []byte("2"))
	if a != b {
		t.Error("the same messages on original and copy give different transcripts")
	}
	s := a.State()
	s[0] ^= 1
	if a.State() == s {
		t.Error("State gives access to the transcript's own bytes")
	}
}

// Data may be changed by the caller after Append.
func TestNothingPending(t *testing.T) {
	data := bytes.Repeat([]byte{1}, 40)
	a := transcript.New("pending")
	a.Append("m", data)
	want := a
	clear(data)
	if a.Challenge("c") != want.Challenge("c") || a.State() != want.State() {
		t.Error("the transcript depends on the data after Append returned")
	}
}

func TestAppendAllocatesNothing(t *testing.T) {
	tr := transcript.New("allocs")
	data := make([]byte, 400)
	if n := testing.AllocsPerRun(100, func() {
		tr.Append("label", data)
		tr.Challenge("c")
	}); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

func BenchmarkAppend(b *testing.B) {
	tr := transcript.New("bench")
	for _, n := range []int{32, 48, 1024} {
		b.Run(fmt.Sprintf("bytes=%d", n), func(b *testing.B) {
			data := make([]byte, n)
			b.ReportAllocs()
			for b.Loop() {
				tr.Append("m", data)
			}
		})
	}
}
