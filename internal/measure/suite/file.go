// Package suite runs suites, which are lists of many cases. A file says which workloads a suite
// measures, and with which values of their axes. Each case runs in a process of its own. If each
// case runs several times, the suite runs all cases once before it runs any of them a second
// time. A journal stores the results, so that a suite that was stopped can be resumed.
package suite

import (
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/input/yamlfile"
	"github.com/zkbench/zkbench/internal/measure/jobs"
)

// File is the contents of a file that describes a suite, as its author wrote it.
type File struct {
	Name, About string
	Repetitions int             // processes of each case
	Provers     []yamlfile.Word // files of the provers that cases name, relative to the suite's file
	// Headline chooses the case that the report begins with: a workload and values of its axes. It is empty if the
	// file does not choose.
	Headline yamlfile.Word
	Entries  []Entry

	mistakes []yamlfile.Mistake // in the file's structure; Expand reports them together with mistakes in values
}

// Entry is a part of a File: a list of workloads, and the flags with which they are measured. The
// flags are the same as on a command line.
type Entry struct {
	Command   string // run or stages
	Workloads []yamlfile.Word
	Flags     []Flag        // of Command
	Expected  time.Duration // about how long a case takes; 0: not stated
	Line      int
}

// Flag is one of the flags of an Entry, together with the flag's values.
type Flag struct {
	Name   string
	Values []yamlfile.Word
	Line   int
}

// Text returns the flag's values joined by commas, as a command line has them.
func (f Flag) Text() string { return strings.Join(texts(f.Values), ",") }

func texts(words []yamlfile.Word) []string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = w.Text
	}
	return all
}

// IDs returns the names of the entry's workloads, as they are in the file.
func (e Entry) IDs() []string { return texts(e.Workloads) }

// MaxRepetitions is the maximum number of repetitions of a case. Each repetition runs in a process
// of its own.
const MaxRepetitions = 1000

// Read parses a suite's file in YAML. The parameter name is the file's name in messages. Read
// returns a *yamlfile.Error if the file is not YAML or not a mapping. Read does not report other
// mistakes in the file's structure; Expand reports these together with mistakes in the values.
func Read(name string, r io.Reader) (*File, error) {
	node, p, err := yamlfile.Read(name, r, "suite", keys)
	if err != nil {
		return nil, err
	}
	f := &File{Repetitions: 1}
	(&parser{p}).file(node, f)
	f.mistakes = p.Mistakes
	return f, nil
}

// keys lists the keys of a suite's file.
const keys = "name, about, headline, repetitions, provers, cases"

type parser struct{ *yamlfile.Parser }

// longestName is the maximum number of characters in a name.
const longestName = 100

func (p *parser) file(n *yaml.Node, f *File) {
	p.Pairs(n, "suite", func(key, value *yaml.Node) {
		switch key.Value {
		case "name":
			f.Name = p.Line("name", value)
			if !utf8.ValidString(f.Name) || utf8.RuneCountInString(f.Name) > longestName {
				p.Wrong(value.Line, "name: accepted: up to %d characters", longestName)
			}
		case "about":
			f.About = p.Line("about", value)
		case "headline":
			f.Headline = yamlfile.Word{Text: p.Line("headline", value), Line: value.Line}
		case "repetitions":
			count, err := strconv.Atoi(p.Text("repetitions", value))
			if err != nil || count < 1 || count > MaxRepetitions {
				p.Wrong(value.Line, "repetitions: %q is not accepted; accepted: 1 to %d", value.Value, MaxRepetitions)
			}
			f.Repetitions = count
		case "provers":
			f.Provers = p.Words("provers", value)
		case "cases":
			if value.Kind != yaml.SequenceNode {
				p.Wrong(value.Line, "cases: accepted: a list, each with run or stages")
				return
			}
			for _, item := range value.Content {
				p.entry(item, f)
			}
		default:
			p.Unknown("", key, keys)
		}
	})
	if len(f.Entries) == 0 && len(p.Mistakes) == 0 {
		p.Wrong(n.Line, "cases: none; accepted: one or more")
	}
}

func (p *parser) entry(n *yaml.Node, f *File) {
	e := Entry{Line: n.Line}
	p.Pairs(n, "case", func(key, value *yaml.Node) {
		switch key.Value {
		case jobs.CommandRun, jobs.CommandStages:
			if e.Command != "" {
				p.Wrong(key.Line, "%s beside %s; accepted: one of them", key.Value, e.Command)
			}
			e.Command = key.Value
			for _, w := range p.Words(key.Value, value) {
				for id := range strings.FieldsSeq(w.Text) {
					e.Workloads = append(e.Workloads, yamlfile.Word{Text: id, Line: w.Line})
				}
			}
			if len(e.Workloads) == 0 {
				p.Wrong(key.Line, "%s: no workloads; accepted: their names", key.Value)
			}
		case "expected":
			var err error
			text := p.Text("expected", value)
			if e.Expected, err = time.ParseDuration(text); err != nil || e.Expected <= 0 {
				p.Wrong(value.Line, "expected: %q is not accepted; accepted: a time, for example 30s", text)
			}
		default:
			e.Flags = append(e.Flags, Flag{key.Value, p.Words(key.Value, value), key.Line})
		}
	})
	if e.Command == "" && n.Kind == yaml.MappingNode {
		p.Wrong(n.Line, "a case names no workloads; accepted: run or stages with their names")
	}
	if len(e.Workloads) > 0 {
		f.Entries = append(f.Entries, e)
	}
}

// dashed returns a flag's name in the command's form. go test's form has underscores.
func dashed(name string) string { return strings.ReplaceAll(name, "_", "-") }

// Expand calls the function expand for each entry of the file and returns all results. It is enough
// if that function reports the first mistake in an entry. If its error has the type
// *argument.ValueError and names a value or a workload, Expand removes that value or workload from
// the entry and calls the function again. In this way Expand finds all mistakes of the file and
// returns them in one *yamlfile.Error.
func Expand[T any](name string, f *File, expand func(e Entry) ([]T, error)) ([]T, error) {
	p := &yamlfile.Parser{Mistakes: slices.Clone(f.mistakes)}
	var all []T
	for _, e := range f.Entries {
		for {
			some, err := expand(e)
			if err == nil {
				all = append(all, some...)
				break
			}
			line, again := e.withoutMistake(err)
			p.Wrong(line, "%v", err)
			if !again {
				break
			}
		}
	}
	if err := p.Err(name); err != nil {
		return nil, err
	}
	return all, nil
}

// withoutMistake removes from the entry what err is about, and returns its line. It returns false
// if nothing is left to try.
func (e *Entry) withoutMistake(err error) (line int, again bool) {
	wrong, ok := errors.AsType[*argument.ValueError](err)
	if !ok {
		return e.Line, false
	}
	sameText := func(w yamlfile.Word) bool { return w.Text == wrong.Value }
	// If none of the workloads has a flag, the error's value is the flag.
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
