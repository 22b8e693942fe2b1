package challenger_test

import (
	"context"
	"crypto/sha512"
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/ext"
	"github.com/zkbench/zkbench/goldilocks/poseidon"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/stark/internal/challenger"
	"github.com/zkbench/zkbench/stark/internal/field"
	"github.com/zkbench/zkbench/stark/internal/tree"
	"github.com/zkbench/zkbench/transcript"
)

type (
	element  = goldilocks.Element
	anyOf    = challenger.Challenger[element, ext.Cubic]
	elements = []element
)

// each runs a test on both challengers.
func each(t *testing.T, test func(t *testing.T, begin func(protocol string) anyOf)) {
	t.Helper()
	for name, begin := range map[string]func(protocol string) anyOf{
		"bytes": func(protocol string) anyOf {
			return challenger.NewBytes[element, ext.Cubic](field.Goldilocks3, protocol)
		},
		"duplex": challenger.NewDuplex[ext.Cubic],
	} {
		t.Run(name, func(t *testing.T) { test(t, begin) })
	}
}

// TestHistories: what is absorbed, in which order and under which label decides a challenge; and
// what is absorbed after it decides nothing.
func TestHistories(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, begin func(protocol string) anyOf) {
		seen := make(map[ext.Cubic]string)
		for name, absorb := range map[string]func(c anyOf){
			"nothing":             func(anyOf) {},
			"no elements":         func(c anyOf) { c.Elements("a", nil) },
			"an element":          func(c anyOf) { c.Elements("a", elements{1}) },
			"another":             func(c anyOf) { c.Elements("a", elements{2}) },
			"a zero":              func(c anyOf) { c.Elements("a", elements{0}) },
			"two zeros":           func(c anyOf) { c.Elements("a", elements{0, 0}) },
			"seven zeros":         func(c anyOf) { c.Elements("a", make(elements, 7)) },
			"another label":       func(c anyOf) { c.Elements("b", elements{1}) },
			"in two":              func(c anyOf) { c.Elements("a", elements{1}); c.Elements("a", elements{2}) },
			"in one":              func(c anyOf) { c.Elements("a", elements{1, 2}) },
			"in another order":    func(c anyOf) { c.Elements("a", elements{2}); c.Elements("a", elements{1}) },
			"a challenge between": func(c anyOf) { c.Elements("a", elements{1}); c.Challenge("x", false); c.Elements("a", elements{2}) },
			"bytes":               func(c anyOf) { c.Bytes("a", []byte{1}) },
			"bytes and a zero":    func(c anyOf) { c.Bytes("a", []byte{1, 0}) },
			"five bytes":          func(c anyOf) { c.Bytes("a", []byte{1, 0, 0, 0, 0}) },
			"digests":             func(c anyOf) { c.Digests("a", []tree.Digest{{1, 2, 3, 4}}) },
			"nine elements":       func(c anyOf) { c.Elements("a", elements{1, 2, 3, 4, 5, 6, 7, 8, 9}) },
			"another ninth":       func(c anyOf) { c.Elements("a", elements{1, 2, 3, 4, 5, 6, 7, 8, 8}) },
			"another fifth byte":  func(c anyOf) { c.Bytes("a", []byte{1, 0, 0, 0, 1}) },
			"two digests":         func(c anyOf) { c.Digests("a", []tree.Digest{{1, 2, 3, 4}, {}}) },
			"an index":            func(c anyOf) { c.Index("a", 3) },
		} {
			c := begin("test")
			absorb(c)
			x := c.Challenge("x", true)
			if other, is := seen[x]; is {
				t.Errorf("%s and %s have one challenge", name, other)
			}
			seen[x] = name
			again := begin("test")
			absorb(again)
			if again.Challenge("x", true) != x {
				t.Errorf("%s has two challenges", name)
			}
			if x == c.Challenge("x", true) {
				t.Errorf("%s: two challenges in a row are one", name)
			}
			if x[1] == 0 && x[2] == 0 {
				t.Errorf("%s: a challenge of the field", name)
			}
		}
		if begin("test").Challenge("x", false) == begin("other").Challenge("x", false) {
			t.Error("two protocols have one challenge")
		}
		if begin("test").Challenge("x", false) == begin("test").Challenge("y", false) {
			t.Error("two labels have one challenge")
		}
	})
}

// TestDuplex: the sponge is that of the package's words, an element after the other.
func TestDuplex(t *testing.T) {
	t.Parallel()
	var s poseidon.State
	labelled := func(label string, second element, rest ...element) {
		h := sha512.Sum512([]byte(label))
		message := append(elements{goldilocks.Reduce(binary.LittleEndian.Uint64(h[:8])), second}, rest...)
		if len(message)%2 != 0 {
			message = append(message, 0)
		}
		for i, e := range message {
			s[i%8] = e
			if i%8 == 7 || i == len(message)-1 {
				s.Permute()
			}
		}
	}
	absorb := func(label string, all ...element) { labelled(label, element(len(all)), all...) }
	c := challenger.NewDuplex[ext.Cubic]("test")
	absorb("zkbench/v1/test")
	check := func(what string, n int) {
		t.Helper()
		got := c.Challenge("x", true)
		labelled("x", goldilocks.Modulus-1)
		golden.Equal(t, fmt.Sprintf("a challenge after %d %s", n, what), ext.Cubic(s[:3]), got)
		place := c.Index("place", 20)
		labelled("place", goldilocks.Modulus-1)
		golden.Equal(t, fmt.Sprintf("a place after %d %s", n, what), int(s[0]%(1<<20)), place)
	}
	for n := range 20 {
		var all elements
		var data []byte
		words := elements{element(n)}
		for i := range n {
			all = append(all, element(1000*n+i))
			data = append(data, byte(100*n+i))
			if i%4 == 0 {
				words = append(words, 0)
			}
			words[len(words)-1] += element(data[i]) << (8 * (i % 4))
		}
		c.Elements("elements", all)
		absorb("elements", all...)
		check("elements", n)
		c.Bytes("bytes", data)
		absorb("bytes", words...)
		check("bytes", n)
		var digests []tree.Digest
		var parts elements
		for i := range n {
			d := tree.Digest{uint64(n), uint64(i), 7, goldilocks.Modulus - 1}
			digests = append(digests, d)
			for _, w := range d {
				parts = append(parts, element(w))
			}
		}
		c.Digests("digests", digests)
		absorb("digests", parts...)
		check("digests", n)
	}
	must.Do(t, c.CheckGrind("nonce", 0, 0))
	absorb("nonce", 0)
	check("nonces", 1)
	// A number that is no element is another encoding of one that is.
	for _, nonce := range []uint64{goldilocks.Modulus, goldilocks.Modulus + 1, math.MaxUint64} {
		must.Fail(t, c.CheckGrind("nonce", 0, nonce), zkbench.ErrMalformed, "nonce %d", nonce)
	}
}

// few is an element of a field of five. Four of them fit in a challenge, so rare cases are frequent.
type few uint8

func (e few) Add(few) few     { return e }
func (e few) Sub(few) few     { return e }
func (e few) Mul(few) few     { return e }
func (e few) Inverse() few    { return e }
func (e few) Canonical() bool { return e < 5 }

type threeOf [3]few

func (x threeOf) Add(threeOf) threeOf { return x }
func (x threeOf) Sub(threeOf) threeOf { return x }
func (x threeOf) Mul(threeOf) threeOf { return x }
func (x threeOf) MulBase(few) threeOf { return x }
func (x threeOf) Inverse() threeOf    { return x }

type fieldOfFive struct{ field.Field[few, threeOf] }

func (fieldOfFive) Order() uint64    { return 5 }
func (fieldOfFive) Bytes() int       { return 16 }
func (fieldOfFive) New(v uint64) few { return few(v % 5) }

// TestChallengeOfFew: the coordinates are what is below the order of the low bits of a challenge's
// parts, the first of them; a new one is drawn where they are too few, or in the field and must not be.
func TestChallengeOfFew(t *testing.T) {
	t.Parallel()
	c, other := challenger.NewBytes[few, threeOf](fieldOfFive{}, "test"), transcript.New("test")
	short, inside := 0, 0
	for i := range 500 {
		outside := i%2 == 0
		var want threeOf
		for {
			raw := other.Challenge("x")
			var below []few
			for part := range 4 {
				if v := raw[16*part] % 8; v < 5 {
					below = append(below, few(v))
				}
			}
			if len(below) < 3 {
				short++
				continue
			}
			want = threeOf(below[:3])
			if !outside || want[1] != 0 || want[2] != 0 {
				break
			}
			inside++
		}
		golden.Equal(t, fmt.Sprintf("challenge %d", i), want, c.Challenge("x", outside))
	}
	if short == 0 || inside == 0 {
		t.Errorf("drawn anew %d times for too few, %d for being in the field", short, inside)
	}
}

// TestIndex: all of 2^3 places come, about as often.
func TestIndex(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, begin func(protocol string) anyOf) {
		c := begin("test")
		var counts [8]int
		for range 4000 {
			counts[c.Index("place", 3)]++
		}
		for i, n := range counts {
			if n < 380 || n > 620 { // 500, and more than five times the deviation of 21
				t.Errorf("%d came %d times of 4000", i, n)
			}
		}
	})
}

// wide is an executor on which three workers search, whatever the machine has.
type wide struct{ executor.Executor }

func (wide) Width() int { return 3 }

// TestGrind: a nonce that was searched is one, whoever searched it, and none below it is; it is
// absorbed.
func TestGrind(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, begin func(protocol string) anyOf) {
		for _, work := range []int{0, 1, 8, 12} {
			c := begin("test")
			nonce := must.Get(c.Grind(t.Context(), executor.Serial(), "grind", work))(t)
			if work == 0 && nonce != 0 {
				t.Errorf("no work: nonce %d", nonce)
			}
			other := begin("test")
			if n := must.Get(other.Grind(t.Context(), wide{executor.Pool()}, "grind", work))(t); n != nonce {
				t.Errorf("%d bits: nonces %d and %d", work, nonce, n)
			}
			checked := begin("test")
			must.Do(t, checked.CheckGrind("grind", work, nonce))
			if x := checked.Challenge("x", false); x != c.Challenge("x", false) {
				t.Errorf("%d bits: who checks has another challenge", work)
			}
			if x := begin("test").Challenge("x", false); x == checked.Challenge("x", false) {
				t.Errorf("%d bits: the nonce is not absorbed", work)
			}
			for n := range nonce {
				must.Fail(t, begin("test").CheckGrind("grind", work, n), zkbench.ErrProof, "nonce %d of %d bits", n, work)
			}
			must.Fail(t, begin("test").CheckGrind("grind", 40, nonce), zkbench.ErrProof, "more work")
		}
		must.Fail(t, begin("test").CheckGrind("grind", 0, 1), zkbench.ErrProof, "a nonce without work")
		// Work is done for what was said before, and for nothing else.
		said := func(n int) anyOf {
			c := begin("test")
			c.Elements("said", elements{element(n)})
			return c
		}
		nonce := must.Get(said(0).Grind(t.Context(), executor.Serial(), "grind", 12))(t)
		for n := range 4 {
			err := said(n).CheckGrind("grind", 12, nonce)
			if (err == nil) != (n == 0) {
				t.Errorf("the work for 0, after %d: %v", n, err)
			}
		}
		for _, work := range []int{-1, 41} {
			_, err := begin("test").Grind(t.Context(), executor.Serial(), "grind", work)
			must.Fail(t, err, zkbench.ErrParams, "%s", fmt.Sprint(work))
		}
		over, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := begin("test").Grind(over, executor.Serial(), "grind", 40)
		must.Fail(t, err, context.Canceled, "a search that is over")
	})
}
