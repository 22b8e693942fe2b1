// Package suite runs many cases as one: a file names workloads and values, each case runs
// in a process of its own, repetitions interleaved, and a journal keeps what has ended, so
// that a suite that was stopped goes on.
package suite

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/jobs"
	"github.com/zkbench/zkbench/internal/usage"
)

// File is a suite as it is written.
type File struct {
	Name, About string
	Repetitions int // processes of each case
	Entries     []Entry

	mistakes []Mistake // of its structure; Expand tells them with those of its values
}

// Entry is some workloads and what is to be measured of them, as a command line has it.
type Entry struct {
	Command   string // run or stages
	Workloads []Word
	Flags     []Flag        // of the command
	Expected  time.Duration // about how long a case takes; 0: not said
	Line      int
}

// Flag is a flag of a command with its values.
type Flag struct {
	Name   string
	Values []Word
	Line   int
}

// Text is the flag's values as a command line has them.
func (f Flag) Text() string { return strings.Join(texts(f.Values), ",") }

// Word is a workload or a value, and where it stands.
type Word struct {
	Text string
	Line int
}

func texts(words []Word) []string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = w.Text
	}
	return all
}

// IDs are the entry's workloads.
func (e Entry) IDs() []string { return texts(e.Workloads) }

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

// Read reads a file, in YAML. One that is no YAML, or no mapping, is a *FileError; what
// else is wrong with it Expand tells, together with what is wrong with its values.
func Read(name string, r io.Reader) (*File, error) {
	raw, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(raw) > maxFile {
		return nil, fmt.Errorf("%s: %w", name, &zkbench.LimitError{What: "bytes of a suite", Estimate: int64(len(raw)), Max: maxFile})
	}
	documents := yaml.NewDecoder(bytes.NewReader(raw))
	var document, second yaml.Node
	if err := documents.Decode(&document); err != nil && !errors.Is(err, io.EOF) {
		return nil, &FileError{name, []Mistake{syntax(err)}}
	}
	if len(document.Content) == 0 {
		return nil, &FileError{name, []Mistake{{1, "the file is empty; accepted: name, about, repetitions, cases"}}}
	}
	p := &parser{}
	f := &File{Repetitions: 1}
	p.file(document.Content[0], f)
	switch err := documents.Decode(&second); {
	case err == nil:
		p.wrong(second.Line, "a second document; accepted: one suite a file")
	case !errors.Is(err, io.EOF):
		p.mistakes = append(p.mistakes, syntax(err))
	}
	f.mistakes = p.mistakes
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

// words is a single value, or a list of them; commas divide values too.
func (p *parser) words(what string, n *yaml.Node) (all []Word) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch n.Kind {
	case yaml.ScalarNode:
		for text := range strings.SplitSeq(n.Value, ",") {
			all = append(all, Word{strings.TrimSpace(text), n.Line})
		}
	case yaml.SequenceNode:
		for _, item := range n.Content {
			if item.Kind != yaml.ScalarNode {
				p.wrong(item.Line, "%s: a list within a list", what)
				continue
			}
			all = append(all, p.words(what, item)...)
		}
	default:
		p.wrong(n.Line, "%s: accepted: a value or a list of values", what)
	}
	return all
}

// text is a single value.
func (p *parser) text(what string, n *yaml.Node) string {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.ScalarNode {
		p.wrong(n.Line, "%s: accepted: one value", what)
		return ""
	}
	return n.Value
}

// longestName bounds the characters of a name.
const longestName = 100

// line is a single value that is shown, in one line.
func (p *parser) line(what string, n *yaml.Node) string {
	text := p.text(what, n)
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		p.wrong(n.Line, "%s: %q is not accepted; accepted: what can be printed, in one line", what, text)
		return ""
	}
	return text
}

func (p *parser) file(n *yaml.Node, f *File) {
	p.pairs(n, "suite", func(key, value *yaml.Node) {
		switch key.Value {
		case "name":
			f.Name = p.line("name", value)
			if !utf8.ValidString(f.Name) || utf8.RuneCountInString(f.Name) > longestName {
				p.wrong(value.Line, "name: accepted: up to %d characters", longestName)
			}
		case "about":
			f.About = p.line("about", value)
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
		switch key.Value {
		case jobs.CommandRun, jobs.CommandStages:
			if e.Command != "" {
				p.wrong(key.Line, "%s beside %s; accepted: one of them", key.Value, e.Command)
			}
			e.Command = key.Value
			for _, w := range p.words(key.Value, value) {
				for id := range strings.FieldsSeq(w.Text) {
					e.Workloads = append(e.Workloads, Word{id, w.Line})
				}
			}
			if len(e.Workloads) == 0 {
				p.wrong(key.Line, "%s: no workloads; accepted: their names", key.Value)
			}
		case "expected":
			var err error
			text := p.text("expected", value)
			if e.Expected, err = time.ParseDuration(text); err != nil || e.Expected <= 0 {
				p.wrong(value.Line, "expected: %q is not accepted; accepted: a time, for example 30s", text)
			}
		default:
			e.Flags = append(e.Flags, Flag{key.Value, p.words(key.Value, value), key.Line})
		}
	})
	if e.Command == "" && n.Kind == yaml.MappingNode {
		p.wrong(n.Line, "a case names no workloads; accepted: run or stages with their names")
	}
	if len(e.Workloads) > 0 {
		f.Entries = append(f.Entries, e)
	}
}

// dashed is a flag's name as the command has it; go test's has underscores.
func dashed(name string) string { return strings.ReplaceAll(name, "_", "-") }

// Expand makes of each entry what expand makes of it. expand stops at the first mistake;
// where that is a *usage.ValueError of a value or a workload, that is taken away and the
// entry tried again, so that all mistakes of the file are told at once, in a *FileError.
func Expand[T any](name string, f *File, expand func(e Entry) ([]T, error)) ([]T, error) {
	p := &parser{slices.Clone(f.mistakes)}
	var all []T
	for _, e := range f.Entries {
		for {
			some, err := expand(e)
			if err == nil {
				all = append(all, some...)
				break
			}
			line, again := e.withoutMistake(err)
			p.wrong(line, "%v", err)
			if !again {
				break
			}
		}
	}
	if len(p.mistakes) > 0 {
		slices.SortStableFunc(p.mistakes, func(a, b Mistake) int { return a.Line - b.Line })
		return nil, &FileError{name, p.mistakes}
	}
	return all, nil
}

// withoutMistake takes away what err is of, and returns its line; false: nothing is left to try.
func (e *Entry) withoutMistake(err error) (line int, again bool) {
	wrong, ok := errors.AsType[*usage.ValueError](err)
	if !ok {
		return e.Line, false
	}
	sameText := func(w Word) bool { return w.Text == wrong.Value }
	// Of a flag that none of the workloads has, the flag is the value.
	if i := slices.IndexFunc(e.Flags, func(f Flag) bool {
		return dashed(f.Name) == dashed(wrong.Field) || "--"+dashed(f.Name) == wrong.Value
	}); i >= 0 {
		e.Flags = slices.Clone(e.Flags)
		f := &e.Flags[i]
		line, k := f.Line, slices.IndexFunc(f.Values, sameText)
		if k >= 0 {
			line = f.Values[k].Line
		}
		if k >= 0 && len(f.Values) > 1 {
			f.Values = slices.Delete(slices.Clone(f.Values), k, k+1)
		} else {
			e.Flags = slices.Delete(e.Flags, i, i+1)
		}
		return line, true
	}
	if i := slices.IndexFunc(e.Workloads, sameText); i >= 0 {
		line = e.Workloads[i].Line
		e.Workloads = slices.Delete(slices.Clone(e.Workloads), i, i+1)
		return line, len(e.Workloads) > 0
	}
	return e.Line, false
}
