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

// vectors calls check for each line of the published values.
func vectors(t *testing.T, check func(kind string, words []string)) {
	t.Helper()
	file, err := os.Open("testdata/poseidon_goldilocks.txt")
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
	vectors(t, func(kind string, words []string) {
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
