package challenger_test

import (
	"fmt"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/ext"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/stark/internal/challenger"
	"github.com/zkbench/zkbench/stark/internal/field"
	"github.com/zkbench/zkbench/stark/internal/tree"
)

type (
	element  = goldilocks.Element
	anyOf    = challenger.Challenger[element, ext.Cubic]
	elements = []element
)

// each runs a test on both forms.
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
			if n := must.Get(other.Grind(t.Context(), executor.Pool(), "grind", work))(t); n != nonce {
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
		for _, work := range []int{-1, 41} {
			_, err := begin("test").Grind(t.Context(), executor.Serial(), "grind", work)
			must.Fail(t, err, zkbench.ErrParams, "%s", fmt.Sprint(work))
		}
	})
}
