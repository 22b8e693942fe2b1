package prover

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner/resources"
	"github.com/zkbench/zkbench/internal/runner/subprocess"
	"github.com/zkbench/zkbench/internal/workload"
)

// prover is one case of a Spec, prepared.
type prover struct {
	*Spec
	c       workload.Case
	seed    uint64
	dir     string            // of this case, removed when it is closed
	values  map[string]string // of placeholders
	printed map[string][]byte // by the commands that ran while it was prepared
	proofs  atomic.Uint64
	pool    *pool // of resident provers; nil: commands

	mu       sync.Mutex
	used     subprocess.Use // of all operations: processor time and traffic added up, peaks the greatest
	before   resources.CPU  // of resident provers: what they had used when counting began
	runs     int
	doubted  sync.Once // what is checked once
	doubting error
	unseen   []string // what could not be doubted
}

// prepare sets up a case.
func (s *Spec) prepare(ctx context.Context, c workload.Case, seed uint64) (_ *prover, err error) {
	if n := workload.Workers(ctx); s.Alone && n > 1 {
		return nil, &argument.ValueError{Field: "workers", Value: strconv.Itoa(n), Accepted: "1: operations of this prover use the same files"}
	}
	dir, err := os.MkdirTemp("", "zkbench-prover-")
	if err != nil {
		return nil, err
	}
	if argument.Quote(dir) != dir {
		return nil, errors.Join(&argument.ValueError{Field: "TMPDIR", Value: filepath.Dir(dir), Accepted: "a path of letters, digits and _@%+=:,./-, which commands get as a word"}, os.Remove(dir))
	}
	p := &prover{Spec: s, c: c, seed: seed, dir: dir, printed: make(map[string][]byte)}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Close())
		}
	}()
	p.values = map[string]string{"dir": dir, "seed": strconv.FormatUint(seed, 10), "cpus": strconv.Itoa(runtime.GOMAXPROCS(0))}
	for _, a := range s.Axes {
		p.values[a.Name] = c.Get(a.Name)
	}
	var all bytes.Buffer
	for _, command := range s.Prepare {
		out, err := p.run(ctx, ofPrepare, command, nil, true)
		if err != nil {
			return nil, err
		}
		all.Write(out)
	}
	p.printed[ofPrepare] = all.Bytes()
	if s.Serve != nil {
		if p.pool, err = newPool(ctx, p); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// run runs a command with further values for its placeholders. What it took is counted where it is
// what is measured.
func (p *prover) run(ctx context.Context, what string, command Command, values map[string]string, counted bool) ([]byte, error) {
	ctx, cancel := p.limited(ctx)
	defer cancel()
	out, use, err := subprocess.Run(ctx, p.command(command, values))
	if !counted {
		use = subprocess.Use{Left: use.Left}
	}
	p.add(use, counted)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, failing(err))
	}
	return out, nil
}

// limited is a context that ends when a command has had its time.
func (p *prover) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, p.Timeout, p.late())
}

// late is the error of what has not ended in its time.
func (p *prover) late() error { return fmt.Errorf("not ended after %v, the file's timeout", p.Timeout) }

// failing is an error of a prover that goes beyond a limit: it fails, where an ErrLimit would say that
// what the user asked for is refused.
func failing(err error) error {
	if beyond, ok := errors.AsType[*zkbench.LimitError](err); ok {
		return errors.New(beyond.Error())
	}
	return err
}

// command is one with its placeholders filled.
func (p *prover) command(command Command, values map[string]string) subprocess.Command {
	all := maps.Clone(p.values)
	maps.Copy(all, values)
	c := subprocess.Command{Dir: p.Dir, Limit: p.Limit}
	for _, e := range p.Env {
		c.Env = append(c.Env, fill(e, all))
	}
	for _, word := range command {
		c.Argv = append(c.Argv, fill(word, all))
	}
	if p.Shell {
		for name := range all {
			all[name] = argument.Quote(all[name])
		}
		c.Argv = []string{"sh", "-c", fill(command[0], all)}
	}
	return c
}

func (p *prover) add(use subprocess.Use, counted bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if counted {
		p.runs++
	}
	p.used.User += use.User
	p.used.System += use.System
	p.used.Read += use.Read
	p.used.Written += use.Written
	p.used.Left += use.Left
	p.used.PeakRSS = max(p.used.PeakRSS, use.PeakRSS)
	p.used.GroupPeak = max(p.used.GroupPeak, use.GroupPeak)
}

// stage is what an operation is.
func (p *prover) stage() string { return p.c.Get(record.StageKey) }

// forget begins to count anew.
func (p *prover) forget() {
	var before resources.CPU
	if p.pool != nil {
		before, _ = p.pool.look()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.runs, p.used, p.before = 0, subprocess.Use{Left: p.used.Left}, before
}

// input is what an operation takes.
type input struct {
	values  map[string]string // of placeholders: input and seed
	printed []byte            // by the command input
	digest  string            // of the file; empty where there is none
	proof   []byte            // a run's output, where it is verified
}

const (
	defaultInput = 32      // length of an input of which no axis says it
	longestInput = 1 << 28 // bytes
)

// Input makes the input of a sequence number: by its command, or as random bytes, as many as the
// axis size or bytes says.
func (p *prover) Input(ctx context.Context, seq uint64) (any, error) {
	in, err := p.makeInput(ctx, seq)
	if err != nil || p.stage() != ofVerify {
		return in, err
	}
	proof, err := p.prove(ctx, in, false)
	if err != nil {
		return nil, err
	}
	in.proof = bytes.Clone(proof)
	return in, p.musts(ofProve, in, proof, nil)
}

func (p *prover) makeInput(ctx context.Context, seq uint64) (*input, error) {
	random := workload.Random(p.seed, seq)
	in := &input{values: map[string]string{
		"input": filepath.Join(p.dir, fmt.Sprintf("input-%d", seq)),
		"seed":  strconv.FormatUint(random.Uint64()>>1, 10),
	}}
	if p.Spec.Input != nil {
		var err error
		if in.printed, err = p.run(ctx, ofInput, p.Spec.Input, in.values, false); err != nil {
			return nil, err
		}
	} else {
		length := defaultInput
		for _, axis := range []string{"bytes", "size"} {
			text := p.c.Get(axis)
			n, err := strconv.Atoi(text)
			switch {
			case text == "" || err != nil && axis == "size":
			case err != nil || n < 0 || n > longestInput:
				return nil, &argument.ValueError{Field: axis, Value: text, Accepted: fmt.Sprintf("0 to %d, as the length of inputs; a command input makes others", longestInput)}
			default:
				length = n
			}
		}
		raw := make([]byte, length)
		_, _ = random.Read(raw) // which never fails
		if err := os.WriteFile(in.values["input"], raw, 0o600); err != nil {
			return nil, err
		}
	}
	var err error
	in.digest, err = in.fileDigest()
	return in, err
}

// fileDigest is the digest of the input's file, empty where the command has made none, or a directory.
func (in *input) fileDigest() (string, error) {
	info, err := os.Stat(in.values["input"])
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.IsDir() {
		return "", nil
	}
	digest, _, err := subprocess.Digest(in.values["input"])
	return digest, err
}

// unchanged is the error of an input that a command has changed: operations that take it again
// prove something else.
func (in *input) unchanged() error {
	digest, err := in.fileDigest()
	if err != nil {
		return err
	}
	if digest != in.digest {
		return errors.New("the file {input} is no longer what it was before a command ran; accepted: commands that leave it as it is")
	}
	return nil
}

// Run is the operation.
func (p *prover) Run(ctx context.Context, of any) ([]byte, error) {
	in := of.(*input)
	if p.stage() == ofVerify {
		return nil, p.verify(ctx, in, in.proof, true)
	}
	return p.prove(ctx, in, true)
}

// A run's output is the number of its proof, and what it printed.
const numberSize = 8

// proofPath is the file of a run's proof.
func (p *prover) proofPath(output []byte) string {
	return filepath.Join(p.dir, fmt.Sprintf("proof-%d", binary.LittleEndian.Uint64(output)))
}

func (p *prover) prove(ctx context.Context, in *input, counted bool) ([]byte, error) {
	output := binary.LittleEndian.AppendUint64(nil, p.proofs.Add(1))
	if p.pool != nil {
		result, err := p.pool.do(ctx, request{Do: ofProve, Input: in.values["input"]})
		return append(output, result...), err
	}
	values := maps.Clone(in.values)
	values["proof"] = p.proofPath(output)
	printed, err := p.run(ctx, ofProve, p.Prove, values, counted)
	return append(output, printed...), err
}

// verify is nil for a proof that is accepted.
func (p *prover) verify(ctx context.Context, in *input, output []byte, counted bool) error {
	if p.pool != nil {
		_, err := p.pool.do(ctx, request{Do: ofVerify, Input: in.values["input"], Result: string(output[numberSize:])})
		return err
	}
	values := maps.Clone(in.values)
	var err error
	if values["proof"], err = p.proofFile(output); err != nil {
		return err
	}
	printed, err := p.run(ctx, ofVerify, p.Verify, values, counted)
	if err != nil {
		return err
	}
	return p.musts(ofVerify, in, output, printed)
}

// proofFile is the file of a run's proof, which is written where the proof is what was printed.
func (p *prover) proofFile(output []byte) (string, error) {
	path := p.proofPath(output)
	if p.Prove.uses("proof") {
		return path, nil
	}
	return path, os.WriteFile(path, output[numberSize:], 0o600)
}

// Close removes all that is left.
func (p *prover) Close() error {
	p.pool.close()
	subprocess.Sweep()
	var err error
	for range 10 { // what was killed may still write
		if err = os.RemoveAll(p.dir); err == nil {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return err
}
