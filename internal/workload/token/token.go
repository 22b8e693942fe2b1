// Package token defines the workloads on confidential tokens. Their names, axes
// and default matrix are those of the public study of Panurus' zkatdlog driver
// (docs/measure.md), so that figures can be put side by side.
package token

import (
	"context"
	"crypto/sha3"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
	"github.com/zkbench/zkbench/transcript"
)

// studyCurves is the study's default selection of curves.
var studyCurves = [...]string{"BN254", "BLS12_381_BBS_GURVY", "BLS12_381_BBS_GURVY_FAST_RNG"}

// Defs returns the workloads, in the order of a token's life.
func Defs() []workload.Def {
	return []workload.Def{
		TransferProofGeneration(), Sender(), SenderConstantTime(), VerificationSenderProof(), VerificationSenderBatch(),
		Issuer(), ProofVerificationIssuer(), ValidatorTransfer(), ValidatorBatch(), Reject(), LedgerApply(),
		IssueServiceIssue(), TransferServiceTransfer(), TransferServiceRedeem(), AuditorServiceCheck(), WalletFollowChecked(),
	}
}

// curveAxis is the axis of these curves, in any of their names.
func curveAxis(curves, def []string) workload.Axis {
	return workload.CurveAxis(curves, def).Aliased(token.Curve, token.AcceptedCurves(curves...))
}

// transferAxes are the axes of transfers; those of issues have no inputs.
func transferAxes() []workload.Axis {
	return []workload.Axis{
		curveAxis(token.Curves(), studyCurves[:]), workload.BitsAxis(),
		workload.InputsAxis(token.MaxTokens), workload.OutputsAxis(token.MaxTokens),
		workload.ProofAxis(token.ProofTypes()), workload.ExecutorAxis(executor.Names()),
	}
}

func issueAxes() []workload.Axis {
	axes := transferAxes()
	return append(axes[:2:2], axes[3:]...)
}

// define makes a workload of instance's wrapping of a case's set-up.
func define(name, doc string, kind token.Kind, instance func(*setup) workload.Instance, more ...workload.Axis) workload.Def {
	axes := transferAxes()
	if kind == token.Issue {
		axes = issueAxes()
	}
	return workload.Def{
		Name: name, Doc: doc, Axes: append(axes, more...), Memory: estimate,
		New: func(_ context.Context, c workload.Case, seed uint64) (workload.Instance, error) {
			s, err := newSetup(c, token.Tuning{}, kind, seed)
			if err != nil {
				return nil, err
			}
			return instance(s), nil
		},
	}
}

// Bytes of memory, at most, as measured.
const (
	systemBytes    = 64 << 20 // of a token system: tables, vaults and what else does not grow
	inputBytes     = 4 << 10  // of each token that an input spends or makes
	operationBytes = 12 << 10 // of each that an operation proves or verifies
)

// estimate is what a case takes: batches of many tokens.
func estimate(c workload.Case) (workload.Memory, error) {
	tokens, batch := 0, 1
	for _, key := range []string{"in", "out"} {
		if c.Get(key) == "" {
			continue
		}
		n, err := c.Int(key)
		if err != nil {
			return workload.Memory{}, err
		}
		tokens += n
	}
	if c.Get("batch") != "" {
		var err error
		if batch, err = c.Int("batch"); err != nil {
			return workload.Memory{}, err
		}
	}
	all := uint64(tokens+1) * uint64(batch)
	return workload.Memory{Base: systemBytes, Input: all * inputBytes, Operation: all * operationBytes}, nil
}

// setup is what the instances of one case share.
type setup struct {
	pp      token.CryptoParams
	ex      executor.Executor
	kind    token.Kind
	in, out int
	batch   int // actions verified together, where the case has that axis
	bits    int
	seed    uint64

	proofType, owners string
}

// newSetup builds what a case's coordinates say.
func newSetup(c workload.Case, tuning token.Tuning, kind token.Kind, seed uint64) (*setup, error) {
	s := &setup{kind: kind, seed: seed, owners: c.Get("owner")}
	var err error
	if s.bits, err = c.Int("bits"); err != nil {
		return nil, err
	}
	if s.out, err = c.Int("out"); err != nil {
		return nil, err
	}
	if kind == token.Transfer {
		if s.in, err = c.Int("in"); err != nil {
			return nil, err
		}
	}
	if c.Get("batch") != "" {
		if s.batch, err = c.Int("batch"); err != nil {
			return nil, err
		}
	}
	if s.ex, err = executor.ByName(c.Get("exec")); err != nil {
		return nil, err
	}
	if s.pp, err = token.NewCryptoParams(token.Config{Curve: c.Get("curve"), Bits: s.bits, ProofType: c.Get("proof")}, tuning); err != nil {
		return nil, err
	}
	s.proofType = s.pp.Config().ProofType
	return s, nil
}

// Metrics reports the exact sizes.
func (s *setup) Metrics(context.Context) ([]record.Metric, error) {
	return []record.Metric{
		record.ProofSize.Metric(float64(s.pp.ProofLen(s.in, s.out))), record.TableSize.Metric(float64(s.pp.TableBytes())),
	}, nil
}

// withSize returns the exact sizes of a case and that of an encoding.
func (s *setup) withSize(ctx context.Context, q record.Quantity, raw []byte) ([]record.Metric, error) {
	sizes, err := s.Metrics(ctx)
	return append(sizes, q.Metric(float64(len(raw)))), err
}

func (s *setup) Close() error { return nil }

// corpus returns the stream that a part of the input of one sequence number is
// drawn from. It is for measuring only: whoever knows the seed knows every
// secret.
func (s *setup) corpus(part string, seq uint64) stream {
	b := binary.LittleEndian.AppendUint64(nil, s.seed)
	return stream{transcript.XOF("zkbench/v1/corpus", []byte(part), b, binary.LittleEndian.AppendUint64(nil, seq))}
}

// stream is a source that has no end.
type stream struct{ *sha3.SHAKE }

// bytes draws n bytes.
func (s stream) bytes(n int) []byte {
	b := make([]byte, n)
	_, _ = s.Read(b) // never fails
	return b
}

// anchorOf is the anchor of a sequence number.
func anchorOf(seq uint64) string { return fmt.Sprintf("anchor %d", seq) }

// tokenType is the type of all tokens of the corpus.
const tokenType = "USD"

// outputs draws owners, of the length that a serialized identity has, for values.
func outputs(r stream, values []uint64) []action.Output {
	out := make([]action.Output, len(values))
	for i, v := range values {
		out[i] = action.Output{Owner: r.bytes(64), Value: v}
	}
	return out
}

// split cuts a total into n random parts.
func split(r stream, total uint64, n int) []uint64 {
	parts := make([]uint64, n)
	for i := range n - 1 {
		parts[i] = binary.LittleEndian.Uint64(r.bytes(8))
		if total+1 != 0 {
			parts[i] %= total + 1
		}
		total -= parts[i]
	}
	parts[n-1] = total
	return parts
}

// total draws a total below 2^bits.
func (s *setup) total(r stream) uint64 {
	return binary.LittleEndian.Uint64(r.bytes(8)) >> (64 - s.bits)
}

// rejects tells whether verify refuses raw with one byte of its end changed.
// The last byte belongs to the proof's last scalar, so what is left decodes.
func rejects(raw []byte, verify func(raw []byte) error) error {
	bad := append([]byte(nil), raw...)
	bad[len(bad)-1] ^= 1
	err := verify(bad)
	if err == nil {
		return errors.New("a tampered proof was accepted")
	}
	if !errors.Is(err, zkbench.ErrProof) && !errors.Is(err, zkbench.ErrMalformed) {
		return fmt.Errorf("a tampered proof was rejected for another reason: %w", err)
	}
	return nil
}

// constantTimeCurves are the curves whose sums have a constant-time form
// (SECURITY.md).
func constantTimeCurves() []string { return studyCurves[:] }
