// Package suite runs many cases as one: a file names workloads and values, each case runs
// in a process of its own, repetitions interleaved, and a journal keeps what has ended, so
// that a suite that was stopped goes on.
package suite

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/workload"
)

// File is a suite as it is written.
type File struct {
	Name, About string
	Repetitions int // processes of each case
	Entries     []Entry
}

// Entry is some workloads and what is to be measured of them, as a command line has it.
type Entry struct {
	Command   string // run or stages
	Workloads []string
	Flags     []Flag        // of the command
	Expected  time.Duration // about how long a case takes; 0: not said
	Line      int
}

// Flag is a flag of a command with its text.
type Flag struct {
	Name, Text string
	Line       int
}

// The commands of entries.
const (
	CommandRun    = "run"
	CommandStages = "stages"
)

// MaxRepetitions bounds the processes of a case.
const MaxRepetitions = 1000

// maxFile bounds the bytes of a file.
const maxFile = 1 << 20

// Mistake is something that a file has wrong.
type Mistake struct {
	Line int
	Text string
}

// FileError is all that a file has wrong. It is an ErrParams; its text has a line for each
// mistake.
type FileError struct {
	File     string
	Mistakes []Mistake
}

func (e *FileError) Error() string {
	lines := make([]string, len(e.Mistakes))
	for i, m := range e.Mistakes {
		lines[i] = fmt.Sprintf("%s:%d: %s", e.File, m.Line, m.Text)
	}
	return strings.Join(lines, "\n")
}

func (e *FileError) Unwrap() error { return zkbench.ErrParams }

// Read reads a file, in YAML. The error for a file that is wrong is a *FileError.
func Read(name string, r io.Reader) (*File, error) {
	raw, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(raw) > maxFile {
		return nil, fmt.Errorf("%s: %w", name, &zkbench.LimitError{What: "bytes of a suite", Estimate: int64(len(raw)), Max: maxFile})
	}
	p := &parser{}
	var document yaml.Node
	if err := yaml.Unmarshal(raw, &document); err != nil {
		return nil, &FileError{name, []Mistake{syntax(err)}}
	}
	f := &File{Repetitions: 1}
	if len(document.Content) == 0 {
		p.wrong(1, "the file is empty; accepted: name, about, repetitions, cases")
	} else {
		p.file(document.Content[0], f)
	}
	if len(p.mistakes) > 0 {
		return nil, p.err(name)
	}
	return f, nil
}

// syntax is the mistake that YAML's own error tells: "yaml: line 3: did not find ...".
func syntax(err error) Mistake {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if rest, found := strings.CutPrefix(text, "line "); found {
		if number, what, found := strings.Cut(rest, ": "); found {
			if line, err := strconv.Atoi(number); err == nil {
				return Mistake{line, what}
			}
		}
	}
	return Mistake{1, text}
}

type parser struct{ mistakes []Mistake }

func (p *parser) wrong(line int, format string, args ...any) {
	p.mistakes = append(p.mistakes, Mistake{line, fmt.Sprintf(format, args...)})
}

func (p *parser) err(name string) error {
	slices.SortStableFunc(p.mistakes, func(a, b Mistake) int { return a.Line - b.Line })
	return &FileError{name, p.mistakes}
}

// pairs calls do for each key of a mapping; a key that comes twice is a mistake.
func (p *parser) pairs(n *yaml.Node, what string, do func(key, value *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		p.wrong(n.Line, "%s is no list of keys and values", what)
		return
	}
	seen := make(map[string]bool)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if seen[key.Value] {
			p.wrong(key.Line, "%s: %q stands twice", what, key.Value)
			continue
		}
		seen[key.Value] = true
		do(key, n.Content[i+1])
	}
}

// text is a single value, or a list of them joined by commas.
func (p *parser) text(what string, n *yaml.Node) string {
	switch n.Kind {
	case yaml.ScalarNode:
		return n.Value
	case yaml.SequenceNode:
		var items []string
		for _, item := range n.Content {
			if item.Kind != yaml.ScalarNode {
				p.wrong(item.Line, "%s: a list within a list", what)
				return ""
			}
			items = append(items, item.Value)
		}
		return strings.Join(items, ",")
	}
	p.wrong(n.Line, "%s: accepted: a value or a list of values", what)
	return ""
}

func (p *parser) file(n *yaml.Node, f *File) {
	p.pairs(n, "suite", func(key, value *yaml.Node) {
		switch key.Value {
		case "name":
			f.Name = p.text("name", value)
		case "about":
			f.About = p.text("about", value)
		case "repetitions":
			count, err := strconv.Atoi(p.text("repetitions", value))
			if err != nil || count < 1 || count > MaxRepetitions {
				p.wrong(value.Line, "repetitions: %q is not accepted; accepted: 1 to %d", value.Value, MaxRepetitions)
			}
			f.Repetitions = count
		case "cases":
			if value.Kind != yaml.SequenceNode {
				p.wrong(value.Line, "cases: accepted: a list, each with run or stages")
				return
			}
			for _, item := range value.Content {
				p.entry(item, f)
			}
		default:
			p.wrong(key.Line, "%q is not accepted; accepted: name, about, repetitions, cases", key.Value)
		}
	})
	if len(f.Entries) == 0 && len(p.mistakes) == 0 {
		p.wrong(n.Line, "cases: none; accepted: one or more")
	}
}

func (p *parser) entry(n *yaml.Node, f *File) {
	e := Entry{Line: n.Line}
	p.pairs(n, "case", func(key, value *yaml.Node) {
		text := p.text(key.Value, value)
		switch key.Value {
		case CommandRun, CommandStages:
			if e.Command != "" {
				p.wrong(key.Line, "%s beside %s; accepted: one of them", key.Value, e.Command)
			}
			e.Command, e.Workloads = key.Value, strings.Fields(strings.ReplaceAll(text, ",", " "))
		case "expected":
			var err error
			if e.Expected, err = time.ParseDuration(text); err != nil || e.Expected <= 0 {
				p.wrong(value.Line, "expected: %q is not accepted; accepted: a time, for example 30s", text)
			}
		default:
			e.Flags = append(e.Flags, Flag{key.Value, text, key.Line})
		}
	})
	if e.Command == "" && n.Kind == yaml.MappingNode {
		p.wrong(n.Line, "a case names no workloads; accepted: run or stages with their names")
	}
	f.Entries = append(f.Entries, e)
}

// dashed is a flag's name as the command has it; go test's has underscores.
func dashed(name string) string { return strings.ReplaceAll(name, "_", "-") }

// Expand makes of each entry what expand makes of it. expand stops at the first mistake;
// where that is a *workload.ValueError of a flag or a workload, that is taken away and the
// entry tried again, so that all mistakes are told at once.
func Expand[T any](name string, f *File, expand func(e Entry) ([]T, error)) ([]T, error) {
	p := &parser{}
	var all []T
	for _, e := range f.Entries {
		for {
			some, err := expand(e)
			if err == nil {
				all = append(all, some...)
				break
			}
			line, again := e.without(err)
			p.wrong(line, "%v", err)
			if !again {
				break
			}
		}
	}
	if len(p.mistakes) > 0 {
		return nil, p.err(name)
	}
	return all, nil
}

// without takes away what err is of, and returns its line; false: nothing is left to try.
func (e *Entry) without(err error) (line int, again bool) {
	wrong, ok := errors.AsType[*workload.ValueError](err)
	if !ok {
		return e.Line, false
	}
	// Of a flag that none of the workloads has, the flag is the value.
	if i := slices.IndexFunc(e.Flags, func(f Flag) bool {
		return dashed(f.Name) == dashed(wrong.Field) || "--"+dashed(f.Name) == wrong.Value
	}); i >= 0 {
		line = e.Flags[i].Line
		e.Flags = slices.Delete(slices.Clone(e.Flags), i, i+1)
		return line, true
	}
	if i := slices.Index(e.Workloads, wrong.Value); i >= 0 {
		e.Workloads = slices.Delete(slices.Clone(e.Workloads), i, i+1)
		return e.Line, len(e.Workloads) > 0
	}
	return e.Line, false
}
