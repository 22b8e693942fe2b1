package prover

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/child"
	"github.com/zkbench/zkbench/internal/record"
	"github.com/zkbench/zkbench/internal/usage"
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
	used     child.Use // of all operations: processor time and traffic added up, peaks the greatest
	runs     int
	doubted  sync.Once // what is checked once
	doubting error
	unseen   []string // what could not be doubted
}

// prepare sets up a case.
func (s *Spec) prepare(ctx context.Context, c workload.Case, seed uint64) (_ *prover, err error) {
	if n := workload.Workers(ctx); s.Alone && n > 1 {
		return nil, &usage.ValueError{Field: "workers", Value: strconv.Itoa(n), Accepted: "1: operations of this prover use the same files"}
	}
	dir, err := os.MkdirTemp("", "zkbench-prover-")
	if err != nil {
		return nil, err
	}
	if usage.Quote(dir) != dir {
		return nil, errors.Join(&usage.ValueError{Field: "TMPDIR", Value: filepath.Dir(dir), Accepted: "a path of letters, digits and _@%+=:,./-, which commands get as a word"}, os.Remove(dir))
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
	out, use, err := child.Run(ctx, p.command(command, values))
	if !counted {
		use = child.Use{Left: use.Left}
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
func (p *prover) command(command Command, values map[string]string) child.Command {
	all := maps.Clone(p.values)
	maps.Copy(all, values)
	c := child.Command{Dir: p.Dir, Limit: p.Limit}
	for _, e := range p.Env {
		c.Env = append(c.Env, fill(e, all))
	}
	for _, word := range command {
		c.Argv = append(c.Argv, fill(word, all))
	}
	if p.Shell {
		for name := range all {
			all[name] = usage.Quote(all[name])
		}
		c.Argv = []string{"sh", "-c", fill(command[0], all)}
	}
	return c
}

func (p *prover) add(use child.Use, counted bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if counted {
		p.runs++
	}
	p.used.CPU += use.CPU
	p.used.Read += use.Read
	p.used.Written += use.Written
	p.used.Left += use.Left
	p.used.PeakRSS = max(p.used.PeakRSS, use.PeakRSS)
	p.used.GroupPeak = max(p.used.GroupPeak, use.GroupPeak)
}

// stage is what an operation is.
func (p *prover) stage() string { return p.c.Get(workload.StageKey) }

// forget begins to count anew.
func (p *prover) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.runs, p.used = 0, child.Use{Left: p.used.Left}
}

// input is what an operation takes.
type input struct {
	values  map[string]string // of placeholders: input and seed
	printed []byte            // by the command input
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
				return nil, &usage.ValueError{Field: axis, Value: text, Accepted: fmt.Sprintf("0 to %d, as the length of inputs; a command input makes others", longestInput)}
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
	return in, nil
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

// Check verifies a proof, and once that the verifier can say no.
func (p *prover) Check(ctx context.Context, of any, output []byte) error {
	in := of.(*input)
	if p.stage() == ofVerify {
		output = in.proof
	} else {
		if err := p.musts(ofProve, in, output, nil); err != nil {
			return err
		}
		if len(p.stages()) == 1 {
			return nil
		}
		if p.pool == nil && p.Alone && !p.Verify.uses("proof") {
			return p.checkShared(ctx, in)
		}
		if err := p.verify(ctx, in, output, false); err != nil {
			return fmt.Errorf("its own proof: %w", err)
		}
		defer func() { _ = os.RemoveAll(p.proofPath(output)) }()
	}
	p.doubted.Do(func() { p.doubting = p.doubt(ctx, in, output) })
	return p.doubting
}

// musts holds what a command printed against what it must print: of a run, and of its verifying.
func (p *prover) musts(of string, in *input, proved, verified []byte) error {
	printed := map[string][]byte{ofPrepare: p.printed[ofPrepare], ofInput: in.printed, ofProve: proved[numberSize:], ofVerify: verified}
	for _, m := range p.Must {
		if m.Of != of {
			continue
		}
		got, ok := m.find(printed[of])
		if !ok {
			return &mustError{fmt.Sprintf("%s: %s: nothing in its output matches %s", of, m.Name, m.Match)}
		}
		values := maps.Clone(p.values)
		maps.Copy(values, in.values)
		want, known := fill(m.Equals, values), true
		if m.As != nil {
			want, known = m.As.find(printed[m.As.Of])
		}
		if !known {
			return &mustError{fmt.Sprintf("%s: %s: nothing in the output of %s matches %s", of, m.Name, m.As.Of, m.As.Match)}
		}
		if got != want {
			return &mustError{fmt.Sprintf("%s: %s is %q, and must be %q", of, m.Name, got, want)}
		}
	}
	return nil
}

// checkShared proves once more and verifies, of operations whose proofs took the place of each other:
// the last of them may have been cut off.
func (p *prover) checkShared(ctx context.Context, in *input) error {
	p.doubted.Do(func() {
		var output []byte
		if output, p.doubting = p.prove(ctx, in, false); p.doubting == nil {
			p.doubting = p.verify(ctx, in, output, false)
		}
		p.unseen = append(p.unseen, "operations have one place for a proof: one more was made after the window, and verified, for all of them")
	})
	return p.doubting
}

// mustError is a command that printed something else than it must.
type mustError struct{ text string }

func (e *mustError) Error() string { return e.text }

// changes are how many changed proofs a verifier may accept, all in different places: encodings
// have bytes that mean nothing.
const changes = 4

// doubt sees to it that the verifier refuses proofs that were changed, and a proof for another input.
func (p *prover) doubt(ctx context.Context, in *input, output []byte) error {
	if p.pool == nil && !p.Verify.uses("proof") { // it finds the proof where it knows it to be
		p.unseen = append(p.unseen, "verify names no {proof}: whether it refuses another one was not seen")
		return nil
	}
	raw, err := p.proof(output)
	if err != nil {
		return err
	}
	if raw == nil {
		p.unseen = append(p.unseen, "the proof is a directory: whether verify refuses another one was not seen")
		return nil
	}
	refused := false
	for i := 0; i < changes && !refused; i++ {
		changed := bytes.Clone(raw)
		changed[len(changed)*(i+1)/(changes+1)] ^= 1
		other := binary.LittleEndian.AppendUint64(nil, p.proofs.Add(1))
		if p.pool != nil || !p.Prove.uses("proof") {
			other = append(other, changed...)
		} else if err := os.WriteFile(p.proofPath(other), changed, 0o600); err != nil {
			return err
		}
		refused, err = p.refuses(ctx, in, other)
		_ = os.RemoveAll(p.proofPath(other))
		if err != nil {
			return err
		}
	}
	if !refused {
		return fmt.Errorf("verify: accepts a proof that was changed in any of %d places", changes)
	}
	return p.doubtInput(ctx, in, output)
}

// doubtInput sees to it that the verifier refuses a proof for another input.
func (p *prover) doubtInput(ctx context.Context, in *input, output []byte) error {
	if p.pool == nil && !p.Verify.uses("input") {
		p.unseen = append(p.unseen, "verify names no {input}: of which input a proof is, nothing tells")
		return nil
	}
	of, err := p.makeInput(ctx, otherInput)
	if err != nil {
		return err
	}
	mine, err := os.ReadFile(in.values["input"])
	theirs, err2 := os.ReadFile(of.values["input"])
	if err != nil || err2 != nil || bytes.Equal(mine, theirs) {
		p.unseen = append(p.unseen, "all inputs are alike: whether verify refuses a proof for another one was not seen")
		return nil
	}
	refused, err := p.refuses(ctx, of, output)
	if err == nil && !refused {
		err = errors.New("verify: accepts a proof for another input")
	}
	return err
}

// otherInput is the sequence number of an input that no operation has.
const otherInput = 1 << 41

// proof is a run's, nil where it is a directory. There has to be one.
func (p *prover) proof(output []byte) ([]byte, error) {
	raw := output[numberSize:]
	if p.pool == nil && p.Prove.uses("proof") {
		info, err := os.Stat(p.proofPath(output))
		if err != nil {
			return nil, fmt.Errorf("prove: no proof: %w", err)
		}
		if info.IsDir() {
			return nil, nil
		}
		if raw, err = os.ReadFile(p.proofPath(output)); err != nil {
			return nil, fmt.Errorf("prove: no proof: %w", err)
		}
	}
	if len(raw) == 0 {
		return nil, errors.New("prove: the proof is empty")
	}
	return raw, nil
}

// refuses tells whether a verifier says no, and does not fail otherwise.
func (p *prover) refuses(ctx context.Context, in *input, output []byte) (bool, error) {
	err := p.verify(ctx, in, output, false)
	exit, exited := errors.AsType[*child.ExitError](err)
	_, said := errors.AsType[*refusal](err)
	_, printed := errors.AsType[*mustError](err)
	switch {
	case ctx.Err() != nil:
		return false, context.Cause(ctx)
	case err == nil:
		return false, nil
	case said || printed || exited && !exit.Killed:
		return true, nil
	}
	return false, fmt.Errorf("of a changed proof: %w", err)
}

// Metrics proves once, and reads the figures.
func (p *prover) Metrics(ctx context.Context) ([]record.Metric, error) {
	if len(p.Figures) == 0 && p.pool == nil {
		p.forget()
		return nil, nil
	}
	of, err := p.Input(ctx, 1<<40)
	if err != nil {
		return nil, err
	}
	in := of.(*input)
	output := in.proof
	if output == nil {
		if output, err = p.prove(ctx, in, false); err != nil {
			return nil, err
		}
	}
	figures, err := p.figures(ctx, in, output)
	p.forget() // what was used so far belongs to no operation
	return figures, err
}

// served are the figures that a resident prover has told.
func (p *prover) served() []record.Metric {
	if p.pool == nil {
		return nil
	}
	p.pool.mu.Lock()
	defer p.pool.mu.Unlock()
	return slices.Clone(p.pool.figures)
}

// figures reads them from what was printed, and from the files of a run.
func (p *prover) figures(ctx context.Context, in *input, output []byte) ([]record.Metric, error) {
	all := p.served()
	values := maps.Clone(p.values)
	maps.Copy(values, in.values)
	var err error
	if values["proof"], err = p.proofFile(output); err != nil {
		return nil, err
	}
	printed := map[string][]byte{ofPrepare: p.printed[ofPrepare], ofInput: in.printed, ofProve: output[numberSize:]}
	for _, f := range p.Figures {
		if f.Size != "" {
			size, err := sizeOf(fill(f.Size, values))
			if err != nil {
				return nil, fmt.Errorf("read: %s: %w", f.Name, err)
			}
			all = append(all, record.Reported(f.Name, f.Unit, float64(size), record.Exact))
			continue
		}
		if f.Of == ofVerify && printed[ofVerify] == nil {
			out, err := p.run(ctx, ofVerify, p.Verify, values, false)
			if err != nil {
				return nil, err
			}
			printed[ofVerify] = out
		}
		text, ok := f.find(printed[f.Of])
		if !ok {
			return nil, fmt.Errorf("read: %s: nothing in the output of %s matches %s", f.Name, f.Of, f.Match)
		}
		number, err := strconv.ParseFloat(text, 64)
		if err == nil {
			err = record.CheckReported(f.Name, f.Unit, number)
		}
		if err != nil {
			return nil, fmt.Errorf("read: %s: %q in the output of %s is no number that a record takes", f.Name, text, f.Of)
		}
		all = append(all, record.Reported(f.Name, f.Unit, number, record.Exact))
	}
	return all, nil
}

// sizeOf is the size of a file, or of all in a directory.
func sizeOf(path string) (size int64, err error) {
	err = filepath.Walk(path, func(_ string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
		return err
	})
	return size, err
}

// usage is what the prover took, an operation, warm-up included. The processor time of a resident one
// counts as this process' own.
func (p *prover) usage() (metrics []record.Metric) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := float64(max(p.runs, 1))
	if p.pool == nil {
		metrics = append(metrics, record.CPUTime.Metric(float64(p.used.CPU)/n))
	}
	for _, m := range []struct {
		of    record.Quantity
		value float64
	}{
		{record.PeakRSS, float64(p.used.PeakRSS)},
		{record.GroupPeak, float64(p.used.GroupPeak)},
		{record.DiskRead, float64(p.used.Read) / n},
		{record.DiskWritten, float64(p.used.Written) / n},
	} {
		if m.value > 0 {
			metrics = append(metrics, m.of.Metric(m.value))
		}
	}
	return metrics
}

// Measured implements workload.Measured.
func (p *prover) Measured() ([]record.Metric, []record.Finding) {
	var findings []record.Finding
	note := func(name, format string, args ...any) {
		findings = append(findings, record.Finding{Name: name, Text: fmt.Sprintf(format, args...)})
	}
	if p.pool != nil {
		p.pool.measure(note)
	}
	p.mu.Lock()
	left := p.used.Left
	p.mu.Unlock()
	if left += child.Sweep(p.pool.pids()...); left > 0 {
		note("left behind", "the prover left %d processes behind, which were killed", left)
	}
	for _, text := range p.unseen {
		note("undoubted", "%s", text)
	}
	if len(p.stages()) == 1 && len(p.Must) == 0 {
		note("unchecked", "the file has neither verify nor must: nothing tells whether a result is right")
	}
	return p.usage(), findings
}

// Close removes all that is left.
func (p *prover) Close() error {
	p.pool.close()
	child.Sweep()
	var err error
	for range 10 { // what was killed may still write
		if err = os.RemoveAll(p.dir); err == nil {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return err
}
