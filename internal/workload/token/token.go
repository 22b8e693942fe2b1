// Package token defines the workloads with confidential tokens. Their names, axes and
// default matrix are those of the public study of Panurus' zkatdlog driver
// (docs/measure.md), so that figures can be compared with it.
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

// Defs returns all workloads of the package: first those that prove and verify transfers
// and issues, then those that validate requests and apply them to a ledger, and then those
// with services and wallets.
func Defs() []workload.Def {
	return []workload.Def{
		TransferProofGeneration(), Sender(), SenderConstantTime(), VerificationSenderProof(), VerificationSenderBatch(),
		Issuer(), ProofVerificationIssuer(), ValidatorTransfer(), ValidatorBatch(), Reject(), LedgerApply(), HeadSign(), Land(), ServeTransfer(),
		IssueServiceIssue(), TransferServiceTransfer(), TransferServiceRedeem(), AuditorServiceCheck(), WalletFollowChecked(), LogFollow(),
	}
}

// curveAxis returns the axis of these curves, which accepts all their names.
func curveAxis(curves, def []string) workload.Axis {
	return workload.CurveAxis(curves, def).Aliased(token.Curve, token.AcceptedCurves(curves...))
}

// transferAxes returns the axes of transfers. Issues have the same axes except inputs.
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

// define returns a workload. instance makes the Instance of a case from its set-up.
func define(name, noun, doc string, kind token.Kind, instance func(*setup) workload.Instance, more ...workload.Axis) workload.Def {
	axes := transferAxes()
	if kind == token.Issue {
		axes = issueAxes()
	}
	return workload.Def{
		Name: name, Noun: noun, Doc: doc, Axes: append(axes, more...), Memory: estimate,
		New: func(ctx context.Context, c workload.Case, seed uint64) (workload.Instance, error) {
			s, err := newSetup(ctx, c, token.Tuning{}, kind, seed)
			if err != nil {
				return nil, err
			}
			return instance(s), nil
		},
	}
}

// The maximum memory in bytes, as measured.
const (
	systemBytes    = 64 << 20 // for a token system: tables, vaults and all else that does not grow
	inputBytes     = 4 << 10  // per token that an input spends or makes
	operationBytes = 12 << 10 // per token that an operation proves or verifies
)

// estimate returns the memory of a case, which grows with the number of tokens in a batch.
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

// setup holds what the instances of one case share.
type setup struct {
	pp      token.CryptoParams
	ex      executor.Executor
	kind    token.Kind
	in, out int
	batch   int // actions verified together; 0 if the case does not have that axis
	bits    int
	seed    uint64

	proofType, owners string
}

// newSetup sets up a case.
func newSetup(ctx context.Context, c workload.Case, tuning token.Tuning, kind token.Kind, seed uint64) (*setup, error) {
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
	if s.ex, err = workload.Executor(ctx, c.Get("exec")); err != nil {
		return nil, err
	}
	if s.pp, err = token.NewCryptoParams(token.Config{Curve: c.Get("curve"), Bits: s.bits, ProofType: c.Get("proof")}, tuning); err != nil {
		return nil, err
	}
	s.proofType = s.pp.Config().ProofType
	return s, nil
}

// Metrics returns the exact sizes of the case.
func (s *setup) Metrics(context.Context) ([]record.Metric, error) {
	return []record.Metric{
		record.ProofSize.Metric(float64(s.pp.ProofLen(s.in, s.out))), record.TableSize.Metric(float64(s.pp.TableBytes())),
	}, nil
}

// withSize returns the exact sizes of the case, and the length of raw as quantity q.
func (s *setup) withSize(ctx context.Context, q record.Quantity, raw []byte) ([]record.Metric, error) {
	sizes, err := s.Metrics(ctx)
	return append(sizes, q.Metric(float64(len(raw)))), err
}

func (s *setup) Close() error { return nil }

// corpus returns the stream from which a part of the input with sequence number seq is
// drawn. It is for measuring only: anyone who knows the seed knows every secret.
func (s *setup) corpus(part string, seq uint64) stream {
	b := binary.LittleEndian.AppendUint64(nil, s.seed)
	return stream{transcript.XOF("zkbench/v1/corpus", []byte(part), b, binary.LittleEndian.AppendUint64(nil, seq))}
}

// stream is a source of pseudorandom bytes without end.
type stream struct{ *sha3.SHAKE }

// bytes draws n bytes.
func (s stream) bytes(n int) []byte {
	b := make([]byte, n)
	_, _ = s.Read(b) // never fails
	return b
}

// anchorOf returns the anchor (transaction id) for a sequence number.
func anchorOf(seq uint64) string { return fmt.Sprintf("anchor %d", seq) }

// tokenType is the type of all tokens of the corpus.
const tokenType = "USD"

// outputs returns outputs with the given values. Their owners are random bytes, as many as
// a serialized identity has.
func outputs(r stream, values []uint64) []action.Output {
	out := make([]action.Output, len(values))
	for i, v := range values {
		out[i] = action.Output{Owner: r.bytes(64), Value: v}
	}
	return out
}

// split divides a total into n random parts.
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

// rejects returns an error if verify does not reject raw with its last byte changed.
// That byte belongs to the proof's last scalar, so that the changed proof still decodes.
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

// constantTimeCurves returns the curves for which sums can be computed in constant time
// (SECURITY.md).
func constantTimeCurves() []string { return studyCurves[:] }
