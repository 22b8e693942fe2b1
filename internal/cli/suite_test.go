package cli

import (
	"bytes"
	"embed"
	"encoding/csv"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"

	"github.com/zkbench/zkbench/internal/measure/suite"
	"github.com/zkbench/zkbench/internal/result/record"
	studytoken "github.com/zkbench/zkbench/internal/study/token"
	"github.com/zkbench/zkbench/internal/testing/clitest"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/internal/view/charts"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/internal/workload/circuits"
	"github.com/zkbench/zkbench/internal/workload/goldilocks"
	"github.com/zkbench/zkbench/internal/workload/guest"
	"github.com/zkbench/zkbench/internal/workload/hash"
	"github.com/zkbench/zkbench/internal/workload/rangeproof"
	"github.com/zkbench/zkbench/internal/workload/stark"
	"github.com/zkbench/zkbench/internal/workload/token"
)

//go:embed zkbench/suites/*.yaml
var ownSuites embed.FS

// suiteProgram returns a program with the real workloads of tokens, and fakes that fail, crash and
// wait.
func suiteProgram() *Program {
	var defs []workload.Def
	for _, d := range clitest.Defs() {
		if slices.Contains([]string{"BrokenOperation", "Crash", "Slow"}, d.Name) {
			defs = append(defs, d)
		}
	}
	files, err := fs.Sub(ownSuites, "zkbench/suites")
	if err != nil {
		panic(err)
	}
	return &Program{Name: "zkbench", Grids: []charts.Grid{{RowKey: "in", Rows: "inputs", ColumnKey: "out", Columns: "outputs"}}, Tables: []Table{{File: studytoken.IOStatsFile, Write: studytoken.IOStats}}, Suites: suite.Collection{Files: files, Families: []suite.Family{
		{Name: "token", Defs: token.Defs()},
		{Name: "rangeproof", Defs: rangeproof.Defs()},
		{Name: "circuits", Defs: circuits.Defs()},
		{Name: "hash", Defs: hash.Defs()},
		{Name: "goldilocks", Defs: goldilocks.Defs()},
		{Name: "stark", Defs: stark.Defs()},
		{Name: "riscv", Defs: guest.Defs()},
		{Name: "fake", Defs: defs},
	}}}
}

// tiny is a suite of both, each case of which is short.
const tiny = `name: tiny
repetitions: 2
cases:
  - run: [issuer, proof-verification-issuer]
    curves: BN254
    bits: 8
    num-outputs: 1
    executor: [serial, pool]
    cpus: [1, 1024]
    count: 20
    samples: 1
  - run: broken-operation
    bits: 8
    count: 5
  - run: slow
    bits: 8
    count: 1
    check: none
  - run: crash
    bits: 8
    count: 5
  - stages: gates
    gates: 16
`

// tinyProcesses is the number of tiny's processes: four of issues, one of each fake and one of
// stages, all twice.
const tinyProcesses = 16

// door is where slow operations wait for the test.
type door struct{ net.Listener }

func newDoor(t *testing.T) *door {
	t.Helper()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { l.Close() })
	return &door{l}
}

// open lets all operations continue from now on.
func (d *door) open() {
	go func() {
		for {
			conn, err := d.Accept()
			if err != nil {
				return
			}
			conn.Close()
		}
	}()
}

// startSuite starts the command on a suite.
func startSuite(t *testing.T, d *door, args ...string) (cmd *exec.Cmd, stdout, stderr *bytes.Buffer) {
	t.Helper()
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	cmd = exec.CommandContext(t.Context(), "zkbench-suite", append([]string{"suite"}, args...)...)
	cmd.Env = append(os.Environ(), clitest.StartedEnv+"="+d.Addr().String())
	cmd.Stdout, cmd.Stderr = stdout, stderr
	must.Do(t, cmd.Start())
	return cmd, stdout, stderr
}

func tinyFile(t *testing.T) (file, dir string) {
	t.Helper()
	root := t.TempDir()
	file, dir = filepath.Join(root, "tiny.yaml"), filepath.Join(root, "logs")
	must.Do(t, os.WriteFile(file, []byte(tiny), 0o600))
	return file, dir
}

func folderIDs(t *testing.T, dir string) (ids []string, recs []*record.Record) {
	t.Helper()
	recs, cut, err := suite.ReadFolder(dir)
	if err != nil || cut {
		t.Fatal(cut, err)
	}
	for _, r := range recs {
		ids = append(ids, r.ID)
	}
	return ids, recs
}

// TestSuite kills a suite of real and synthetic workloads in its middle, lets it go on,
// and finds every case exactly once in the records, with all views of them.
func TestSuite(t *testing.T) {
	testsize.Full(t)
	if runtime.GOOS == "windows" {
		t.Skip("no kill to send")
	}
	file, dir := tinyFile(t)
	d := newDoor(t)
	cmd, _, _ := startSuite(t, d, file, "--out", dir)
	conn := must.Get(d.Accept())(t) // the slow case of the first round
	must.Do(t, cmd.Process.Kill())
	_ = cmd.Wait()
	_, _ = conn.Read(make([]byte, 1)) // until its child is gone too
	conn.Close()
	before, _ := folderIDs(t, dir)
	golden.Equal(t, "records before it was killed", 5, len(before))
	if s, err := suite.ReadStatus(dir); err != nil || !s.Stopped || s.Done != 5 || s.Planned != tinyProcesses || !strings.HasPrefix(s.Running, "Slow/") {
		t.Errorf("status %+v, error %v", s, err)
	}

	d.open()
	cmd, stdout, stderr := startSuite(t, d, "--resume", dir)
	if code := clitest.ExitCode(t, cmd); code != ExitFailed {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	golden.Contains(t, stderr.String(), "4 of 16 processes failed")
	golden.Equal(t, "cases measured after it went on", tinyProcesses-5, strings.Count(stdout.String(), "left)\n"))
	ids, recs := folderIDs(t, dir)
	golden.Equal(t, "records of before", before, ids[:5])
	checkTiny(t, recs)
	checkViews(t, dir, recs)

	if data, err := folderPage(dir, new(Program)); err != nil || data.Progress != nil || len(data.Records) != tinyProcesses {
		t.Errorf("of a suite that has ended is served: progress %v, %d records, error %v", data.Progress, len(data.Records), err)
	}

	cmd, _, _ = startSuite(t, d, "--resume", dir)
	golden.Equal(t, "exit code once more", ExitFailed, clitest.ExitCode(t, cmd))
	again, _ := folderIDs(t, dir)
	golden.Equal(t, "cases of a suite that had ended, run again", ids, again)
	golden.Equal(t, "lines in the history, a head and a row", 2, len(readCSV(t, filepath.Join(filepath.Dir(dir), suite.ResultsFile))))
}

// checkTiny checks that each case is there once in each repetition, with its result.
func checkTiny(t *testing.T, recs []*record.Record) {
	t.Helper()
	got := make(map[string]string)
	for _, r := range recs {
		key := fmt.Sprintf("%s/%s #%d", r.Workload, r.Case, r.Process.Index)
		golden.Equal(t, "what was there before of "+key, "", got[key])
		again := slices.ContainsFunc(r.Findings, func(f record.Finding) bool { return f.Name == "tried again" })
		got[key] = fmt.Sprintf("%s cpus=%d again=%v", r.Status, r.Env.GOMAXPROCS, again)
	}
	procs := fmt.Sprint(runtime.GOMAXPROCS(0))
	want := make(map[string]string)
	for i := range 2 {
		for _, name := range []string{"Issuer", "ProofVerificationIssuer"} {
			for _, exec := range []string{"serial", "pool"} {
				want[fmt.Sprintf("%s/curve=BN254/bits=8/out=1/proof=bulletproof/exec=%s/cpus=1/workers=1 #%d", name, exec, i)] = "ok cpus=1 again=false"
			}
		}
		want[fmt.Sprintf("BrokenOperation/bits=8/cpus=%s/workers=1 #%d", procs, i)] = "failed cpus=" + procs + " again=true"
		want[fmt.Sprintf("Crash/bits=8/cpus=%s/workers=1 #%d", procs, i)] = "failed cpus=" + procs + " again=true"
		want[fmt.Sprintf("Slow/bits=8/cpus=%s/workers=1 #%d", procs, i)] = "ok cpus=" + procs + " again=false"
		want[fmt.Sprintf("Gates/gates=16/system=plonk/cpus=%s #%d", procs, i)] = "ok cpus=" + procs + " again=false"
	}
	golden.Equal(t, "cases", want, got)
}

// checkViews checks the files beside the records.
func checkViews(t *testing.T, dir string, recs []*record.Record) {
	t.Helper()
	golden.Equal(t, "logs, one for each case", tinyProcesses/2, len(must.Get(filepath.Glob(filepath.Join(dir, "logs", "*.log")))(t)))
	bench := must.Get(os.Open(filepath.Join(dir, benchFile)))(t)
	defer bench.Close()
	results := 0
	for r := benchfmt.NewReader(bench, benchFile); r.Scan(); {
		switch line := r.Result().(type) {
		case *benchfmt.SyntaxError:
			t.Error(line)
		case *benchfmt.Result:
			results++
		}
	}
	if results != 12 { // two rounds of four issues, the slow case and the stages
		t.Errorf("%d results in %s, want 12", results, benchFile)
	}
	checkBenchstat(t, filepath.Join(dir, benchFile))
	for _, name := range []string{suite.PageFile, suite.PlotsFile} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	lines := readCSV(t, filepath.Join(dir, suite.ResultsFile))
	row := make(map[string]string)
	for i, column := range lines[0] {
		row[column] = lines[1][i]
	}
	for column, want := range map[string]string{"suite": "tiny", "processes": "16", "failed": "4"} {
		golden.Equal(t, column, want, row[column])
	}
	const issuer = "curve=BN254/bits=8/out=1/proof=bulletproof/exec=pool/cpus=1/workers=1"
	var rates []float64
	for _, r := range recs {
		if r.Workload == "Issuer" && r.Case == issuer {
			rates = append(rates, r.Value(record.Throughput))
		}
	}
	golden.Equal(t, "throughput of issues", fmt.Sprintf("%.6g", (rates[0]+rates[1])/2), row["Issuer/"+issuer+" tps"])
}

// checkBenchstat feeds a file through benchstat with a column for each executor.
func checkBenchstat(t *testing.T, file string) {
	t.Helper()
	var warnings bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "go", "run", "golang.org/x/perf/cmd/benchstat", "-col", "/exec", "-format", "csv", file)
	cmd.Stderr = &warnings
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, &warnings)
	}
	_, times, _ := strings.Cut(string(out), ",serial,,pool,")
	for _, name := range []string{"Issuer", "ProofVerificationIssuer"} {
		_, line, _ := strings.Cut(times, "\n"+name+"/curve=BN254/bits=8/out=1/proof=bulletproof/cpus=1/workers=1,")
		figures := strings.SplitN(line, ",", 4) // time, interval, time, rest
		for _, column := range []int{0, 2} {
			if column >= len(figures) {
				t.Fatalf("%s is not in both columns of\n%s", name, out)
			}
			if s, err := strconv.ParseFloat(figures[column], 64); err != nil || s <= 0 || s > 1 {
				t.Errorf("%s: %q s, error %v", name, figures[column], err)
			}
		}
	}
}

func readCSV(t *testing.T, path string) [][]string {
	t.Helper()
	raw := must.Get(os.ReadFile(path))(t)
	return must.Get(csv.NewReader(bytes.NewReader(raw)).ReadAll())(t)
}
