package prover

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/input/yamlfile"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner/subprocess"
	"github.com/zkbench/zkbench/internal/workload"
)

// keys lists the keys that a prover's file can have.
const keys = "name, about, dir, axes, alone, env, shell, prepare, input, prove, verify, serve, read, must, limits, timeout, properties"

// The limits that apply if a file does not set them.
const (
	defaultOutput  = 64 << 20
	defaultWritten = 16 << 30
	defaultTimeout = time.Hour
)

// Open reads the provers that path describes: a YAML file with one prover, or a directory with the scripts of
// csp-benchmarks, which has one prover for each target. No axis may have a name that is in the list taken. Open
// returns a *yamlfile.Error if a file has mistakes, and an *argument.ValueError if path does not lead to a prover.
func Open(path string, taken []string) ([]*Spec, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, &argument.ValueError{Field: "prover", Value: path, Accepted: "the path of a file in YAML, or of a directory with TARGET_prepare.sh and its like"}
	}
	if info.IsDir() {
		return scripts(path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("prover: %w", err)
	}
	defer file.Close()
	s, err := Read(path, file, taken)
	if err != nil {
		return nil, err
	}
	return []*Spec{s}, nil
}

// Read reads a prover's file from r. The parameter name is the file's path; by default, commands run in the directory
// of that path. The list taken has the same meaning as for Open. Read returns the same errors as Open.
func Read(name string, r io.Reader, taken []string) (*Spec, error) {
	node, p, err := yamlfile.Read(name, r, "prover", keys)
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(filepath.Dir(name))
	if err != nil {
		return nil, err
	}
	f := parser{p, &Spec{File: name, Dir: dir, Limit: subprocess.Limits{Output: defaultOutput, Written: defaultWritten}, Timeout: defaultTimeout}, append(taken, names...)}
	f.file(node)
	return f.Spec, p.Err(name)
}

type parser struct {
	*yamlfile.Parser
	*Spec
	taken []string // names that no axis may have
}

func (f *parser) file(n *yaml.Node) {
	commands := make(map[string]*yaml.Node)
	var env, read, must *yaml.Node
	f.Pairs(n, "prover", func(key, value *yaml.Node) {
		switch key.Value {
		case "name":
			f.name(value)
		case "about":
			f.About = f.Line("about", value)
		case "dir":
			if dir := f.Text("dir", value); filepath.IsAbs(dir) {
				f.Dir = dir
			} else {
				f.Dir = filepath.Join(f.Dir, dir)
			}
		case "axes":
			f.Pairs(value, "axes", f.axis)
		case "env":
			env = value
		case "alone":
			f.Alone = f.boolean("alone", value)
		case "shell":
			f.Shell = f.boolean("shell", value)
		case ofPrepare, ofInput, ofProve, ofVerify, "serve":
			commands[key.Value] = value
		case "read":
			read = value
		case "must":
			must = value
		case "limits":
			f.Pairs(value, "limits", f.limit)
		case "timeout":
			d, err := time.ParseDuration(f.Text("timeout", value))
			if err != nil || d <= 0 {
				f.Wrong(value.Line, "timeout: %q is not accepted; accepted: a time above 0s, for example 10m", value.Value)
			}
			f.Timeout = d
		case "properties":
			f.Pairs(value, "properties", f.property)
		default:
			f.Unknown("", key, keys)
		}
	})
	if f.Name == "" && len(f.Mistakes) == 0 {
		f.Wrong(n.Line, "name: none; accepted: small letters, digits and dashes, for example snarkjs-keccak")
	}
	f.commands(n.Line, commands)
	if env != nil {
		f.env(env)
	}
	if read != nil {
		f.Pairs(read, "read", f.figure)
	}
	if must != nil {
		f.Pairs(must, "must", f.must)
	}
}

var kebab = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z][a-z0-9]*)*$`)

func (f *parser) name(n *yaml.Node) {
	name := f.Line("name", n)
	if !kebab.MatchString(name) || len(name) > 100 {
		f.Wrong(n.Line, "name: %q is not accepted; accepted: words of small letters and digits, a letter first, with dashes between them", name)
		return
	}
	f.Name = pascal(name)
	if back := record.WorkloadID(f.Name); back != name {
		f.Wrong(n.Line, "name: %q would be %q; accepted: words of two letters or more", name, back)
	}
}

// pascal converts a name with dashes to the form of workloads' names, for example SnarkjsKeccak.
func pascal(name string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(name, "-") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

var (
	axisName  = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)
	axisValue = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)
)

// names lists names that no axis may have: placeholders, coordinates of records, and the stage.
var names = []string{"dir", "input", "proof", "seed", record.StageKey, workload.MixKey, "workers", "rate", "arrivals", "cpus", "side"}

func (f *parser) axis(key, value *yaml.Node) {
	a := Axis{Name: key.Value}
	if !axisName.MatchString(a.Name) || slices.Contains(f.taken, a.Name) {
		f.Wrong(key.Line, "axes: %q is not accepted; accepted: small letters, digits and dashes; not the name of a placeholder, a coordinate or a flag of run", a.Name)
	}
	for _, w := range f.Words("axes: "+a.Name, value) {
		if !axisValue.MatchString(w.Text) {
			f.Wrong(w.Line, "axes: %s: %q is not accepted; accepted: letters, digits, dots, dashes and underscores", a.Name, w.Text)
			continue
		}
		if !slices.Contains(a.Values, w.Text) {
			a.Values = append(a.Values, w.Text)
		}
	}
	if len(a.Values) == 0 {
		f.Wrong(key.Line, "axes: %s: no values; accepted: one or more", a.Name)
		return
	}
	f.Axes = append(f.Axes, a)
}

func (f *parser) env(n *yaml.Node) {
	f.Pairs(n, "env", func(key, value *yaml.Node) {
		if key.Value == "" || strings.ContainsAny(key.Value, "=\x00") {
			f.Wrong(key.Line, "env: %q is not accepted; accepted: the name of a variable", key.Value)
			return
		}
		text := f.Text("env: "+key.Value, value)
		f.placeholders("env: "+key.Value, value.Line, text, false, false)
		f.Env = append(f.Env, key.Value+"="+text)
	})
}

func (f *parser) boolean(what string, n *yaml.Node) bool {
	switch n.Value {
	case "true", "yes":
		return true
	case "false", "no":
	default:
		f.Wrong(n.Line, "%s: %q is not accepted; accepted: true, false", what, n.Value)
	}
	return false
}

func (f *parser) limit(key, value *yaml.Node) {
	n, ok := bytesOf(f.Text("limits: "+key.Value, value))
	if !ok {
		f.Wrong(value.Line, "limits: %s: %q is not accepted; accepted: bytes, for example 512MiB or 4GiB", key.Value, value.Value)
	}
	switch key.Value {
	case "memory":
		f.Limit.Memory = uint64(n)
	case "output":
		f.Limit.Output = n
	case "written":
		f.Limit.Written = uint64(n)
	default:
		f.Unknown("limits", key, "memory, output, written")
	}
}

// bytesOf parses a number of bytes, with a unit from KiB to TiB or without one. It returns false for any other text.
func bytesOf(text string) (int64, bool) {
	factor := 1.0
	for i, unit := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if number, ok := strings.CutSuffix(text, unit); ok {
			text, factor = strings.TrimSpace(number), math.Pow(1024, float64(i+1))
		}
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n*factor >= 1 && n*factor < 1<<53) {
		return 0, false
	}
	return int64(n * factor), true
}

func (f *parser) property(key, value *yaml.Node) {
	v := f.Line("properties: "+key.Value, value)
	one := func(accepted ...string) string {
		switch value.Value {
		case "true":
			v = record.Yes
		case "false":
			v = record.No
		}
		if !slices.Contains(accepted, v) {
			f.Wrong(value.Line, "properties: %s: %q is not accepted; accepted: %s", key.Value, v, strings.Join(accepted, ", "))
		}
		return v
	}
	bits := func() float64 {
		n, err := strconv.ParseFloat(v, 64)
		if err != nil || !(n > 0 && n <= 1024) {
			f.Wrong(value.Line, "properties: %s: %q is not accepted; accepted: a number of bits above 0, at most 1024; leave the line out if it is not known", key.Value, v)
		}
		return n
	}
	switch key.Value {
	case "proved-bits":
		f.Properties.ProvedBits = bits()
	case "claimed-bits":
		f.Properties.ClaimedBits = bits()
	case "zero-knowledge":
		f.Properties.ZeroKnowledge = one(record.Yes, record.No)
	case "setup":
		f.Properties.Setup = one(record.SetupNone, record.SetupUniversal, record.SetupCircuit)
	case "audited":
		f.Properties.Audited = v
	default:
		f.Unknown("properties", key, "proved-bits, claimed-bits, zero-knowledge, setup, audited")
	}
}

// commands reads the commands. The keys shell and axes must have been read before: they say whether a shell runs the
// commands, and which placeholders there are.
func (f *parser) commands(line int, nodes map[string]*yaml.Node) {
	for what, n := range nodes {
		list := []*yaml.Node{n}
		if what == ofPrepare && n.Kind == yaml.SequenceNode {
			list = n.Content
		}
		for _, one := range list {
			c := f.command(what, one)
			switch what {
			case ofPrepare:
				f.Prepare = append(f.Prepare, c)
			case ofInput:
				f.Input = c
			case ofProve:
				f.Prove = c
			case ofVerify:
				f.Verify = c
			default:
				f.Serve = c
			}
		}
	}
	switch has := func(what string) bool { return nodes[what] != nil }; {
	case has("serve") && (has(ofProve) || has(ofVerify)):
		f.Wrong(nodes["serve"].Line, "serve together with prove or verify; accepted: serve alone, which does both, or these commands")
	case !has("serve") && !has(ofProve):
		f.Wrong(line, "a prover has no commands; accepted: prove, or serve")
	}
}

func (f *parser) command(what string, n *yaml.Node) Command {
	text := f.Text(what, n)
	f.placeholders(what, n.Line, text, what == ofInput || what == ofProve || what == ofVerify, what == ofProve || what == ofVerify)
	if strings.TrimSpace(text) == "" {
		f.Wrong(n.Line, "%s: no command; accepted: a program and its arguments", what)
		return nil
	}
	if f.Shell {
		return Command{text}
	}
	words, err := argument.Words(what, text)
	if err != nil {
		f.Wrong(n.Line, "%v; a shell is used with shell: true", err)
	}
	return words
}

// placeholders reports a mistake for each name in braces that has no value in this place.
func (f *parser) placeholders(what string, line int, text string, input, proof bool) {
	known := []string{"dir", "seed", "cpus"}
	if input {
		known = append(known, "input")
	}
	if proof {
		known = append(known, "proof")
	}
	for _, a := range f.Axes {
		known = append(known, a.Name)
	}
	for _, p := range placeholder.FindAllString(text, -1) {
		if !slices.Contains(known, p[1:len(p)-1]) {
			f.Wrong(line, "%s: %s is not a placeholder here; accepted: {%s}", what, p, strings.Join(known, "}, {"))
		}
	}
}

// figure reads one entry of the key read.
func (f *parser) figure(key, value *yaml.Node) {
	fig := Figure{Name: key.Value, Unit: record.UnitOf(key.Value)}
	f.Pairs(value, "read: "+key.Value, func(k, v *yaml.Node) {
		if k.Value == "unit" {
			fig.Unit = f.Line("unit", v)
			return
		}
		if !f.source("read: "+key.Value, &fig.Source, k, v) {
			f.Wrong(k.Line, "read: %s: %q is not accepted; accepted: size, of, match, unit", key.Value, k.Value)
		}
	})
	f.whole("read: "+key.Value, key.Line, fig.Source, true)
	if err := record.CheckReported(fig.Name, fig.Unit, 0); err != nil {
		f.Wrong(key.Line, "read: %v", err)
	}
	f.Figures = append(f.Figures, fig)
}

// source reads a key of a source. It returns false if a source has no such key.
func (f *parser) source(what string, s *Source, key, value *yaml.Node) bool {
	switch key.Value {
	case "size":
		s.Size = f.Text(what, value)
		f.placeholders(what, value.Line, s.Size, true, true)
	case "of":
		s.Of = f.Text(what, value)
		if !slices.Contains([]string{ofPrepare, ofInput, ofProve, ofVerify}, s.Of) {
			f.Wrong(value.Line, "%s: of: %q is not accepted; accepted: prepare, input, prove, verify", what, s.Of)
		}
	case "match":
		s.Match = f.Text(what, value)
		if re, err := regexp.Compile(s.Match); err != nil {
			f.Wrong(value.Line, "%s: match: %v", what, err)
		} else if re.NumSubexp() > 1 {
			f.Wrong(value.Line, "%s: match: %d groups; accepted: one, or none for the whole match", what, re.NumSubexp())
		}
	default:
		return false
	}
	return true
}

// whole reports a mistake if a source lacks a key, has keys that exclude each other, or names a command that the file
// does not have.
func (f *parser) whole(what string, line int, s Source, size bool) {
	printed := s.Of != "" && s.Match != ""
	accepted := "of and match"
	if size {
		accepted = "size, or " + accepted
	}
	if printed == (s.Size != "") || !size && s.Size != "" || !printed && (s.Of != "" || s.Match != "") {
		f.Wrong(line, "%s: accepted: %s", what, accepted)
		return
	}
	missing := map[string]bool{ofPrepare: f.Prepare == nil, ofInput: f.Input == nil, ofProve: f.Prove == nil, ofVerify: f.Verify == nil}
	if missing[s.Of] {
		f.Wrong(line, "%s: of: there is no command %s", what, s.Of)
	}
}

// must reads one entry of the key must.
func (f *parser) must(key, value *yaml.Node) {
	what := "must: " + key.Value
	m := Must{Name: key.Value}
	equals := false
	f.Pairs(value, what, func(k, v *yaml.Node) {
		switch k.Value {
		case "equals":
			equals = true
			m.Equals = f.Text(what, v)
			f.placeholders(what, v.Line, m.Equals, true, false)
		case "as":
			m.As = new(Source)
			f.Pairs(v, what+": as", func(k, v *yaml.Node) {
				if !f.source(what+": as", m.As, k, v) {
					f.Wrong(k.Line, "%s: as: %q is not accepted; accepted: of, match", what, k.Value)
				}
			})
			f.whole(what+": as", v.Line, *m.As, false)
		default:
			if !f.source(what, &m.Source, k, v) {
				f.Wrong(k.Line, "%s: %q is not accepted; accepted: of, match, equals, as", what, k.Value)
			}
		}
	})
	f.whole(what, key.Line, m.Source, false)
	if m.Of == ofPrepare || m.Of == ofInput {
		f.Wrong(key.Line, "%s: of: %q is not accepted; accepted: prove, verify, whose results are checked", what, m.Of)
	}
	if equals == (m.As != nil) {
		f.Wrong(key.Line, "%s: accepted: equals, or as", what)
	}
	f.Must = append(f.Must, m)
}
