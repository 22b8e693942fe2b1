// Package prover makes workloads of other people's provers: of the commands that prepare, prove and
// verify, or of a resident program that answers line by line.
package prover

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner/stage"
	"github.com/zkbench/zkbench/internal/runner/subprocess"
	"github.com/zkbench/zkbench/internal/workload"
)

// Spec is a prover, as a file has it. It travels to child processes as JSON.
type Spec struct {
	Name       string            `json:"name"` // as workloads have it, SnarkjsKeccak
	About      string            `json:"about,omitempty"`
	File       string            `json:"file"` // that it was read from, as it was named
	Dir        string            `json:"dir"`  // absolute, where its commands run
	Axes       []Axis            `json:"axes,omitempty"`
	Alone      bool              `json:"alone,omitempty"` // operations cannot overlap: they use the same files
	Env        []string          `json:"env,omitempty"`   // KEY=value
	Shell      bool              `json:"shell,omitempty"` // a command is one word, for a shell
	Prepare    []Command         `json:"prepare,omitempty"`
	Input      Command           `json:"input,omitempty"`
	Prove      Command           `json:"prove,omitempty"`
	Verify     Command           `json:"verify,omitempty"`
	Serve      Command           `json:"serve,omitempty"` // a resident prover, in the place of the two
	Figures    []Figure          `json:"figures,omitempty"`
	Must       []Must            `json:"must,omitempty"`
	Limit      subprocess.Limits `json:"limit"`
	Timeout    time.Duration     `json:"timeout"` // ns, of one command
	Properties record.Properties `json:"properties"`
}

// Axis is an axis of a prover. Whose values are all whole numbers accepts others too.
type Axis struct {
	Name   string   `json:"name"`
	Values []string `json:"values"` // the first is the small case
}

// Command is a program and its arguments, with placeholders; none: there is no such command.
type Command []string

// Figure is something to be read from what a prover left.
type Figure struct {
	Name string `json:"name"`
	Unit string `json:"unit"`
	Source
}

// Source is where something is read: the size of a file, or what an expression finds in the
// standard output of a command.
type Source struct {
	Size  string `json:"size,omitempty"` // path, with placeholders
	Of    string `json:"of,omitempty"`   // prepare, input, prove, verify
	Match string `json:"match,omitempty"`
}

// Must is what a command has to print.
type Must struct {
	Name string `json:"name"`
	Source
	Equals string  `json:"equals,omitempty"` // with placeholders
	As     *Source `json:"as,omitempty"`     // what another command prints
}

// The commands that print something, and the stages that are measured.
const (
	ofPrepare = "prepare"
	ofInput   = "input"
	ofProve   = "prove"
	ofVerify  = "verify"
)

// mostNumber bounds whole numbers of an axis.
const mostNumber = 1 << 40

// Decode reads what a job carries.
func Decode(raw json.RawMessage) (Spec, error) {
	var s Spec
	if err := json.Unmarshal(raw, &s); err != nil {
		return s, fmt.Errorf("prover: %w", err)
	}
	return s, nil
}

// stages are those that can be measured, the first by default.
func (s *Spec) stages() []string {
	if s.Verify == nil && s.Serve == nil {
		return []string{ofProve}
	}
	return []string{ofProve, ofVerify}
}

// axes are those of the workload.
func (s *Spec) axes() (axes []workload.Axis) {
	for _, a := range s.Axes {
		axis := workload.Axis{Name: a.Name, Flag: a.Name, Usage: "values of " + a.Name, Smoke: a.Values[0]}
		var numbers []int
		for _, v := range a.Values {
			if n, err := strconv.Atoi(v); err == nil && n >= 0 && n <= mostNumber && strconv.Itoa(n) == v {
				numbers = append(numbers, n)
			}
		}
		if len(numbers) == len(a.Values) {
			axes = append(axes, workload.IntAxis(axis, 0, mostNumber, numbers...))
		} else {
			axes = append(axes, workload.NameAxis(axis, a.Values, a.Values))
		}
	}
	stages := workload.NameAxis(workload.Axis{Name: record.StageKey, Usage: "what an operation is"}, s.stages(), s.stages())
	return append(axes, stages)
}

// Def is the workload.
func (s *Spec) Def() (workload.Def, error) {
	raw, err := json.Marshal(s)
	if err != nil {
		return workload.Def{}, err
	}
	about := s.About
	if about == "" {
		about = "the prover of " + s.File
	}
	return workload.Def{
		Name: s.Name, Doc: about, Axes: s.axes(), Spec: raw, File: s.File, SetUp: s.Timeout,
		Properties: func(workload.Case) record.Properties { return s.Properties },
		New: func(ctx context.Context, c workload.Case, seed uint64) (workload.Instance, error) {
			p, err := s.prepare(ctx, c, seed)
			if err != nil {
				return nil, err
			}
			return p, nil
		},
		Stages: func(ctx context.Context, c workload.Case, seed uint64, r *stage.Recorder) (workload.Staged, error) {
			return s.goThrough(ctx, c, seed, r)
		},
	}, nil
}

// goThrough goes once through preparing, proving and verifying.
func (s *Spec) goThrough(ctx context.Context, c workload.Case, seed uint64, r *stage.Recorder) (out workload.Staged, err error) {
	running := r.Start(ofPrepare)
	p, err := s.prepare(ctx, c.With(record.StageKey, ofProve), seed)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	p.endStage(running, ofPrepare)
	in, err := p.Input(ctx, 0)
	if err != nil {
		return out, err
	}
	running = r.Start(ofProve)
	p.forget()
	proof, err := p.Run(ctx, in)
	if err != nil {
		return out, err
	}
	proving := p.endStage(running, ofProve)
	if out.Metrics, err = p.figures(ctx, in.(*input), proof); err != nil {
		return out, err
	}
	// The case's processor time is that of the proof. Of memory the stages tell.
	out.Metrics = append(out.Metrics, slices.DeleteFunc(proving, func(m record.Metric) bool { return m.Group() == record.Memory })...)
	if len(s.stages()) > 1 {
		running = r.Start(ofVerify)
		p.forget()
		if err := p.verify(ctx, in.(*input), proof, true); err != nil {
			return out, err
		}
		p.endStage(running, ofVerify)
	}
	_, out.Findings = p.Measured()
	return out, p.Check(ctx, in, proof)
}

// find returns what the expression of a source finds: its first group, or all of it.
func (s Source) find(text []byte) (string, bool) {
	found := regexp.MustCompile(s.Match).FindSubmatch(text) // which the file's reader has compiled
	if found == nil {
		return "", false
	}
	return string(found[min(1, len(found)-1)]), true
}

// uses tells whether one of the words has the placeholder.
func (c Command) uses(name string) bool {
	return slices.ContainsFunc(c, func(word string) bool {
		return slices.ContainsFunc(placeholder.FindAllString(word, -1), func(p string) bool { return p == "{"+name+"}" })
	})
}

// placeholder is a name in braces.
var placeholder = regexp.MustCompile(`\{[a-z][a-z0-9_-]*\}`)

// fill puts values in the places of placeholders.
func fill(text string, values map[string]string) string {
	return placeholder.ReplaceAllStringFunc(text, func(p string) string {
		if v, ok := values[p[1:len(p)-1]]; ok {
			return v
		}
		return p
	})
}
