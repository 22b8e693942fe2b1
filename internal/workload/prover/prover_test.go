//go:build unix

package prover_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/zkbench/zkbench/internal/input/yamlfile"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/internal/workload/prover"
)

// proverArg makes the test binary act as the prover if it is the first argument. The others say what to do.
const proverArg = "prover-test-program"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == proverArg {
		os.Exit(program(os.Args[2], os.Args[3:]))
	}
	// Of what other tests leave behind nothing is ours.
	dir, err := os.MkdirTemp("", "prover-test-")
	if err != nil || os.Setenv("TMPDIR", dir) != nil {
		panic("no directory")
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

func digestOf(path string) string {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// program acts as a prover whose proof is the digest of its input.
func program(what string, args []string) int {
	switch what {
	case "prepare":
		fmt.Println("constraints: 77")
	case "prove": // INPUT PROOF
		digest := digestOf(args[0])
		fmt.Println("digest", digest)
		if os.WriteFile(args[1], []byte(digest), 0o600) != nil {
			return 1
		}
	case "prove-with-ballast":
		held := hold()
		defer runtime.KeepAlive(held)
		return program("prove", args)
	case "prove-to-output":
		fmt.Print(digestOf(args[0]))
	case "verify": // INPUT PROOF
		raw, err := os.ReadFile(args[1])
		if err != nil || string(raw) != digestOf(args[0]) {
			fmt.Fprintln(os.Stderr, "not a proof")
			return 4
		}
		fmt.Println("accepted")
	case "accept": // whatever it is
	case "lie": // INPUT PROOF
		_ = os.WriteFile(args[1], []byte(strings.Repeat("0", 64)), 0o600)
		fmt.Println("digest", strings.Repeat("0", 64))
	case "hang":
		time.Sleep(time.Hour)
	case "flood":
		for {
			fmt.Println(strings.Repeat("all work and no play ", 1000))
		}
	case "die":
		fmt.Fprintln(os.Stderr, "died on purpose")
		return 9
	case "write": // gigabytes into DIR
		file, err := os.CreateTemp(args[0], "")
		for err == nil {
			_, err = file.Write(make([]byte, 1<<20))
			time.Sleep(time.Millisecond)
		}
	case "leave": // a child in a session of its own, and do what prove does
		other := exec.Command(os.Args[0], proverArg, "hang")
		other.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if other.Start() != nil {
			return 1
		}
		_ = os.WriteFile(filepath.Join(filepath.Dir(args[0]), "left"), fmt.Append(nil, other.Process.Pid), 0o600)
		return program("prove", args)
	case "serve":
		return serve(args)
	default:
		return 1
	}
	return 0
}

// serve acts as a resident prover. Its argument says how it misbehaves.
func serve(args []string) int {
	mode := ""
	if len(args) > 0 {
		mode = args[0]
	}
	var kept [][]byte
	in := bufio.NewScanner(os.Stdin)
	calls := 0
	for in.Scan() {
		var q struct {
			Do, Input, Result string
			Axes              map[string]string
		}
		if json.Unmarshal(in.Bytes(), &q) != nil {
			return 1
		}
		calls++
		switch {
		case q.Do == "start" && mode == "protocol":
			fmt.Println(`{"result":"ready","protocol":7}`)
		case q.Do == "start" && mode == "unready":
			fmt.Println(`{"result":"hello","protocol":1}`)
		case q.Do == "start" && mode == "forge":
			fmt.Println(`{"result":"ready","protocol":1,"figures":{"throughput":1e9}}`)
		case q.Do == "start" && mode == "eager":
			fmt.Print(`{"result":"ready","protocol":1}` + "\n" + `{"result":"0"}` + "\n") // at once
		case q.Do == "start":
			fmt.Printf("{\"result\":\"ready\",\"protocol\":1,\"figures\":{\"constraints\":%s}}\n", q.Axes["bytes"])
		case mode == "garbage":
			fmt.Println("what?")
		case mode == "logs":
			fmt.Println(strings.Repeat("x", 1000))
		case mode == "hang":
			time.Sleep(time.Hour)
		case mode == "flood":
			for {
				fmt.Print(strings.Repeat("x", 1<<16))
			}
		case mode == "die" && calls%5 == 4:
			fmt.Fprintln(os.Stderr, "died on purpose")
			return 9
		case q.Do == "prove" && mode == "empty":
			fmt.Println(`{}`)
		case q.Do == "prove":
			if mode == "ballast" && kept == nil {
				kept = append(kept, hold())
			}
			if mode == "grow" {
				kept = append(kept, bytes.Repeat([]byte{1}, 8<<20))
			}
			if mode == "slow" {
				time.Sleep(50 * time.Millisecond)
			}
			result := digestOf(q.Input)
			if mode == "lie" {
				result = "0"
			}
			fmt.Printf("{\"result\":%q,\"bytes\":%d}\n", result, len(result))
		case mode == "empty":
			fmt.Println(`{}`)
		case mode != "rejects" && q.Result == digestOf(q.Input) || mode == "accept":
			fmt.Println(`{"result":"ok"}`)
		case mode == "rejects":
			fmt.Println(`{"result":"rejected"}`)
		default:
			fmt.Println(`{"error":"not a proof"}`)
		}
	}
	runtime.KeepAlive(kept)
	return 0
}

// spec returns the Spec of a file with this text, in which SELF stands for the test's prover.
func spec(t testing.TB, text string) *prover.Spec {
	t.Helper()
	text = strings.ReplaceAll(text, "SELF", os.Args[0]+" "+proverArg)
	return must.Get(prover.Read(filepath.Join(t.TempDir(), "p.yaml"), strings.NewReader(text), nil))(t)
}

const honest = `
name: honest-hash
axes: {bytes: [64, 256]}
prepare: [SELF prepare]
prove: SELF prove {input} {proof}
verify: SELF verify {input} {proof}
read:
  proof: {size: "{proof}"}
  constraints: {of: prepare, match: 'constraints: (\d+)'}
must:
  verdict: {of: verify, match: '\w+', equals: accepted}
limits: {output: 1MiB}
properties: {proved-bits: 99.5, claimed-bits: 128, zero-knowledge: no, setup: none, audited: by nobody}
`

const resident = `
name: resident-hash
axes: {bytes: 64}
serve: SELF serve MODE
limits: {output: 1MiB}
timeout: 5s
`

// run measures a case for a short time.
func run(t testing.TB, s *prover.Spec, stage string, workers int, change func(*measure.Settings)) *record.Record {
	t.Helper()
	// As a child has it: of what travels in the job.
	def := must.Get(s.Def())(t)
	again := must.Get(prover.Decode(def.Spec))(t)
	def = must.Get(again.Def())(t)
	c := workload.NewCase(record.Axis{Key: "bytes", Value: "64"}, record.Axis{Key: record.StageKey, Value: stage})
	settings := measure.DefaultSettings(workers, 100*time.Millisecond)
	settings.Samples, settings.Grace = 2, 10*time.Second
	if change != nil {
		change(&settings)
	}
	before := left(t)
	rec := measure.Case(t.Context(), def, c, settings)
	if now := left(t); now > before {
		t.Errorf("%d directories are left behind", now-before)
	}
	return rec
}

// left returns the number of directories that provers have.
func left(t testing.TB) int {
	return len(must.Get(filepath.Glob(filepath.Join(os.TempDir(), "zkbench-prover-*")))(t))
}

// TestCommands: a prover by its commands, both stages, one worker and several.
func TestCommands(t *testing.T) {
	s := spec(t, honest)
	for _, stage := range []string{"prove", "verify"} {
		for _, workers := range []int{1, 3} {
			rec := run(t, s, stage, workers, nil)
			if rec.Status != record.OK {
				t.Fatalf("%s with %d workers: %s: %s", stage, workers, rec.Status, rec.Error)
			}
			golden.Equal(t, "proof", 64., rec.Value(record.ProofSize))
			golden.Equal(t, "constraints", 77., rec.Value(record.Constraints))
			golden.Equal(t, "properties", &record.Properties{ProvedBits: 99.5, ClaimedBits: 128, ZeroKnowledge: "no", Setup: "none", Audited: "by nobody"}, rec.Properties)
			if rec.Value(record.PeakRSS) < 1<<20 || rec.Value(record.CPUTime) <= 0 {
				t.Errorf("%s: peak %v, CPU %v", stage, rec.Value(record.PeakRSS), rec.Value(record.CPUTime))
			}
			if _, ok := rec.Metric(record.Allocs); ok {
				t.Error("allocations of this process among the figures of another")
			}
			if rec.Count(record.CountChecked) == 0 {
				t.Error("nothing checked")
			}
		}
	}
	def := must.Get(s.Def())(t)
	rec := measure.Stages(t.Context(), def, workload.NewCase(record.Axis{Key: "bytes", Value: "64"}), measure.DefaultSettings(1, 0))
	var names []string
	for _, stage := range rec.Stages {
		names = append(names, stage.Name)
	}
	golden.Equal(t, "stages", []string{"prepare", "prove", "verify"}, names)
	golden.Equal(t, "status", record.OK, rec.Status)
}

// TestProofOnOutput: what proving prints is the proof where nothing else is.
func TestProofOnOutput(t *testing.T) {
	s := spec(t, "name: printed\naxes: {bytes: 64}\nprove: SELF prove-to-output {input}\nverify: SELF verify {input} {proof}\n")
	for _, stage := range []string{"prove", "verify"} {
		if rec := run(t, s, stage, 1, nil); rec.Status != record.OK {
			t.Errorf("%s: %s", stage, rec.Error)
		}
	}
}

// TestShell: a shell is used where the file says so, and what is put in stays one word.
func TestShell(t *testing.T) {
	s := spec(t, "name: by-shell\naxes: {bytes: 64}\nshell: true\nenv: {TWO WORDS: x, WHERE: 'a b{cpus}'}\nprove: cat {input} | SELF prove {input} {proof} && test \"$WHERE\" = 'a b{cpus}'\nverify: SELF verify {input} {proof}\n")
	if rec := run(t, s, "prove", 1, nil); rec.Status != record.OK {
		t.Errorf("%s", rec.Error)
	}
}

// TestMisbehaving: who lies, hangs, floods, dies or writes without end is found, and nothing of it
// is left.
func TestMisbehaving(t *testing.T) {
	testsize.Full(t)
	for _, test := range []struct{ name, file, stage, want string }{
		{"a lie in the proof", "prove: SELF lie {input} {proof}\nverify: SELF verify {input} {proof}", "prove", "its own proof: verify: "},
		{"a lie in the output", "prove: SELF lie {input} {proof}\ninput: SELF prove {input} {input}\nmust: {digest: {of: prove, match: 'digest (\\w+)', as: {of: input, match: 'digest (\\w+)'}}}", "prove", "digest is \"0000"},
		{"another lie", "prove: SELF prove {input} {proof}\nmust: {digest: {of: prove, match: 'digest (\\w+)', equals: '{bytes}'}}", "prove", "and must be \"64\""},
		{"no digest", "prove: SELF prove {input} {proof}\nmust: {digest: {of: prove, match: 'sum (\\w+)', equals: '1'}}", "prove", "nothing in its output matches"},
		{"a verifier that accepts all", "prove: SELF prove {input} {proof}\nverify: SELF accept {input} {proof}", "prove", "accepts a proof that was changed"},
		{"the same, measured", "prove: SELF prove {input} {proof}\nverify: SELF accept {input} {proof}", "verify", "accepts a proof that was changed"},
		{"proves nothing", "prove: SELF accept {input} {proof}\nverify: SELF accept {input} {proof}", "prove", "no proof: "},
		{"an empty proof", "prove: cp /dev/null {proof}\nverify: SELF accept {input} {proof}", "prove", "the proof is empty"},
		{"a proof of nothing", "prove: cp /dev/stdin {proof}\nverify: cmp {proof} /dev/null", "prove", "the proof is empty"},
		{"a proof for all inputs", "prove: sh -c 'echo one >\"$1\"' sh {proof}\nverify: sh -c 'echo one | cmp - \"$2\"' sh {input} {proof}", "prove", "accepts a proof for another input"},
		{"a verifier that dies", "prove: SELF prove {input} {proof}\nverify: sh -c 'SELF verify \"$1\" \"$2\" || kill -9 $$' sh {input} {proof}", "verify", "verifying a changed proof: verify: sh: signal: killed"},
		{"hangs", "prove: SELF hang\nverify: SELF accept", "prove", "not ended after 1s"},
		{"floods", "prove: SELF flood\nverify: SELF accept", "prove", "bytes on standard output"},
		{"dies", "prove: SELF die\nverify: SELF accept", "prove", "exit status 9: died on purpose"},
		{"is not there", "prove: ./no-such-prover\nverify: SELF accept", "prove", `command: "./no-such-prover" is not accepted`},
		{"writes gigabytes", "prove: SELF write {dir}", "prove", "bytes written"},
		{"does not prepare", "prepare: SELF die\nprove: SELF accept", "prove", "prepare: "},
		{"no figure", "prove: SELF prove {input} {proof}\nread: {constraints: {of: prove, match: 'constraints (\\d+)'}}", "prove", "read: constraints: nothing in the output of prove"},
		{"no number", "prove: SELF prove {input} {proof}\nread: {constraints: {of: prove, match: 'digest'}}", "prove", `"digest" in the output of prove is not a number`},
		{"no file", "prove: SELF prove {input} {proof}\nread: {proof: {size: '{dir}/none'}}", "prove", "read: proof: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := spec(t, "name: bad\naxes: {bytes: 64}\ntimeout: 1s\nlimits: {output: 1MiB, written: 32MiB}\n"+test.file+"\n")
			if test.name == "writes gigabytes" {
				s.Timeout = time.Minute
			}
			rec := run(t, s, test.stage, 1, func(s *measure.Settings) { s.Samples = 1 })
			text := rec.Error
			for _, f := range rec.Findings {
				text += "\n" + f.Text
			}
			if rec.Status != record.Failed || !strings.Contains(text, test.want) {
				t.Errorf("%s: %s; want ...%s", rec.Status, text, test.want)
			}
		})
	}
}

// TestNotRefused: a prover that hangs or floods before anything is measured fails, and is not taken
// for a user's mistake, with which a run of several cases would end.
func TestNotRefused(t *testing.T) {
	for _, file := range []string{"prepare: SELF hang\nprove: SELF accept", "prepare: SELF flood\nprove: SELF accept", "serve: SELF hang"} {
		rec := run(t, spec(t, "name: bad\naxes: {bytes: 64}\ntimeout: 500ms\nlimits: {output: 1MiB}\n"+file+"\n"), "prove", 1, nil)
		if rec.Status != record.Failed || rec.Refused() {
			t.Errorf("%s: %s, refused %v: %s", file, rec.Status, rec.Refused(), rec.Error)
		}
	}
}

// TestLeftBehind: a process that a prover leaves behind is a finding, and is ended.
func TestLeftBehind(t *testing.T) {
	pidFile := ""
	s := spec(t, "name: leaving\naxes: {bytes: 64}\nprove: SELF leave {input} {proof}\nverify: SELF verify {input} {proof}\ninput: sh -c 'echo {seed} >\"$1\"' sh {input}\n")
	def := must.Get(s.Def())(t)
	c := workload.NewCase(record.Axis{Key: "bytes", Value: "64"}, record.Axis{Key: record.StageKey, Value: "prove"})
	instance := must.Get(def.New(t.Context(), c, 1))(t)
	in := must.Get(instance.Input(t.Context(), 1))(t)
	output := must.Get(instance.Run(t.Context(), in))(t)
	must.Do(t, instance.Check(t.Context(), in, output))
	pidFile = must.Get(filepath.Glob(filepath.Join(os.TempDir(), "zkbench-prover-*", "left")))(t)[0]
	var pid int
	must.Get(fmt.Sscan(string(must.Get(os.ReadFile(pidFile))(t)), &pid))(t)
	_, findings := instance.(workload.Measured).Measured()
	if len(findings) != 1 || findings[0].Name != "left behind" {
		t.Errorf("findings %v", findings)
	}
	if syscall.Kill(pid, 0) == nil {
		t.Errorf("process %d lives", pid)
	}
	must.Do(t, instance.Close())
}

// TestUnchecked: who has nothing to be checked by is told so.
func TestUnchecked(t *testing.T) {
	rec := run(t, spec(t, "name: unchecked\naxes: {bytes: 64}\nprove: SELF prove {input} {proof}\n"), "prove", 1, nil)
	if rec.Status != record.OK || !rec.Found("unchecked") {
		t.Errorf("%s, findings %v", rec.Status, rec.Findings)
	}
}

// TestAlone: operations that use the same files do not overlap.
func TestAlone(t *testing.T) {
	rec := run(t, spec(t, "name: alone\nalone: true\naxes: {bytes: 64}\nprove: SELF prove {input} {proof}\n"), "prove", 2, nil)
	if !rec.Refused() || !strings.Contains(rec.Error, `workers: "2" is not accepted`) {
		t.Errorf("%s: %s", rec.Status, rec.Error)
	}
}

func TestResident(t *testing.T) {
	s := spec(t, strings.ReplaceAll(resident, "MODE", "well"))
	for _, stage := range []string{"prove", "verify"} {
		for _, workers := range []int{1, 3} {
			rec := run(t, s, stage, workers, nil)
			if rec.Status != record.OK {
				t.Fatalf("%s with %d workers: %s: %s", stage, workers, rec.Status, rec.Error)
			}
			golden.Equal(t, "constraints", 64., rec.Value(record.Constraints))
			golden.Equal(t, "proof", 64., rec.Value(record.ProofSize))
			if rec.Value(record.PeakRSS) < 1<<20 || rec.Value(record.CPUTime) <= 0 {
				t.Errorf("%s: peak %v, CPU %v", stage, rec.Value(record.PeakRSS), rec.Value(record.CPUTime))
			}
		}
	}
}

// TestResidentGivenUp: an operation that nobody waits for does not cost the prover its life, nor the
// next operation its answer; one that hangs is replaced.
func TestResidentGivenUp(t *testing.T) {
	def := must.Get(spec(t, strings.ReplaceAll(resident, "MODE", "slow")).Def())(t)
	c := workload.NewCase(record.Axis{Key: "bytes", Value: "64"}, record.Axis{Key: record.StageKey, Value: "prove"})
	instance := must.Get(def.New(t.Context(), c, 1))(t)
	in := must.Get(instance.Input(t.Context(), 1))(t)
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		_, err := instance.Run(ctx, in)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("error %v", err)
		}
	}
	output := must.Get(instance.Run(t.Context(), in))(t)
	must.Do(t, instance.Check(t.Context(), in, output))
	if _, findings := instance.(workload.Measured).Measured(); len(findings) > 0 {
		t.Errorf("findings %v", findings)
	}
	must.Do(t, instance.Close())
}

// TestDeadlines: contexts that end as an answer comes are none of the next answer's.
func TestDeadlines(t *testing.T) {
	def := must.Get(spec(t, strings.ReplaceAll(resident, "MODE", "well")).Def())(t)
	c := workload.NewCase(record.Axis{Key: "bytes", Value: "64"}, record.Axis{Key: record.StageKey, Value: "prove"})
	instance := must.Get(def.New(t.Context(), c, 1))(t)
	in := must.Get(instance.Input(t.Context(), 1))(t)
	for i := range 2000 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(20+i%100)*time.Microsecond)
		if _, err := instance.Run(ctx, in); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("call %d: %v", i, err)
		}
		cancel()
	}
	must.Get(instance.Run(t.Context(), in))(t)
	must.Do(t, instance.Close())
}

// TestResidentMisbehaving: the same of resident provers.
func TestResidentMisbehaving(t *testing.T) {
	testsize.Full(t)
	for _, test := range []struct {
		mode, want string
		status     record.Status
	}{
		{"protocol", "protocol 7 is not known; accepted: 1", record.Failed},
		{"unready", `the answer to start is "hello"; accepted: "ready"`, record.Failed},
		{"garbage", `the prover's line is not an answer: "what?": `, record.Failed},
		{"logs", `the prover's line is not an answer: "` + strings.Repeat("x", 100) + `"...: `, record.Failed},
		{"logs", "logs belong on standard error", record.Failed},
		{"lie", "its own proof: verify: not a proof", record.Failed},
		{"accept", "accepts a proof that was changed", record.Failed},
		{"empty", "the result is empty", record.Failed},
		{"rejects", `the result is "rejected"; accepted: "ok"`, record.Failed},
		{"forge", "figure throughput: zkbench measures it itself", record.Failed},
		{"eager", `answers before it is asked: "{\"result\":\"0\"}"; logs belong on standard error`, record.Failed},
		{"hang", "not ended after 1s", record.Failed},
		{"flood", "bytes of a prover's answer", record.Failed},
		{"die", "exit status 9: died on purpose", record.Failed},
		{"grow", "the prover had ", record.OK},
	} {
		t.Run(test.mode, func(t *testing.T) {
			s := spec(t, strings.ReplaceAll(resident, "MODE", test.mode))
			if test.mode == "hang" {
				s.Timeout = time.Second
			}
			rec := run(t, s, "prove", 1, func(s *measure.Settings) { s.Samples = 1; s.Check.N, s.Check.Policy = 1, "sample" })
			text := rec.Error
			for _, f := range rec.Findings {
				text += "\n" + f.Text
			}
			if rec.Status != test.status || !strings.Contains(text, test.want) {
				t.Errorf("%s: %s; want ...%s", rec.Status, text, test.want)
			}
		})
	}
}

// TestMistakes: all mistakes of a file at once, each with its line.
func TestMistakes(t *testing.T) {
	_, err := prover.Read("bad.yaml", strings.NewReader(`name: Bad Name
colour: red
axes:
  dir: [1]
  ok: [1, "a b"]
prepare: run {nothing}
prove: run {input} | less
verify: 'run "open'
serve: too much
read:
  proof: {size: "{proof}", of: prove}
  other: {of: cook, match: '('}
  more: {of: input, match: 'x'}
must:
  one: {of: prove, match: x}
  two: {of: prepare, match: x, equals: x}
limits: {memory: much, disk: 3}
timeout: soon
shell: maybe
properties: {setup: some, zero-knowledge: perhaps, proved-bits: many, smell: good}
`), []string{"taken"})
	mistakes, ok := errors.AsType[*yamlfile.Error](err)
	if !ok {
		t.Fatalf("error %v", err)
	}
	_, zero := prover.Read("zero.yaml", strings.NewReader("name: ab\nprove: x\nproperties: {claimed-bits: 0}\n"), nil)
	golden.Contains(t, fmt.Sprint(zero), `claimed-bits: "0" is not accepted; accepted: a number of bits above 0`)
	lines := make(map[int]bool)
	for _, m := range mistakes.Mistakes {
		lines[m.Line] = true
	}
	for _, line := range []int{1, 2, 4, 5, 6, 7, 8, 9, 11, 12, 13, 15, 16, 17, 18, 19, 20} {
		if !lines[line] {
			t.Errorf("nothing of line %d:\n%v", line, err)
		}
	}
	for _, text := range []string{"", "[1]", "name: x", "name: a-b2-3c\nprove: x", "name: good\nprove: ''", "a: b\n---\nc: d", "\tx", "name: ab\nprove: x\naxes: {taken: 1}", "name: ab\naxes: 3\nprove: x"} {
		_, err := prover.Read("bad.yaml", strings.NewReader(text), []string{"taken"})
		if _, ok := errors.AsType[*yamlfile.Error](err); !ok {
			t.Errorf("%q: error %v", text, err)
		}
	}
}

// TestDocumented: the file of docs/provers.md is one, and so are those of the repository.
func TestDocumented(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	doc := string(must.Get(os.ReadFile(filepath.Join(root, "docs", "provers.md")))(t))
	_, after, _ := strings.Cut(doc, "## A file\n\n")
	file, _, _ := strings.Cut(after, "\n\n|")
	s := must.Get(prover.Read("docs.yaml", strings.NewReader(strings.ReplaceAll("\n"+file, "\n    ", "\n")), nil))(t)
	golden.Equal(t, "name", "SnarkjsKeccak", s.Name)
	golden.Equal(t, "commands", 5, len(s.Prepare)+len([]prover.Command{s.Input, s.Prove, s.Verify}))
	files := must.Get(filepath.Glob(filepath.Join(root, "*", "prove*", "*.yaml")))(t)
	for _, path := range files {
		if filepath.Base(path) != "keccak.yaml" { // the suite of them
			must.Get(prover.Open(path, nil))(t)
		}
	}
	golden.Within(t, "files", 5, len(files), 20)
}

// FuzzRead: no file makes the reader panic, and what it accepts is a workload.
func FuzzRead(f *testing.F) {
	f.Add(honest)
	f.Add(resident)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := prover.Read("fuzz.yaml", strings.NewReader(text), nil)
		if err != nil {
			return
		}
		def, err := s.Def()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := workload.Cases(def, nil); err != nil && !strings.Contains(err.Error(), "cases") {
			t.Fatal(err)
		}
	})
}

// BenchmarkResident measures a call through the protocol, to a prover that does nothing.
func BenchmarkResident(b *testing.B) {
	def := must.Get(spec(b, strings.ReplaceAll(resident, "MODE", "accept")).Def())(b)
	c := workload.NewCase(record.Axis{Key: "bytes", Value: "64"}, record.Axis{Key: record.StageKey, Value: "verify"})
	instance := must.Get(def.New(b.Context(), c, 1))(b)
	defer instance.Close()
	in := must.Get(instance.Input(b.Context(), 0))(b)
	for b.Loop() {
		if _, err := instance.Run(b.Context(), in); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCommands measures proving by a command, and running the command by os/exec alone.
func BenchmarkCommands(b *testing.B) {
	def := must.Get(spec(b, "name: nothing\naxes: {bytes: 64}\nprove: /bin/true\n").Def())(b)
	c := workload.NewCase(record.Axis{Key: "bytes", Value: "64"}, record.Axis{Key: record.StageKey, Value: "prove"})
	instance := must.Get(def.New(b.Context(), c, 1))(b)
	defer instance.Close()
	in := must.Get(instance.Input(b.Context(), 0))(b)
	b.Run("prover", func(b *testing.B) {
		for b.Loop() {
			if _, err := instance.Run(b.Context(), in); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("exec", func(b *testing.B) {
		for b.Loop() {
			if err := exec.CommandContext(b.Context(), "/bin/true").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
