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

// prover is one case of a Spec that has been prepared.
type prover struct {
	*Spec
	c       workload.Case
	seed    uint64
	dir     string            // the case's own folder, removed when the case is closed
	values  map[string]string // of placeholders
	printed map[string][]byte // what commands printed while the case was prepared
	proofs  atomic.Uint64
	pool    *pool // the resident provers; nil if the file has commands

	mu       sync.Mutex
	used     subprocess.Use // of all operations: sums of processor time and traffic, maxima of peaks
	before   resources.CPU  // what resident provers had used when counting began
	runs     int
	doubted  sync.Once // for what Check does once per case
	doubting error     // its result
	unseen   []string  // what could not be tested
}

// prepare sets up a case: it makes its folder, runs the commands prepare and starts resident provers.
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

// run runs a command, with further values for its placeholders. If counted is set, the command is what is measured, and
// run adds what it used to the sums.
func (p *prover) run(ctx context.Context, what string, command Command, values map[string]string, counted bool) ([]byte, error) {
	ctx, cancel := p.limited(ctx)
	defer cancel()
	out, use, err := subprocess.Run(ctx, p.command(command, values))
	if !counted {
		use = subprocess.Use{Left: use.Left}
	}
	p.add(use, counted)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, asFailure(err))
	}
	return out, nil
}

// limited returns a context that ends after the file's timeout.
func (p *prover) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, p.Timeout, p.timeoutError())
}

// timeoutError returns the error for a command that has not ended before the file's timeout.
func (p *prover) timeoutError() error {
	return fmt.Errorf("not ended after %v, the file's timeout", p.Timeout)
}

// asFailure turns a LimitError into a plain error: if a prover exceeds a limit, it fails. An ErrLimit would say that the
// user's request is refused.
func asFailure(err error) error {
	if beyond, ok := errors.AsType[*zkbench.LimitError](err); ok {
		return errors.New(beyond.Error())
	}
	return err
}

// command returns a command with its placeholders filled in.
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

// stage returns the stage that an operation of the case is.
func (p *prover) stage() string { return p.c.Get(record.StageKey) }

// forget resets the counts of what operations used.
func (p *prover) forget() {
	var before resources.CPU
	if p.pool != nil {
		before, _ = p.pool.use()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.runs, p.used, p.before = 0, subprocess.Use{Left: p.used.Left}, before
}

// input is the input of an operation.
type input struct {
	values  map[string]string // of the placeholders input and seed
	printed []byte            // what the command input printed
	digest  string            // of the input's file; empty if there is none
	proof   []byte            // the output of proving, if the operation verifies it
}

const (
	defaultInput = 32      // the length of an input if no axis gives it
	longestInput = 1 << 28 // bytes
)

// Input makes the input with sequence number seq, by the command input or as random bytes. The number of random bytes
// is the value of the axis size or bytes.
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
	return in, p.checkPrinted(ofProve, in, proof, nil)
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

// fileDigest returns the digest of the input's file, or an empty string if the command has made no file or a directory.
func (in *input) fileDigest() (string, error) {
	info, err := os.Stat(in.values["input"])
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.IsDir() {
		return "", nil
	}
	digest, _, err := subprocess.Digest(in.values["input"])
	return digest, err
}

// unchanged returns an error if a command has changed the input: operations that use it again would prove something
// else.
func (in *input) unchanged() error {
	digest, err := in.fileDigest()
	if err != nil {
		return err
	}
	if digest != in.digest {
		return errors.New("a command changed the file {input}; accepted: commands that do not change it")
	}
	return nil
}

// Run performs the operation: it proves or verifies.
func (p *prover) Run(ctx context.Context, taken any) ([]byte, error) {
	in := taken.(*input)
	if p.stage() == ofVerify {
		return nil, p.verify(ctx, in, in.proof, true)
	}
	return p.prove(ctx, in, true)
}

// numberSize is the length of the proof's number, with which the output of a run begins. What the run printed follows.
const numberSize = 8

// proofPath returns the path of a run's proof.
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
	return p.checkPrinted(ofVerify, in, output, printed)
}

// proofFile returns the path of a run's proof. If the proof is what the command printed, it writes the file.
func (p *prover) proofFile(output []byte) (string, error) {
	path := p.proofPath(output)
	if p.Prove.uses("proof") {
		return path, nil
	}
	return path, os.WriteFile(path, output[numberSize:], 0o600)
}

// Close ends the resident provers and the remaining processes, and removes the case's folder.
func (p *prover) Close() error {
	p.pool.close()
	subprocess.Sweep()
	var err error
	for range 10 { // killed processes may still write for a moment
		if err = os.RemoveAll(p.dir); err == nil {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return err
}
