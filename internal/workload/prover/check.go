package prover

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"

	"github.com/zkbench/zkbench/internal/runner/subprocess"
)

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
			p.doubted.Do(func() { p.doubting = in.unchanged() })
			return p.doubting
		}
		if p.pool == nil && p.Alone && !p.Verify.uses("proof") {
			return p.checkShared(ctx, in)
		}
		if err := p.verify(ctx, in, output, false); err != nil {
			return fmt.Errorf("its own proof: %w", err)
		}
		defer func() { _ = os.RemoveAll(p.proofPath(output)) }()
	}
	p.doubted.Do(func() {
		if p.doubting = in.unchanged(); p.doubting == nil {
			p.doubting = p.doubt(ctx, in, output)
		}
	})
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

// DoubtsItself: see doubt. What a command prints beside its proof is not the result.
func (p *prover) DoubtsItself() {}

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
	exit, exited := errors.AsType[*subprocess.ExitError](err)
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
