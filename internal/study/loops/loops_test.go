package loops_test

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/internal/runner/hwcounter"
	"github.com/zkbench/zkbench/internal/study/loops"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// TestAll: each of a processor's kernels has its loops.
func TestAll(t *testing.T) {
	names := map[string][]string{
		"scalar": {"chain", "add", "sub", "mul"}, "avx2": {"add", "sub", "mul"}, "avx512": {"add", "sub", "mul", "mullo"},
		"sve": {"add", "sub", "mul", "mulhi"}, "sve2": {"add", "sub", "mul", "mulhi"},
	}
	got, want := make(map[string][]string), make(map[string][]string)
	for _, l := range loops.All() {
		got[l.Kernel] = append(got[l.Kernel], l.Name)
	}
	for _, k := range goldilocks.Kernels() {
		if k != goldilocks.Portable() {
			want[k.String()] = names[k.String()]
		}
	}
	if len(got) > 0 { // else there is no assembly
		want["scalar"] = names["scalar"]
	}
	golden.Equal(t, "names", want, got)
}

// TestRuns: every loop ends.
func TestRuns(t *testing.T) {
	for _, passes := range []int{-1, 0, 1, 1000} {
		t.Run(fmt.Sprintf("passes=%d", passes), func(t *testing.T) {
			for _, l := range loops.All() {
				l.Run(passes)
			}
		})
	}
}

var (
	macro = regexp.MustCompile(`^#define (\w+)`)
	word  = regexp.MustCompile(`\w+`)
)

// TestText: a pass of each function has in the text 96 instructions, and the loop's two.
func TestText(t *testing.T) {
	for name, functions := range map[string]int{"loops_amd64.s": 11, "loops_arm64.s": 10} {
		source := must.Get(os.ReadFile(name))(t)
		text := strings.ReplaceAll(string(source), "\\\n", "")
		macros := make(map[string]int) // instructions of each
		count := func(statements string) (n int) {
			for s := range strings.SplitSeq(statements, ";") {
				if m, ok := macros[word.FindString(s)]; ok {
					n += m
				} else {
					n++
				}
			}
			return n
		}
		found := 0
		for line := range strings.Lines(text) {
			if m := macro.FindStringSubmatch(line); m != nil {
				_, body, _ := strings.Cut(line, "\t")
				macros[m[1]] = count(body)
			}
		}
		for section := range strings.SplitSeq(text, "\nloop:\n") {
			pass, _, ok := strings.Cut(section, "\ndone:\n")
			if !ok {
				continue
			}
			found++
			n := 0
			for line := range strings.Lines(strings.TrimSpace(pass)) {
				n += count(line)
			}
			golden.Equal(t, fmt.Sprintf("%s: instructions of loop %d", name, found), 96+2, n)
		}
		golden.Equal(t, "loops of "+name, functions, found)
	}
	for _, l := range loops.All() {
		golden.Equal(t, "instructions of "+l.Name, 96, l.Instructions)
	}
}

// TestCounters: the processor counts what a loop says.
func TestCounters(t *testing.T) {
	for _, l := range loops.All() {
		const passes = 10000
		counts, err := hwcounter.Measure(func() { l.Run(passes) })
		if errors.Is(err, hwcounter.ErrUnavailable) {
			t.Skip(err)
		}
		must.Do(t, err)
		if got, want := float64(counts.Instructions), float64(passes*l.Instructions); got < want || got > 1.1*want {
			t.Errorf("%s %s: %.0f instructions, want %.0f", l.Kernel, l.Name, got, want)
		}
	}
}

// BenchmarkLoops: the instructions of a nanosecond over those of the chain, at one clock,
// are the instructions of a cycle.
func BenchmarkLoops(b *testing.B) {
	const passes = 1000
	for _, l := range loops.All() {
		b.Run(fmt.Sprintf("kernel=%s/loop=%s", l.Kernel, l.Name), func(b *testing.B) {
			for b.Loop() {
				l.Run(passes)
			}
			b.ReportMetric(float64(passes*l.Instructions)*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "instructions/ns")
		})
	}
}
