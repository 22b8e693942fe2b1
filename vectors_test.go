package zkbench_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/rangeproof"
)

// proofVectors are the files that testdata/verify verifies.
var proofVectors = []string{
	"bulletproof/*.txt", "csp/*.txt", "token/vector_bn254_bits8.txt", "token/pseudonym_bn254.txt",
	"token/request_bn254_bits8.txt", "token/policy.txt",
}

// TestVerifier: the verifier in Python, which is written from the pages, accepts each file of proofs,
// and refuses each record of it of which one digit is changed.
func TestVerifier(t *testing.T) {
	python := testsize.Program(t, "python3", "python3")
	// They are opened here so that the test's cached result is not used after a change of them.
	for _, source := range must.Get(filepath.Glob("testdata/verify/*.py"))(t) {
		must.Get(os.ReadFile(source))(t)
	}
	var files []string
	for _, pattern := range proofVectors {
		found := must.Get(filepath.Glob(filepath.Join("testdata", pattern)))(t)
		if len(found) == 0 {
			t.Errorf("no file %s", pattern)
		}
		files = append(files, found...)
	}
	for i, said := range verdicts(t, python, files) {
		golden.Equal(t, files[i], "ok", said)
	}

	dir := t.TempDir()
	var changed, what []string
	for _, file := range files {
		for r, record := range strings.Split(string(must.Get(os.ReadFile(file))(t)), "\n\n") {
			for l, variant := range changedDigits(record) {
				if l%testsize.Pick(20, 1, 1) > 0 {
					continue
				}
				path := filepath.Join(dir, fmt.Sprint(len(changed)))
				must.Do(t, os.WriteFile(path, []byte(variant.text), 0o600))
				changed, what = append(changed, path), append(what, fmt.Sprintf("%s: record %d: %s changed", file, r, variant.name))
			}
		}
	}
	// Numbers that no parameters can be made of.
	for _, stop := range []string{"0", strings.Repeat("9", 5000), "18446744073709551616"} {
		path := filepath.Join(dir, fmt.Sprint(len(changed)))
		must.Do(t, os.WriteFile(path, []byte("group BN254\nrange-proof csp\nbits 8\nstop "+stop+"\n"), 0o600))
		changed, what = append(changed, path), append(what, "a stop of "+stop[:1]+"...")
	}
	for i, said := range verdicts(t, python, changed) {
		// The last state of a transcript differs, too, but is compared last: it is not what a proof is refused for.
		if !strings.HasPrefix(said, "refused: ") || strings.Contains(said, "last state") && !strings.Contains(what[i], ": state") {
			t.Errorf("%s: %q, want refused", what[i], said)
		}
	}
}

// TestGeneratorsOnPage: the commitment key of BN254 in docs/transcript.md is the one that is computed.
func TestGeneratorsOnPage(t *testing.T) {
	g, page := group.BN254(), string(must.Get(os.ReadFile("docs/transcript.md"))(t))
	for letter, family := range map[string]string{"G": rangeproof.ValueFamily, "H": rangeproof.BlindingFamily} {
		point := must.Get(group.Generator(g, family, 0))(t)
		golden.Contains(t, page, fmt.Sprintf("    %s = %x\n", letter, g.AppendPoints(nil, point)))
	}
}

// verdicts returns the verifier's verdict on each file.
func verdicts(t *testing.T, python string, files []string) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), python, append([]string{filepath.Join("testdata", "verify")}, files...)...).Output()
	said := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(said) != len(files) {
		t.Fatalf("%d lines for %d files: %s, %v", len(said), len(files), out, err)
	}
	if fine := !strings.Contains(string(out), ": refused: "); fine != (err == nil) {
		t.Fatalf("exit of the verifier: %v, and it says %s", err, out)
	}
	for i := range said {
		verdict, ok := strings.CutPrefix(strings.TrimSpace(said[i]), files[i]+": ")
		if !ok {
			t.Fatalf("%q is not of %s", said[i], files[i])
		}
		said[i] = verdict
	}
	return said
}

// changedRecord is a record with one digit changed.
type changedRecord struct{ name, text string }

// changedDigits returns the record with a digit changed, at up to eight positions of each of its
// values. It leaves seeds as they are, because the verifier does not read them.
func changedDigits(record string) (all []changedRecord) {
	const places = 8
	line := regexp.MustCompile(`(?m)^([^#\n]+) ([0-9a-f-]+)$`)
	for _, at := range line.FindAllStringSubmatchIndex(record, -1) {
		name, from, n := record[at[2]:at[3]], at[4], at[5]-at[4]
		if name == "seed" {
			continue
		}
		step := max(64, n/places) // a point or scalar
		for offset := min(n, step) / 2; offset < n; offset += step {
			i, other := from+offset, "1"
			if record[i] == '1' {
				other = "2"
			}
			all = append(all, changedRecord{fmt.Sprintf("%s, digit %d,", name, offset), record[:i] + other + record[i+1:]})
		}
	}
	return all
}
