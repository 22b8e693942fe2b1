// Package prover makes workloads from other people's provers. A prover is a set of commands that
// prepare, prove and verify, or a resident program that answers requests line by line.
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

// A Spec describes a prover, as a file defines it. Child processes get it as JSON.
type Spec struct {
	Name       string            `json:"name"` // the workload's name, for example SnarkjsKeccak
	About      string            `json:"about,omitempty"`
	File       string            `json:"file"` // the file or directory that it was read from, as the user named it
	Dir        string            `json:"dir"`  // the absolute path of the directory in which commands run
	Axes       []Axis            `json:"axes,omitempty"`
	Alone      bool              `json:"alone,omitempty"` // operations cannot overlap, because they use the same files
	Env        []string          `json:"env,omitempty"`   // KEY=value
	Shell      bool              `json:"shell,omitempty"` // each command is one word, which a shell runs
	Prepare    []Command         `json:"prepare,omitempty"`
	Input      Command           `json:"input,omitempty"`
	Prove      Command           `json:"prove,omitempty"`
	Verify     Command           `json:"verify,omitempty"`
	Serve      Command           `json:"serve,omitempty"` // starts a resident prover, in place of Prove and Verify
	Figures    []Figure          `json:"figures,omitempty"`
	Must       []Must            `json:"must,omitempty"`
	Limit      subprocess.Limits `json:"limit"`
	Timeout    time.Duration     `json:"timeout"` // of one command; nanoseconds in JSON
	Properties record.Properties `json:"properties"`
}

// Axis is an axis of a prover's workload. If all values are whole numbers, the axis accepts other
// whole numbers too.
type Axis struct {
	Name   string   `json:"name"`
	Values []string `json:"values"` // the first is the small case
}

// Command is a program and its arguments, with placeholders. An empty Command means that the prover
// has no such command.
type Command []string

// Figure describes a metric to be read from a prover's files or output.
type Figure struct {
	Name string `json:"name"`
	Unit string `json:"unit"`
	Source
}

// Source says where a value is read. The value is the size of a file, or what a regular expression
// matches in the standard output of a command.
type Source struct {
	Size  string `json:"size,omitempty"`  // the path of the file, with placeholders
	Of    string `json:"of,omitempty"`    // the command: prepare, input, prove or verify
	Match string `json:"match,omitempty"` // the regular expression, with at most one group
}

// Must is a check of what a command prints: the value that Source reads must equal Equals or, if As is
// set, the value that As reads.
type Must struct {
	Name string `json:"name"`
	Source
	Equals string  `json:"equals,omitempty"` // with placeholders
	As     *Source `json:"as,omitempty"`
}

// The names of the commands whose output is read. The last two are also the stages that can be measured.
const (
	ofPrepare = "prepare"
	ofInput   = "input"
	ofProve   = "prove"
	ofVerify  = "verify"
)

// mostNumber is the largest whole number that an axis accepts.
const mostNumber = 1 << 40

// Decode decodes a Spec from JSON. Jobs for child processes contain a Spec in this form.
func Decode(raw json.RawMessage) (Spec, error) {
	var s Spec
	if err := json.Unmarshal(raw, &s); err != nil {
		return s, fmt.Errorf("prover: %w", err)
	}
	return s, nil
}

// stages returns the stages that can be measured. The first is the default.
func (s *Spec) stages() []string {
	if s.Verify == nil && s.Serve == nil {
		return []string{ofProve}
	}
	return []string{ofProve, ofVerify}
}

// axes returns the axes of the workload.
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
	stages := workload.NameAxis(workload.Axis{Name: record.StageKey, Usage: "stages to measure"}, s.stages(), s.stages())
	return append(axes, stages)
}

// Def returns the workload that runs the prover.
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

// goThrough prepares, proves and verifies once, and records these stages with r.
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
	// The case's processor time is that of proving. Memory is reported by the stages only.
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

// find returns what the source's expression matches in text: its group, or the whole match if it has
// none. It returns false if nothing matches.
func (s Source) find(text []byte) (string, bool) {
	found := regexp.MustCompile(s.Match).FindSubmatch(text) // the file's reader has compiled it without error
	if found == nil {
		return "", false
	}
	return string(found[min(1, len(found)-1)]), true
}

// uses reports whether one of the command's words has the placeholder.
func (c Command) uses(name string) bool {
	return slices.ContainsFunc(c, func(word string) bool {
		return slices.ContainsFunc(placeholder.FindAllString(word, -1), func(p string) bool { return p == "{"+name+"}" })
	})
}

// placeholder matches a name in braces.
var placeholder = regexp.MustCompile(`\{[a-z][a-z0-9_-]*\}`)

// fill replaces the placeholders in text by their values. It leaves unknown ones as they are.
func fill(text string, values map[string]string) string {
	return placeholder.ReplaceAllStringFunc(text, func(p string) string {
		if v, ok := values[p[1:len(p)-1]]; ok {
			return v
		}
		return p
	})
}
