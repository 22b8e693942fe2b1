package poseidon_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/poseidon"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// vectors calls check for each line of a file of published values.
func vectors(t *testing.T, name string, check func(kind string, words []string)) {
	t.Helper()
	for line := range strings.Lines(golden.Read(t, "goldilocks/"+name)) {
		if words := strings.Fields(line); len(words) > 0 && words[0] != "#" {
			check(words[0], words[1:])
		}
	}
}

func elements(t *testing.T, words []string) (all []goldilocks.Element) {
	t.Helper()
	for _, w := range words {
		v := must.Get(strconv.ParseUint(w, 16, 64))(t)
		all = append(all, goldilocks.Element(v))
	}
	return all
}

// firstNumbers returns the numbers 1 to n.
func firstNumbers(n int) []goldilocks.Element {
	all := make([]goldilocks.Element, n)
	for i := range all {
		all[i] = goldilocks.Element(i + 1)
	}
	return all
}

// TestVectors: the values that plonky2 and Hermez publish.
func TestVectors(t *testing.T) {
	t.Parallel()
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
			must.Get(fmt.Sscanf(words[0], "1..%d", &n))(t)
			golden.Equal(t, fmt.Sprintf("linear_hash of %d", n), poseidon.Digest(elements(t, words[1:])), poseidon.LinearHash(firstNumbers(n)))
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
	t.Parallel()
	functions := map[string]func([]goldilocks.Element) poseidon.Digest{"hash_no_pad": poseidon.HashNoPad, "hash_or_noop": poseidon.HashOrNoop}
	compared := make(map[string]int)
	vectors(t, "plonky2_hashes.txt", func(kind string, words []string) {
		var n int
		must.Get(fmt.Sscanf(words[0], "1..%d", &n))(t)
		compared[kind]++
		golden.Equal(t, fmt.Sprintf("%s of %d", kind, n), poseidon.Digest(elements(t, words[1:])), functions[kind](firstNumbers(n)))
	})
	if compared["hash_no_pad"] != 11 || compared["hash_or_noop"] != 11 {
		t.Errorf("compared %v", compared)
	}
}

// TestHash: it binds the length, unlike the others, and hashes what they pass through.
func TestHash(t *testing.T) {
	t.Parallel()
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

// TestHashVectors: of 1, 2, 3, ..., n, what the paper's permutation on big integers gives
// with n + 1 in the ninth element. None are published.
func TestHashVectors(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]poseidon.Digest{
		0:  {0x7554d7ffa54114fd, 0xa440cca74f8b9a89, 0xb947b1ce626a929f, 0xd678e10b815246da},
		1:  {0x831f4da30e44b11e, 0x8270739539bf9b7a, 0xdbd1bbce275358af, 0x9c41bf0f8e90bcb7},
		7:  {0x3bd179faa366e29d, 0x3410797f372a1f0c, 0xad38f7937046286f, 0xd3c5121fbe5966df},
		8:  {0x631f724164d2e348, 0x60adac0239e2696e, 0x4a57547d4886dec3, 0xa7994afec0633095},
		9:  {0xf10546d72482c53e, 0xc26e7f2ae7fa561e, 0x33ef5eedd3b6b5b5, 0x4723ba102db8d910},
		16: {0xf716c165239229f4, 0xb64f5c415a67d98f, 0x5082ef45ae735239, 0x3a4799eda86c3b80},
		17: {0xbe4b2d12bf81ae2f, 0x865225f4d0d1b1ae, 0x24b8603eec79c602, 0x5ded76bd58cee142},
	} {
		golden.Equal(t, fmt.Sprintf("hash of %d", n), want, poseidon.Hash(firstNumbers(n)))
	}
}

// TestHashApart: no input of Hash is one of Compress or of another hash, the empty one
// neither, whose block is zeros as theirs may be.
func TestHashApart(t *testing.T) {
	t.Parallel()
	zeros := make([]goldilocks.Element, poseidon.Rate)
	for n := range poseidon.Rate + 1 {
		switch poseidon.Hash(zeros[:n]) {
		case poseidon.Compress(poseidon.Digest{}, poseidon.Digest{}), poseidon.LinearHash(zeros), poseidon.HashNoPad(zeros), poseidon.HashNoPad(nil):
			t.Errorf("%d zeros hash to what another function gives", n)
		}
	}
}
