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

// Check verifies a proof. Once per case it also checks that the verifier rejects wrong proofs.
func (p *prover) Check(ctx context.Context, taken any, output []byte) error {
	in := taken.(*input)
	if p.stage() == ofVerify {
		output = in.proof
	} else {
		if err := p.checkPrinted(ofProve, in, output, nil); err != nil {
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

// checkPrinted returns an error if a command has not printed what the file says it must. of names the command. proved
// is the output of proving, and verified is the output of verifying.
func (p *prover) checkPrinted(of string, in *input, proved, verified []byte) error {
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

// checkShared proves once more and verifies that proof. It serves provers whose operations all write their proof to
// the same place; the last operation may have been interrupted.
func (p *prover) checkShared(ctx context.Context, in *input) error {
	p.doubted.Do(func() {
		var output []byte
		if output, p.doubting = p.prove(ctx, in, false); p.doubting == nil {
			p.doubting = p.verify(ctx, in, output, false)
		}
		p.unseen = append(p.unseen, "all operations write their proof to the same place: instead of their proofs, one that was made after the window was verified")
	})
	return p.doubting
}

// mustError says that a command printed something other than it must.
type mustError struct{ text string }

func (e *mustError) Error() string { return e.text }

// DoubtsItself says that Check itself tests whether wrong results are rejected (see doubt). The runner cannot test it,
// because an output contains more than the proof: also what the command printed.
func (p *prover) DoubtsItself() {}

// changes is the number of changed proofs that are tried, each changed in a different place. The verifier may accept
// some of them, because encodings have bytes without meaning.
const changes = 4

// doubt returns an error if the verifier accepts all changed proofs, or a proof for another input.
func (p *prover) doubt(ctx context.Context, in *input, output []byte) error {
	if p.pool == nil && !p.Verify.uses("proof") { // it reads the proof from a place of its own
		p.unseen = append(p.unseen, "the command verify does not use {proof}: whether it rejects a wrong proof was not tested")
		return nil
	}
	raw, err := p.proof(output)
	if err != nil {
		return err
	}
	if raw == nil {
		p.unseen = append(p.unseen, "the proof is a directory: whether verify rejects a wrong proof was not tested")
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
		return fmt.Errorf("verify: accepts a proof that was changed, in each of %d places that were tried", changes)
	}
	return p.doubtInput(ctx, in, output)
}

// doubtInput returns an error if the verifier accepts the proof for another input.
func (p *prover) doubtInput(ctx context.Context, in *input, output []byte) error {
	if p.pool == nil && !p.Verify.uses("input") {
		p.unseen = append(p.unseen, "the command verify does not use {input}: whether it rejects a proof for another input was not tested")
		return nil
	}
	other, err := p.makeInput(ctx, otherInput)
	if err != nil {
		return err
	}
	mine, err := os.ReadFile(in.values["input"])
	theirs, err2 := os.ReadFile(other.values["input"])
	if err != nil || err2 != nil || bytes.Equal(mine, theirs) {
		p.unseen = append(p.unseen, "all inputs are the same: whether verify rejects a proof for another input was not tested")
		return nil
	}
	refused, err := p.refuses(ctx, other, output)
	if err == nil && !refused {
		err = errors.New("verify: accepts a proof for another input")
	}
	return err
}

// otherInput is the sequence number of an input that no operation has.
const otherInput = 1 << 41

// proof returns the proof of a run, or nil if it is a directory. It returns an error if there is none.
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

// refuses reports whether the verifier rejects the proof. It returns an error if the verifier fails in another way.
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
	return false, fmt.Errorf("verifying a changed proof: %w", err)
}
