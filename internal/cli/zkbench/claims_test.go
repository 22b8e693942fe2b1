package zkbench

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/workload"
)

// flagLine matches a flag in a help text. Its second group is not empty if the flag takes a value.
var flagLine = regexp.MustCompile(`(?m)^ +(?:(-\w), )?(--[\w-]+)(?: (\S+))?(?:  |$)`)

// helpTexts knows the flags of commands by their help.
type helpTexts struct {
	call  func(args ...string) (code int, stdout, stderr string)
	known map[string]map[string]bool // by command: whether a flag takes a value; nil: no command
	defs  []workload.Def
	named []string // suites
}

// flags returns the flags of a command, with those of the axes of all workloads if it has such flags. It returns nil if
// there is no command of these words.
func (c *helpTexts) flags(words []string) map[string]bool {
	key := strings.Join(words, " ")
	if flags, ok := c.known[key]; ok {
		return flags
	}
	var flags map[string]bool
	code, help, _ := c.call(append([]string{"help"}, words...)...)
	if command := !strings.Contains(help, "\nAxes "); code == cli.ExitOK && command { // the help of a workload has axes
		if strings.Contains(help, " WORKLOAD --help") {
			_, axes, _ := c.call(slices.Concat([]string{"help"}, words, strings.Split(workload.IDs(Program().Defs()), ", "))...)
			help += axes
		}
		flags = map[string]bool{"--help": false, "--version": false, "-h": false}
		for _, m := range flagLine.FindAllStringSubmatch(help, -1) {
			flags[m[2]] = m[3] != ""
			if m[1] != "" {
				flags[m[1]] = m[3] != ""
			}
		}
	}
	c.known[key] = flags
	return flags
}

var (
	commandWord  = regexp.MustCompile(`^[a-z][a-z-]*(\|[a-z-]+)*$`)
	workloadWord = regexp.MustCompile(`^[a-z][a-z0-9-]*(,[a-z][a-z0-9-]*)*$`)
)

// wrong says what is wrong with a call of the command.
func (c *helpTexts) wrong(r *repository, line string) (mistakes []string) {
	words := shellWords(line)[1:]
	report := func(format string, args ...any) { mistakes = append(mistakes, fmt.Sprintf(format, args...)) }
	var path []string
	for len(words) > 0 && commandWord.MatchString(words[0]) {
		for alternative := range strings.SplitSeq(words[0], "|") { // new|sign|show
			if c.flags(append(slices.Clone(path), alternative)) == nil {
				if len(path) == 0 || strings.Contains(words[0], "|") {
					report("no command %s", words[0])
				}
				goto arguments
			}
		}
		last, _, _ := strings.Cut(words[0], "|")
		path, words = append(path, last), words[1:]
	}
arguments:
	flags := c.flags(path)
	if len(path) > 0 && path[0] == "exec" { // whose flags are those of run over the file's workloads
		flags = c.flags([]string{"run"})
		if len(words) > 0 && strings.Contains(words[0], "/") && !r.files[words[0]] {
			report("no file %s", words[0])
		}
		if len(words) > 1 && commandWord.MatchString(words[1]) {
			flags = c.flags(words[1:2])
		}
	}
	var args []string
	typed := make(map[string]string)
	for i := 0; i < len(words) && words[i] != "--"; i++ {
		name, value, joined := strings.Cut(words[i], "=")
		switch takes, known := flags[name]; {
		case !strings.HasPrefix(name, "-"):
			args = append(args, words[i])
		case !known:
			report("%s has no %s", strings.Join(path, " "), name)
		case takes && !joined && i+1 < len(words):
			i++
			typed[name] = words[i]
		default:
			typed[name] = value
		}
	}
	return append(mistakes, c.wrongArguments(r, path, args, typed)...)
}

// wrongArguments says what is wrong with the arguments of a command: workloads, suites, values of
// axes.
func (c *helpTexts) wrongArguments(r *repository, path, args []string, typed map[string]string) (mistakes []string) {
	if len(path) == 0 {
		return nil
	}
	switch path[0] {
	case "suite":
		for _, a := range args {
			if !slices.Contains(c.named, a) && a != "NAME" && a != "mine.yaml" && !(strings.HasSuffix(a, ".yaml") && r.files[a]) {
				mistakes = append(mistakes, "no suite "+a)
			}
		}
	case "guest":
		for _, a := range args {
			if strings.HasPrefix(a, "./") && !r.files[a[2:]] {
				mistakes = append(mistakes, "no program "+a)
			}
		}
	case "run", "stages", "leak", "compare", "bisect":
		for _, a := range args {
			if !workloadWord.MatchString(a) {
				continue
			}
			for id := range strings.SplitSeq(a, ",") {
				def, err := workload.Find(c.defs, id)
				if err != nil {
					mistakes = append(mistakes, "no workload "+id)
				}
				for _, axis := range def.Axes {
					if list, ok := typed["--"+axis.Long()]; ok {
						if _, err := axis.Parse(list); err != nil {
							mistakes = append(mistakes, err.Error())
						}
					}
				}
			}
		}
	}
	return mistakes
}

// claims are what pages are checked against.
type claims struct {
	*repository
	zkbench, benchmarking *helpTexts
	flags                 map[string]bool // of all commands
	counted               map[string]int  // what was looked at, by kind
}

func newClaims(t *testing.T) *claims {
	t.Helper()
	c := &claims{repository: readRepository(t), counted: make(map[string]int)}
	c.zkbench = &helpTexts{call: call, known: make(map[string]map[string]bool), defs: append(Program().Defs(), studyDefs()...), named: Program().Suites.Names()}
	c.benchmarking = &helpTexts{known: make(map[string]map[string]bool), call: func(args ...string) (int, string, string) {
		var out, messages bytes.Buffer
		code := Benchmarking(append(args[1:], "--help"), nil, &out, &messages)
		return code, out.String(), messages.String()
	}}
	c.flags = c.zkbench.all()
	return c
}

// wrong returns the mistakes of a page, each with the text that has it.
func (c *claims) wrong(p *page) (mistakes []string) {
	check := func(kind, what, mistake string) {
		if c.counted[kind]++; mistake != "" {
			mistakes = append(mistakes, what+": "+mistake)
		}
	}
	for _, line := range p.commandLines("zkbench") {
		check("commands", line, strings.Join(c.zkbench.wrong(c.repository, line), "; "))
	}
	for _, line := range p.commandLines("go run ./cmd/benchmarking") {
		check("commands", line, strings.Join(c.benchmarking.wrong(c.repository, strings.TrimPrefix(line, "go run ")), "; "))
	}
	for _, line := range p.commandLines("go test") {
		check("tests", line, c.wrongTests(line))
	}
	for _, line := range p.commandLines("make") {
		if words := strings.Fields(line); len(words) > 1 {
			mistake := ""
			if !c.targets[words[1]] {
				mistake = "no target " + words[1]
			}
			check("targets", line, mistake)
		}
	}
	for _, s := range p.spans {
		name, _, _ := strings.Cut(s, " ")
		if name, _, _ = strings.Cut(name, "="); bareFlag.MatchString(name) {
			mistake := ""
			if _, ok := c.flags[name]; !ok {
				mistake = "no command has this flag"
			}
			check("flags", s, mistake)
		}
		if p.path != "CHANGELOG.md" { // which names what has gone too
			check("names", s, c.wrongName(s))
		}
		check("paths", s, c.wrongPath(p.path, s))
	}
	for _, line := range p.blocks {
		for _, word := range strings.Fields(line) {
			if strings.HasPrefix(word, "./") || strings.Contains(word, "/") && c.files[strings.Split(word, "/")[0]] {
				check("paths", line, c.wrongPath(p.path, word))
			}
		}
	}
	return mistakes
}

var bareFlag = regexp.MustCompile(`^--[a-z]`)

// TestClaims: what pages name is there: paths, names of Go, tests that commands run, targets of make, commands, flags,
// workloads, values of axes and suites.
func TestClaims(t *testing.T) {
	t.Parallel()
	c := newClaims(t)
	for _, p := range pages(t, c.root) {
		for _, mistake := range c.wrong(&p) {
			t.Errorf("%s: %s", p.path, mistake)
		}
	}
	for kind, least := range map[string]int{"commands": 120, "tests": 20, "targets": 15, "flags": 100, "names": 500, "paths": 500} {
		golden.Within(t, kind, least, c.counted[kind], 100*least)
	}
	falseClaims(t, c)
}

// falseClaims makes claims of each kind that are false, which must be found, and some that are
// true.
func falseClaims(t *testing.T, c *claims) {
	t.Helper()
	for text, want := range map[string]string{
		"`testdata/proof_sizes.csv`":                              "no such file",
		"`token/testdata/proof_sizes.csv`":                        "no such file",
		"`proofs.csv`":                                            "no file of this name",
		"`token/nowhere`":                                         "no such file",
		"`token/action.Nothing`":                                  "no such file",
		"`validator.Validate`":                                    "package validator has no Validate",
		"`token.Tuning.Speed`":                                    "token.Tuning has no Speed",
		"`zkbench measure`":                                       "no command measure",
		"`zkbench policy new|undo`":                               "no command new|undo",
		"`zkbench run send`":                                      "no workload send",
		"    zkbench run sender \\\n        --curves BLS12":       `curves: "BLS12" is not accepted`,
		"    bin/zkbench stages keccak --forms bits":              "stages has no --forms",
		"    zkbench suite everything":                            "no suite everything",
		"    zkbench suite peers/keccak.yaml":                     "no suite peers/keccak.yaml",
		"    zkbench guest run ./riscv/guests/none":               "no program ./riscv/guests/none",
		"    zkbench exec examples/prover/perl.yaml":              "no file examples/prover/perl.yaml",
		"    go run ./cmd/benchmarking --benchmark Sender":        "has no --benchmark",
		"    go test ./tokens -run TestVectors":                   "no package ./tokens",
		"```\ngo test ./token -bench Nothing\n```":                "no Benchmark matches Nothing",
		"`--nothing`":                                             "no command has this flag",
		"`make everything`":                                       "no target everything",
		"    zkbench run sender --curves bls12-381 --json FILE":   "",
		"`testdata/token/proof_sizes.csv` `token/...` `zkbench`":  "",
		"`token.Tuning.ConstantTime` `records.jsonl` `--workers`": "",
		"    go test ./token -run TestSizes # `token/nowhere`":    "",
	} {
		p := readPage("docs/provers.md", text+"\n")
		mistakes := strings.Join(c.wrong(&p), "; ")
		if !strings.Contains(mistakes, want) || (want == "") != (mistakes == "") {
			t.Errorf("%s: %q, want %q", text, mistakes, want)
		}
	}
	// The changelog names what has gone from a package, too, but no packages and files that there are not.
	p := readPage("CHANGELOG.md", "`token/action.Gone` `token/action.Gone.Method` `token/gone.Name` `token/action/gone.go`\n")
	golden.Equal(t, "mistakes of the changelog", []string{"token/gone.Name: no such file", "token/action/gone.go: no such file"}, c.wrong(&p))
}

// subcommand matches a command in a help text.
var subcommand = regexp.MustCompile(`(?m)^  ([a-z][a-z-]*)  +[A-Z]`)

// all returns the flags of the command of these words and of its subcommands.
func (c *helpTexts) all(words ...string) (flags map[string]bool) {
	flags = maps.Clone(c.flags(words))
	_, help, _ := c.call(append([]string{"help"}, words...)...)
	for _, m := range subcommand.FindAllStringSubmatch(help, -1) {
		if below := append(slices.Clone(words), m[1]); c.flags(below) != nil {
			maps.Copy(flags, c.all(below...))
		}
	}
	return flags
}

// TestSuitesAreListed: docs/measure.md says of every suite what it is.
func TestSuitesAreListed(t *testing.T) {
	t.Parallel()
	text := string(must.Get(os.ReadFile(filepath.Join("..", "..", "..", "docs", "measure.md")))(t))
	_, table, _ := strings.Cut(text, "| suite | what |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	listed := make(map[string]bool)
	for line := range strings.Lines(table) {
		names, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " |")
		for _, m := range span.FindAllStringSubmatch(names, -1) {
			listed[m[1]] = true
		}
	}
	golden.Equal(t, "suites", slices.Sorted(slices.Values(Program().Suites.Names())), slices.Sorted(maps.Keys(listed)))
}
