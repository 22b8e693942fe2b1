package poseidon_test

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/poseidon"
)

// vectors calls check for each line of a file of published values.
func vectors(t *testing.T, name string, check func(kind string, words []string)) {
	t.Helper()
	file, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if words := strings.Fields(lines.Text()); len(words) > 0 && words[0] != "#" {
			check(words[0], words[1:])
		}
	}
}

func elements(t *testing.T, words []string) (all []goldilocks.Element) {
	t.Helper()
	for _, w := range words {
		v, err := strconv.ParseUint(w, 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, goldilocks.Element(v))
	}
	return all
}

// upTo are 1 to n.
func upTo(n int) []goldilocks.Element {
	all := make([]goldilocks.Element, n)
	for i := range all {
		all[i] = goldilocks.Element(i + 1)
	}
	return all
}

// TestVectors: the values that plonky2 and Hermez publish.
func TestVectors(t *testing.T) {
	var s poseidon.State
	permutations, hashes := 0, 0
	vectors(t, "poseidon_goldilocks.txt", func(kind string, words []string) {
		switch kind {
		case "perm.in":
			s = poseidon.State(elements(t, words))
		case "perm.out":
			permutations++
			if s.Permute(); s != poseidon.State(elements(t, words)) {
				t.Errorf("permutation %d: %x", permutations, s)
			}
		case "linear_hash":
			hashes++
			var n int
			if _, err := fmt.Sscanf(words[0], "1..%d", &n); err != nil {
				t.Fatal(err)
			}
			if got := poseidon.LinearHash(upTo(n)); got != poseidon.Digest(elements(t, words[1:])) {
				t.Errorf("linear_hash of %d: %x", n, got)
			}
		}
	})
	if permutations < 3 || hashes < 10 {
		t.Errorf("%d permutations and %d hashes were compared", permutations, hashes)
	}
}

func BenchmarkPermute(b *testing.B) {
	var s poseidon.State
	for b.Loop() {
		s.Permute()
	}
}

// TestPlonky2Hashes: the values that plonky2 gives.
func TestPlonky2Hashes(t *testing.T) {
	functions := map[string]func([]goldilocks.Element) poseidon.Digest{"hash_no_pad": poseidon.HashNoPad, "hash_or_noop": poseidon.HashOrNoop}
	compared := make(map[string]int)
	vectors(t, "plonky2_hashes.txt", func(kind string, words []string) {
		var n int
		if _, err := fmt.Sscanf(words[0], "1..%d", &n); err != nil {
			t.Fatal(err)
		}
		compared[kind]++
		if got := functions[kind](upTo(n)); got != poseidon.Digest(elements(t, words[1:])) {
			t.Errorf("%s of %d: %x", kind, n, got)
		}
	})
	if compared["hash_no_pad"] != 11 || compared["hash_or_noop"] != 11 {
		t.Errorf("compared %v", compared)
	}
}

// TestHash: it binds the length, unlike the others, and hashes what they pass through.
func TestHash(t *testing.T) {
	if poseidon.LinearHash([]goldilocks.Element{1, 2, 3, 4, 5}) != poseidon.LinearHash([]goldilocks.Element{1, 2, 3, 4, 5, 0}) {
		t.Error("LinearHash binds a length: its documentation says that it does not")
	}
	seen := make(map[poseidon.Digest]int)
	for n := range 40 {
		d := poseidon.Hash(make([]goldilocks.Element, n))
		if other, ok := seen[d]; ok {
			t.Errorf("%d zeros and %d have one hash", n, other)
		}
		seen[d] = n
		if n <= poseidon.DigestLen && d == poseidon.LinearHash(make([]goldilocks.Element, n)) {
			t.Errorf("%d elements pass through", n)
		}
	}
}
