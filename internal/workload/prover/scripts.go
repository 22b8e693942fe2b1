package prover

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner/subprocess"
)

// The names of files in the directories of csp-benchmarks (its CONTRIBUTING.md, "Contributing a
// Non-Rust Benchmark"). Each target has scripts, which get their arguments in the environment.
const (
	prepareSuffix = "_prepare.sh"
	proveSuffix   = "_prove.sh"
	proveVerify   = "_prove_for_verify.sh" // proves, and leaves the files that verifying needs
	verifySuffix  = "_verify.sh"
	measureSuffix = "_measure.sh" // writes sizes
	propsFile     = "bench_props.json"
)

// inputSizes returns the lengths of messages that csp-benchmarks measures, in bytes.
func inputSizes() []string { return []string{"128", "256", "512", "1024", "2048"} }

// props holds those fields of bench_props.json that go into records.
type props struct {
	ZK           *bool   `json:"is_zk"`
	SecurityBits float64 `json:"security_bits"`
	Audited      string  `json:"is_audited"`
}

// scripts reads a directory of scripts, and returns a prover for each target. A prepare script gets
// its input from the program UTILS_BIN. That is the program that the environment variable names, or
// our own, which makes messages for sha256 and keccak.
//
// The scripts keep their state in their directory, so operations run one at a time.
func scripts(dir string) ([]*Spec, error) {
	found, err := filepath.Glob(filepath.Join(dir, "*"+prepareSuffix))
	if err != nil || len(found) == 0 {
		return nil, &argument.ValueError{Field: "prover", Value: dir, Accepted: "a directory with TARGET" + prepareSuffix + ", TARGET" + proveSuffix + " and their like, or the path of a file in YAML"}
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	properties, err := readProps(filepath.Join(dir, propsFile))
	if err != nil {
		return nil, err
	}
	slices.Sort(found)
	var all []*Spec
	for _, path := range found {
		target := strings.TrimSuffix(filepath.Base(path), prepareSuffix)
		name := scriptName(filepath.Base(abs) + "-" + target)
		s := &Spec{
			Name: pascal(name), About: target + " by the scripts of " + dir, File: dir, Dir: abs, Alone: true,
			Axes:       []Axis{{Name: "bytes", Values: inputSizes()}},
			Limit:      subprocess.Limits{Output: defaultOutput, Written: defaultWritten},
			Timeout:    defaultTimeout,
			Properties: properties,
		}
		if back := record.WorkloadID(s.Name); back != name {
			return nil, fmt.Errorf("%w: %s: its workload would be %q; accepted: a directory and targets that begin with letters", zkbench.ErrParams, path, back)
		}
		script := func(suffix string, env ...string) Command {
			if _, err := os.Stat(filepath.Join(dir, target+suffix)); err != nil {
				return nil
			}
			return append(append(Command{"env"}, env...), "bash", filepath.Join(abs, target+suffix))
		}
		state, size, utils := "STATE_JSON={dir}/state.json", "INPUT_SIZE={bytes}", "UTILS_BIN={dir}/utils"
		s.Prepare = []Command{utilities(), script(prepareSuffix, state, size, utils)}
		s.Prove, s.Verify = script(proveSuffix, state), script(verifySuffix, state)
		if s.Prove == nil {
			return nil, &argument.ValueError{Field: "prover", Value: path, Accepted: target + proveSuffix + " beside it"}
		}
		if first := script(proveVerify, state); first != nil {
			s.Prepare = append(s.Prepare, first)
		}
		if c := script(measureSuffix, state, size, utils, "SIZES_JSON={dir}/sizes.json"); c != nil {
			s.Prepare = append(s.Prepare, c, Command{"cat", "{dir}/sizes.json"})
			s.Figures = []Figure{
				{Name: record.ProofSize.Name(), Unit: record.ProofSize.Unit(), Source: Source{Of: ofPrepare, Match: `"proof_size"\s*:\s*(\d+)`}},
				{Name: "preprocessing", Unit: "B/preprocessing", Source: Source{Of: ofPrepare, Match: `"preprocessing_size"\s*:\s*(\d+)`}},
			}
		}
		all = append(all, s)
	}
	return all, nil
}

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

func scriptName(text string) string {
	return strings.Trim(notInNames.ReplaceAllString(strings.ToLower(text), "-"), "-")
}

// utilities returns the command that makes the program UTILS_BIN: a link to the one that the
// environment variable names, or a script that calls this program.
func utilities() Command {
	if other := os.Getenv("UTILS_BIN"); other != "" {
		return Command{"ln", "-s", other, "{dir}/utils"}
	}
	return Command{"sh", "-c", "printf '#!/bin/sh\\nexec \"%s\" " + InputsCommand + " \"$@\"\\n' \"$1\" >\"$2\" && chmod +x \"$2\"", "sh", ownPath(), "{dir}/utils"}
}

// InputsCommand is the name of this program's command that prints the input of a csp-benchmarks
// target: the message in hexadecimal, and its digest.
const InputsCommand = "exec-input"

func ownPath() string {
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}

func readProps(path string) (record.Properties, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return record.Properties{}, nil
	}
	if err != nil {
		return record.Properties{}, err
	}
	var p props
	if err := json.Unmarshal(raw, &p); err != nil {
		return record.Properties{}, &zkbench.DecodeError{Path: path, Reason: err.Error()}
	}
	out := record.Properties{ClaimedBits: p.SecurityBits}
	if p.ZK != nil {
		out.ZeroKnowledge = record.No
		if *p.ZK {
			out.ZeroKnowledge = record.Yes
		}
	}
	switch p.Audited {
	case "not_audited":
		out.Audited = record.No
	case "audited":
		out.Audited = record.Yes
	default:
		out.Audited = p.Audited
	}
	return out, nil
}
