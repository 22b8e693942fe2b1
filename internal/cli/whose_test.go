package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/recordtest"
	"github.com/zkbench/zkbench/internal/testing/testsize"
)

// heldBytes is how much memory the prover of these tests holds while it proves.
const heldBytes = 300 << 20

// ballastProver is a foreign prover: STEP INPUT PROOF. Preparing takes far more processor time than
// proving, and proving far more memory than anything else, including this process.
func ballastProver() {
	switch os.Args[1] {
	case "prepare":
		sum := sha256.Sum256(nil)
		for begin := time.Now(); time.Since(begin) < time.Second; {
			for range 1000 {
				sum = sha256.Sum256(sum[:])
			}
		}
		os.Exit(int(sum[0]) >> 8)
	case "prove":
		held := make([]byte, heldBytes)
		for i := 0; i < len(held); i += 4096 {
			held[i] = 1
		}
		if os.WriteFile(os.Args[3], []byte(digest(os.Args[2])), 0o600) != nil {
			os.Exit(1)
		}
		runtime.KeepAlive(held)
	case "verify":
		if proof, err := os.ReadFile(os.Args[3]); err != nil || string(proof) != digest(os.Args[2]) {
			os.Exit(4)
		}
	}
}

func digest(path string) string {
	raw, err := os.ReadFile(path)
	if err != nil {
		os.Exit(1)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

const ballastFile = `
name: ballast
prepare: ballast-prover prepare
prove: ballast-prover prove {input} {proof}
verify: ballast-prover verify {input} {proof}
read: {proof: {size: "{proof}"}}
`

// TestWhoseFigures: every table shows a foreign prover's memory and processor time as the prover's,
// and those of proving for what proves.
func TestWhoseFigures(t *testing.T) {
	testsize.Full(t)
	if runtime.GOOS != "linux" {
		t.Skip("memory of processes is told on Linux")
	}
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "ballast.yaml"), []byte(ballastFile), 0o600))
	zkbench := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "zkbench", args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	matches := func(what, text, expression string) []string {
		t.Helper()
		found := regexp.MustCompile(expression).FindStringSubmatch(text)
		if found == nil {
			t.Fatalf("%s: nothing matches %s in\n%s", what, expression, text)
		}
		return found
	}
	const peak = `3[1-6]\d MB` // the ballast, and the program
	load := []string{"exec", "ballast.yaml", "run", "--count", "2", "--samples", "1"}
	short := zkbench(append(load, "--out", "load")...)
	golden.Contains(t, short, "\nmemory and processor time are those of the prover's processes of prove\n")
	matches("run", short, `\nBallast .* `+peak+` `)

	long := zkbench(append(load, "-v")...)
	matches("run -v", long, `\n Process +prover/prove +Memory and processor time are those of the prover's processes of prove\n`)
	matches("run -v", long, `\n Peak memory +`+peak+` +Maximum resident memory`)
	matches("run -v", long, `\n CPU Time, User +\S+/op +Processor time per operation in user mode\n`)
	matches("run -v", long, `\n window +\S+ +\S+ MB +\S+ [kM]B +zkbench\n`)

	stages := zkbench("exec", "ballast.yaml", "stages", "ballast", "--json", "stages.jsonl")
	matches("stages", stages, `\n prove +\S+ +`+peak+` +- +prover/prove +cpu \S+ms/op, cpu-user \S+/op, cpu-system \S+/op`)
	matches("stages", stages, `\n prepare +\S+ +(\S+ MB|-) +- +prover/prepare +cpu [0-9.]+m?s/op`)

	must.Do(t, os.Mkdir(filepath.Join(dir, "staged"), 0o700))
	must.Do(t, os.Rename(filepath.Join(dir, "stages.jsonl"), filepath.Join(dir, "staged", "records.jsonl")))
	zkbench("report", "load", "staged", "--out", "page.html")
	page := string(must.Get(os.ReadFile(filepath.Join(dir, "page.html")))(t))
	var recs []*record.Record
	for _, name := range []string{"load", "staged"} {
		recs = append(recs, recordtest.ReadFile(t, filepath.Join(dir, name, "records.jsonl"))...)
	}
	golden.Equal(t, "records", 2, len(recs))
	shown := regexp.MustCompile(`"peak-rss":\[([0-9.e+]+)\]`).FindAllStringSubmatch(page, -1)
	golden.Equal(t, "cases with a peak on the page", 2, len(shown))
	for _, s := range shown {
		golden.Within(t, "peak on the page", heldBytes, must.Get(strconv.ParseFloat(s[1], 64))(t), heldBytes+64<<20)
	}
	shown = regexp.MustCompile(`"cpu":\[([0-9.e+]+)\]`).FindAllStringSubmatch(page, -1)
	golden.Equal(t, "cases with processor time on the page", 2, len(shown))
	for i, rec := range recs {
		m, _ := rec.Metric(record.CPUTime)
		golden.Equal(t, "whose processor time", "prover/prove", string(m.Whose))
		golden.Near(t, "processor time on the page", m.Value, must.Get(strconv.ParseFloat(shown[i][1], 64))(t), 1e-4)
		golden.Within(t, "processor time of proving, not of a second's preparing", 0, m.Value, 9e8)
	}
	golden.Contains(t, page, `"cpu":"the prover's processes of prove"`)
	golden.Contains(t, string(must.Get(os.ReadFile(filepath.Join(dir, "load", "bench.txt")))(t)), " prover-prove-peak-RSS-B")
	golden.Contains(t, string(must.Get(os.ReadFile(filepath.Join(dir, "load", "results.csv")))(t)), ",prover/prove: ")
	golden.Contains(t, zkbench("compare", "load/records.jsonl", "load/records.jsonl"), "cpu (prover/prove) ")
}
