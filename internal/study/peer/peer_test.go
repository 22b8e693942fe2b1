package peer_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/study/peer"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// fakeArg makes the test binary a peer program: fakeArg BEHAVIOUR list|run CASE.
const fakeArg = "fake-peer"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == fakeArg {
		os.Exit(fake(os.Args[2], os.Args[3:]))
	}
	os.Exit(m.Run())
}

// fake acts as a peer. It prints fixed times, so that the results are known exactly.
func fake(behaviour string, args []string) int {
	switch behaviour {
	case "crash":
		fmt.Fprintln(os.Stderr, "first line\nno such device")
		return 1
	case "silent":
		return 0
	case "blank":
		fmt.Println("Range Prove")
		return 0
	case "hang":
		// An empty select would be found out as a deadlock.
		<-time.After(time.Hour)
	}
	if args[0] == "list" {
		fmt.Println("RangeVerify/bits=32/m=1\nRangeVerify/bits=64/m=1")
		switch behaviour {
		case "env":
			fmt.Println(os.Getenv("FAKE_PEER_CASE"))
		case "theirs":
			fmt.Println("Broken")
		case "noise":
			fmt.Print("Flood\nText\nOther\nNegative\nNoTime\n")
		}
		return 0
	}
	name := args[1]
	line := func(ns float64) {
		fmt.Printf("Benchmark%s\t100\t%g ns/op\t672 proof-bytes\n", name, ns)
	}
	switch {
	case name == "Broken":
		fmt.Fprintln(os.Stderr, "proof rejected")
		return 1
	case name == "Flood":
		fmt.Print(strings.Repeat("x", 2<<20))
	case name == "Text":
		fmt.Println("BenchmarkText\tmany\t1 ns/op")
	case name == "Other":
		fmt.Println("BenchmarkSomethingElse\t1\t1 ns/op")
	case name == "Negative":
		line(-1)
	case name == "NoTime":
		fmt.Printf("Benchmark%s\t100\t672 proof-bytes\n", name)
	case behaviour == "theirs":
		// Several lines of one process: their median, 3000, counts.
		line(9000)
		line(3000)
		line(1000)
	case behaviour == "env" && os.Getenv("FAKE_PEER_NS") != "":
		ns, _ := strconv.ParseFloat(os.Getenv("FAKE_PEER_NS"), 64)
		line(ns)
	case behaviour == "counting":
		line(1000 + 100*count())
	default:
		line(2000)
	}
	return 0
}

// count returns 1, 2, ... over the processes that share its directory.
func count() float64 {
	for n := 1; ; n++ {
		f, err := os.OpenFile(fmt.Sprintf("run%d", n), os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			f.Close()
			return float64(n)
		}
		if !errors.Is(err, os.ErrExist) {
			panic(err)
		}
	}
}

func program(t *testing.T, name, behaviour string) peer.Program {
	t.Helper()
	exe := must.Get(os.Executable())(t)
	return peer.Program{
		Name: name,
		Ours: strings.HasPrefix(name, "ours"),
		Argv: []string{exe, fakeArg, behaviour},
		Dir:  t.TempDir(),
		Env:  []string{"GORACE=atexit_sleep_ms=0"}, // with -race each process would sleep at its end
	}
}

var approx = cmpopts.EquateApprox(1e-12, 0)

func TestCompareRatios(t *testing.T) {
	ours, theirs := program(t, "ours", "ours"), program(t, "theirs", "theirs")
	var progress bytes.Buffer
	res := must.Get(peer.Compare(t.Context(), []peer.Program{ours, theirs}, peer.Options{Progress: &progress}))(t)
	extra := map[string]float64{"proof-bytes": 672}
	programs := []peer.ProgramResult{
		{Program: "ours", Rounds: 10, Median: 2000, Min: 2000, Max: 2000, Extra: extra},
		{
			Program: "theirs", Rounds: 10, Median: 3000, Min: 3000, Max: 3000, Extra: extra,
			Ratio: &peer.Ratio{Rounds: 10, Median: 1.5, P10: 1.5, P90: 1.5},
		},
	}
	want := []peer.CaseResult{
		{Case: "RangeVerify/bits=32/m=1", Base: "ours", Programs: programs},
		{Case: "RangeVerify/bits=64/m=1", Base: "ours", Programs: programs},
	}
	golden.Equal(t, "cases", want, res.Cases, approx)
	golden.Equal(t, "samples of 2 programs x 2 cases x 10 rounds", 40, len(res.Samples))
	// The broken case is tried once and named.
	if len(res.Failed) != 1 || res.Failed[0].Case != "Broken" || res.Failed[0].Program != "theirs" {
		t.Errorf("failed: %+v, want one of theirs: Broken", res.Failed)
	} else if err := res.Failed[0].Err; !errors.Is(err, zkbench.ErrEnv) || !strings.HasSuffix(err.Error(), ": proof rejected") {
		t.Errorf("failure %q, want an ErrEnv that ends in the program's own line", err)
	}
	golden.Equal(t, "lines of progress, one per process", 41, strings.Count(progress.String(), "\n"))
}

// TestCompareLong: one round is enough where operations are long, and its ratios have no percentiles.
func TestCompareLong(t *testing.T) {
	programs := []peer.Program{program(t, "ours", "ours"), program(t, "theirs", "theirs")}
	res := must.Get(peer.Compare(t.Context(), programs, peer.Options{Long: true, Cases: regexp.MustCompile("bits=64")}))(t)
	golden.Equal(t, "samples", 2, len(res.Samples))
	var text bytes.Buffer
	must.Do(t, res.WriteText(&text))
	lines := strings.Split(strings.TrimRight(text.String(), "\n"), "\n")
	golden.Equal(t, "last line", "theirs 1 3.000 us 3.000 us..3.000 us 0.0 % 1.50x 672 proof-bytes", strings.Join(strings.Fields(lines[len(lines)-1]), " "))
}

// TestCompareBase: the base is the first of ours with a result in the case, whatever comes
// before it; a case that none of ours finishes has none.
func TestCompareBase(t *testing.T) {
	with := func(name, more string, ns int) peer.Program {
		p := program(t, name, "env")
		p.Env = append(p.Env, "FAKE_PEER_CASE="+more, fmt.Sprint("FAKE_PEER_NS=", ns))
		return p
	}
	programs := []peer.Program{
		program(t, "ours-proofs", "plain"), // 2000 ns
		with("theirs", "NTT\nAlone", 3000),
		with("ours-broken", "NTT\nAlone", -1),
		with("ours-field", "NTT", 2000),
		with("ours-slower", "NTT", 4000),
	}
	res := must.Get(peer.Compare(t.Context(), programs, peer.Options{Cases: regexp.MustCompile("bits=32|NTT|Alone")}))(t)
	got := make(map[string]string)
	for _, c := range res.Cases {
		for _, p := range c.Programs {
			got[c.Case] += p.Program
			switch {
			case p.Program == c.Base:
				got[c.Case] += " is the base"
			case p.Ratio != nil:
				got[c.Case] += fmt.Sprintf(" %gx", p.Ratio.Median)
			}
			got[c.Case] += "; "
		}
	}
	want := map[string]string{
		"RangeVerify/bits=32/m=1": "ours-proofs is the base; theirs 1.5x; ours-field 1x; ours-slower 2x; ",
		"NTT":                     "theirs 1.5x; ours-field is the base; ours-slower 2x; ",
		"Alone":                   "theirs; ",
	}
	golden.Equal(t, "programs by case", want, got)
}

func TestCompareSpread(t *testing.T) {
	// Ours takes 1100, 1200, ..., 2000 ns over the rounds, theirs 2000 in each.
	ours, theirs := program(t, "ours", "counting"), program(t, "theirs", "plain")
	res := must.Get(peer.Compare(t.Context(), []peer.Program{ours, theirs},
		peer.Options{Cases: regexp.MustCompile("bits=32")}))(t)
	got, ok := res.Find("ours", "RangeVerify/bits=32/m=1")
	if !ok {
		t.Fatal("no result of ours")
	}
	extra := map[string]float64{"proof-bytes": 672}
	want := peer.ProgramResult{
		Program: "ours", Rounds: 10, Median: 1550, Min: 1100, Max: 2000,
		MAD: 100 * 250.0 / 1550, Extra: extra,
	}
	golden.Equal(t, "ours", want, got, approx)
	got, ok = res.Find("theirs", "RangeVerify/bits=32/m=1")
	if !ok || got.Ratio == nil {
		t.Fatal("no ratio of theirs")
	}
	// The sorted ratios are 2000/2000, 2000/1900, ..., 2000/1100; type 7 puts
	// the percentiles a tenth of the way into the first and last interval.
	r := func(ours float64) float64 { return 2000 / ours }
	wantRatio := peer.Ratio{
		Rounds: 10,
		Median: (r(1600) + r(1500)) / 2,
		P10:    r(2000) + 0.9*(r(1900)-r(2000)),
		P90:    r(1200) + 0.1*(r(1100)-r(1200)),
	}
	golden.Equal(t, "ratio", wantRatio, *got.Ratio, approx)
	if _, ok := res.Find("ours", "RangeVerify/bits=64/m=1"); ok {
		t.Error("a case that was not selected has a result")
	}
}

func TestCompareOrderRotates(t *testing.T) {
	programs := []peer.Program{program(t, "a", "plain"), program(t, "b", "plain"), program(t, "c", "plain")}
	res := must.Get(peer.Compare(t.Context(), programs, peer.Options{}))(t)
	order := map[int][]string{} // by round
	for _, s := range res.Samples {
		order[s.Round] = append(order[s.Round], s.Program+strings.TrimSuffix(strings.TrimPrefix(s.Case, "RangeVerify/bits="), "/m=1"))
	}
	for round, want := range map[int]string{
		0: "a32 b32 c32 a64 b64 c64",
		1: "b64 c64 a64 b32 c32 a32",
		2: "c32 a32 b32 c64 a64 b64",
		3: "a64 b64 c64 a32 b32 c32",
	} {
		golden.Equal(t, fmt.Sprintf("round %d", round), want, strings.Join(order[round], " "))
	}
}

func TestCompareSkips(t *testing.T) {
	absent := peer.Program{Name: "absent", Argv: []string{filepath.Join(t.TempDir(), "peer")}}
	programs := []peer.Program{
		absent,
		program(t, "crash", "crash"),
		program(t, "silent", "silent"),
		program(t, "blank", "blank"),
		program(t, "works", "plain"),
	}
	res := must.Get(peer.Compare(t.Context(), programs, peer.Options{Cases: regexp.MustCompile("bits=32")}))(t)
	causes := map[string]error{
		"absent": zkbench.ErrEnv, "crash": zkbench.ErrEnv,
		"silent": zkbench.ErrMalformed, "blank": zkbench.ErrMalformed,
	}
	for _, s := range res.Skipped {
		if want := causes[s.Program]; want == nil || !errors.Is(s.Err, want) {
			t.Errorf("skipped %s: %v, want %v", s.Program, s.Err, want)
		}
		delete(causes, s.Program)
	}
	for name := range causes {
		t.Errorf("%s was not skipped", name)
	}
	got, ok := res.Find("works", "RangeVerify/bits=32/m=1")
	if !ok || got.Rounds != 10 {
		t.Errorf("works: %+v, want all rounds", got)
	}
	if got.Ratio != nil {
		t.Errorf("ratio %+v to a reference that was skipped", got.Ratio)
	}
	var text bytes.Buffer
	must.Do(t, res.WriteText(&text))
	golden.Contains(t, text.String(), "absent: not built: run make peers (no "+absent.Argv[0]+")", "crash: skipped: ", "no such device")
}

func TestCompareBadOutput(t *testing.T) {
	for name, want := range map[string]error{
		"Flood": zkbench.ErrEnv, "Text": zkbench.ErrMalformed, "Other": zkbench.ErrMalformed,
		"Negative": zkbench.ErrMalformed, "NoTime": zkbench.ErrMalformed,
	} {
		t.Run("case="+name, func(t *testing.T) {
			res := must.Get(peer.Compare(t.Context(), []peer.Program{program(t, "noise", "noise")},
				peer.Options{Cases: regexp.MustCompile("^" + name + "$")}))(t)
			if len(res.Failed) != 1 || !errors.Is(res.Failed[0].Err, want) {
				t.Errorf("failed: %+v, want one %v", res.Failed, want)
			}
			golden.Equal(t, "samples, cases", [2]int{}, [2]int{len(res.Samples), len(res.Cases)})
		})
	}
}

func TestCompareTimeout(t *testing.T) {
	// The only program never answers, so the bound may be short on any machine.
	res, err := peer.Compare(t.Context(), []peer.Program{program(t, "hang", "hang")},
		peer.Options{Timeout: 100 * time.Millisecond})
	must.Fail(t, err, zkbench.ErrEnv, "a program that never answers")
	if len(res.Skipped) != 1 || !strings.Contains(res.Skipped[0].Err.Error(), "stopped after 100ms") {
		t.Errorf("skipped %+v, want hang, stopped after 100ms", res.Skipped)
	}
}

// cancelAfter is a progress writer that cancels at its nth line.
type cancelAfter struct {
	lines  int
	cancel context.CancelFunc
}

func (c *cancelAfter) Write(p []byte) (int, error) {
	if c.lines--; c.lines == 0 {
		c.cancel()
	}
	return len(p), nil
}

func TestCompareCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	res, err := peer.Compare(ctx, []peer.Program{program(t, "ours", "plain"), program(t, "theirs", "plain")},
		peer.Options{Progress: &cancelAfter{lines: 7, cancel: cancel}})
	must.Fail(t, err, context.Canceled, "comparison")
	if res == nil || len(res.Samples) != 7 || len(res.Cases) != 2 {
		t.Fatalf("result %+v, want the 7 samples measured before", res)
	}
}

func TestCompareRefuses(t *testing.T) {
	good := peer.Program{Name: "a", Argv: []string{"a"}}
	for _, tc := range []struct {
		name     string
		programs []peer.Program
		opts     peer.Options
		says     string
		want     error
	}{
		{"programs=none", nil, peer.Options{}, `none matches`, zkbench.ErrParams},
		{"rounds=9", []peer.Program{good}, peer.Options{Rounds: 9}, "at least 10", zkbench.ErrParams},
		{"rounds=-1", []peer.Program{good}, peer.Options{Rounds: -1}, "at least 10", zkbench.ErrParams},
		{"long/rounds=-1", []peer.Program{good}, peer.Options{Long: true, Rounds: -1}, "at least 1", zkbench.ErrParams},
		{"cases=nothing", []peer.Program{program(t, "a", "plain")}, peer.Options{Cases: regexp.MustCompile("x")}, `none matches "x"; accepted: a regular expression that matches one of RangeVerify/...`, zkbench.ErrParams},
		{"started=none", []peer.Program{program(t, "a", "crash")}, peer.Options{}, "no such device", zkbench.ErrEnv},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := peer.Compare(t.Context(), tc.programs, tc.opts)
			must.Fail(t, err, tc.want, "comparison")
			golden.Contains(t, fmt.Sprint(err), tc.says)
		})
	}
}

func TestWriteResult(t *testing.T) {
	res := &peer.Result{
		Cases: []peer.CaseResult{{
			Case: "RangeVerify/bits=64/m=1", Base: "ours",
			Programs: []peer.ProgramResult{
				{Program: "ours", Rounds: 10, Median: 412345, Min: 400000, Max: 1.5e6, MAD: 1.25, Extra: map[string]float64{"proof-bytes": 672, "B/op": 12288, "allocs/op": 7, "peak-rss-bytes": 3 << 20, "B/table": 6684672}},
				{Program: "dalek", Rounds: 10, Median: 692000, Min: 690000, Max: 7e5, MAD: 0.4, Ratio: &peer.Ratio{Rounds: 10, Median: 1.678, P10: 1.6, P90: 1.71}},
			},
		}},
		Failed: []peer.Failure{{Program: "dalek", Case: "RangeProve/bits=64/m=1", Round: 2, Err: zkbench.ErrEnv}},
	}
	var text bytes.Buffer
	must.Do(t, res.WriteText(&text))
	lines := strings.Split(strings.TrimRight(text.String(), "\n"), "\n")
	if a, b := strings.Index(lines[5], "412.3"), strings.Index(lines[6], "692.0"); a < 0 || a != b {
		t.Errorf("the medians stand at columns %d and %d", a, b)
	}
	for i := range lines {
		lines[i] = strings.Join(strings.Fields(lines[i]), " ")
	}
	want := []string{
		"Times are per operation. The ratio is a program's time divided by that of the base in the same",
		"round, so above 1 the program is slower. The base is our first program that has the case.",
		"",
		"program rounds median min..max MAD ratio p10..p90 KiB/op allocs peak MiB",
		"RangeVerify/bits=64/m=1",
		"ours 10 412.3 us 400.0 us..1.500 ms 1.2 % base 12 7 3 6684672 B/table 672 proof-bytes",
		"dalek 10 692.0 us 690.0 us..700.0 us 0.4 % 1.68x 1.60..1.71",
		"",
		"failed dalek RangeProve/bits=64/m=1 in round 3: unsuitable environment",
	}
	golden.Equal(t, "table", want, lines)
	text.Reset()
	must.Do(t, res.WriteBenchmarks(&text))
	golden.Equal(t, "medians", `program: ours
BenchmarkRangeVerify/bits=64/m=1 10 412345.0 ns/op 12288 B/op 6684672 B/table 7 allocs/op 3145728 peak-rss-bytes 672 proof-bytes
program: dalek
BenchmarkRangeVerify/bits=64/m=1 10 692000.0 ns/op
`, text.String())
}
