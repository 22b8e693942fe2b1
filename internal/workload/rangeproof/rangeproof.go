// Package rangeproof defines the workloads for range proofs alone, without tokens. A range proof shows that
// committed values are in [0, 2^bits).
package rangeproof

import (
	"context"
	"fmt"
	"io"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/group/fp256bn"
	"github.com/zkbench/zkbench/group/kilic"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/rangeproof"
	"github.com/zkbench/zkbench/rangeproof/bulletproof"
	"github.com/zkbench/zkbench/rangeproof/csp"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/transcript"
)

// Defs returns all workloads of the package.
func Defs() []workload.Def { return []workload.Def{RangeProve(), RangeVerify(), RangeBatch()} }

// axes returns the axes that all workloads have.
func axes() []workload.Axis {
	return []workload.Axis{
		workload.CurveAxis(token.Curves(), token.Curves()[:1]).Aliased(token.Curve, token.AcceptedCurves(token.Curves()...)),
		workload.BitsAxis(), ValuesAxis(),
		workload.ProofAxis(token.ProofTypes()), workload.ExecutorAxis(executor.Names()),
	}
}

// ValuesAxis returns the axis for the number of values that one operation proves.
func ValuesAxis() workload.Axis {
	return workload.IntAxis(workload.Axis{Name: "values", Usage: "numbers of values (each has its own proof; " + token.BulletproofAgg + " makes one proof for all)", Smoke: "1"}, 1, bulletproof.MaxAggregate, 1)
}

// define returns a workload. instance makes the Instance of a case from its set-up.
func define(name, noun, doc string, instance func(*setup) workload.Instance, more ...workload.Axis) workload.Def {
	return workload.Def{
		Name: name, Noun: noun, Doc: doc, Axes: append(axes(), more...), Memory: estimate,
		New: func(ctx context.Context, c workload.Case, seed uint64) (workload.Instance, error) {
			s, err := newSetup(ctx, c, seed)
			if err != nil {
				return nil, err
			}
			return instance(s), nil
		},
	}
}

// setup holds what the instances of one case share.
type setup struct {
	system  rangeproof.System
	ex      executor.Executor
	rand    io.Reader // randomness of the prover; nil for the system's
	values  int
	covered int // values that one proof covers
	batch   int // statements verified together; 1 if the case does not have that axis
	seed    uint64
}

// sizes holds the numbers of a case.
type sizes struct {
	bits, values int
	batch        int // statements verified together; 1 if the case does not have that axis
	most         int // maximum number of values that one proof of the system covers
}

func sizesOf(c workload.Case) (n sizes, err error) {
	if n.bits, err = workload.BitsAxis().Int(c); err != nil {
		return n, err
	}
	if n.values, err = ValuesAxis().Int(c); err != nil {
		return n, err
	}
	n.batch, n.most = 1, 1
	if c.Get(workload.BatchAxis().Key) != "" {
		if n.batch, err = workload.BatchAxis().Int(c); err != nil {
			return n, err
		}
	}
	if c.Get("proof") == token.BulletproofAgg {
		n.most = max(2, n.values) // also with one value, so that the system is the same
	}
	return n, nil
}

func newSetup(ctx context.Context, c workload.Case, seed uint64) (*setup, error) {
	n, err := sizesOf(c)
	if err != nil {
		return nil, err
	}
	s := &setup{seed: seed, covered: 1, values: n.values, batch: n.batch}
	if s.ex, err = workload.Executor(ctx, c.Get("exec")); err != nil {
		return nil, err
	}
	proof := c.Get("proof")
	if _, err := workload.ProofAxis(token.ProofTypes()).Parse(proof); err != nil {
		return nil, err
	}
	if proof == token.BulletproofAgg {
		s.covered = s.values
	}
	if c.Get("curve") == fastRNG {
		s.rand = group.NewDRBG()
	}
	s.system, err = systemOf(c.Get("curve"), proof, n.bits, n.most)
	return s, err
}

// The maximum memory in bytes, as measured on the largest group.
const (
	generatorBytes = 192 << 10 // per generator: its multiples, and making them
	inputBytes     = 2 << 10   // per value in an input, with its proof if it has one
	verifyBytes    = 48 << 10  // per value whose proof is verified
)

// estimate returns the memory of a case. Most of it is for the generators' multiples.
func estimate(c workload.Case) (workload.Memory, error) {
	n, err := sizesOf(c)
	all := uint64(n.values) * uint64(n.batch)
	return workload.Memory{Base: (2*uint64(n.bits)*uint64(n.most) + 8) * generatorBytes, Input: all * inputBytes, Operation: all * verifyBytes}, err
}

// fastRNG is the curve whose name says that provers draw their randomness from a generator that the system seeds once.
const fastRNG = "BLS12_381_BBS_GURVY_FAST_RNG"

// systemOf returns the range-proof system over the curve with the given name.
func systemOf(curve, proof string, bits, most int) (rangeproof.System, error) {
	switch curve {
	case "BN254":
		return newSystem(group.BN254(), proof, bits, most)
	case "BLS12_381_BBS_GURVY", fastRNG:
		return newSystem(group.BLS12381(), proof, bits, most)
	case "BLS12_381_BBS":
		return newSystem(kilic.BLS12381(), proof, bits, most)
	case "FP256BN_AMCL":
		return newSystem(fp256bn.AMCL(), proof, bits, most)
	case "FP256BN_AMCL_MIRACL":
		return newSystem(fp256bn.Miracl(), proof, bits, most)
	}
	return nil, &argument.ValueError{Field: "curves", Value: curve, Accepted: token.AcceptedCurves(token.Curves()...)}
}

func newSystem[S, P any](g group.Group[S, P], proof string, bits, most int) (rangeproof.System, error) {
	if proof == token.CSP {
		return csp.NewSystem(g, bits)
	}
	return bulletproof.NewSystem(g, bits, most)
}

// statement holds values with their blindings, and the message that their proofs are bound to.
type statement struct {
	message   []byte
	values    []uint64
	blindings [][]byte
}

// stream returns the stream from which a part of the input with sequence number seq is drawn.
func (s *setup) stream(part string, seq uint64) io.Reader {
	return transcript.XOF("zkbench/v1/corpus/rangeproof", fmt.Appendf(nil, "%s %d %d", part, s.seed, seq))
}

// statement builds the statement with sequence number seq. Its values are those of the sequence number values.
func (s *setup) statement(seq, values uint64) (*statement, error) {
	st := &statement{message: fmt.Appendf(nil, "message %d", seq), values: make([]uint64, s.values), blindings: make([][]byte, s.values)}
	drawn, random := s.stream("values", values), s.stream("blindings", seq)
	for i := range st.values {
		var b [8]byte
		if _, err := io.ReadFull(drawn, b[:]); err != nil {
			return nil, err
		}
		for _, c := range b {
			st.values[i] = st.values[i]<<8 | uint64(c)
		}
		st.values[i] >>= 64 - s.system.Bits()
		var err error
		if st.blindings[i], err = s.system.RandomBlinding(random); err != nil {
			return nil, err
		}
	}
	return st, nil
}

// prove returns the proofs of a statement, one after the other, each after its commitments. rand returns the
// randomness for the proof with the given index.
func (s *setup) prove(ctx context.Context, st *statement, rand func(proof int) io.Reader) ([]byte, error) {
	proofs := s.values / s.covered
	size := s.proofLen()
	out := make([]byte, proofs*size)
	err := s.ex.Do(ctx, proofs, func(ctx context.Context, i int) error {
		from, to := i*s.covered, (i+1)*s.covered
		commitments, proof, err := s.system.Prove(ctx, s.ex, st.message, st.values[from:to], st.blindings[from:to], rand(i))
		if err != nil {
			return err
		}
		copy(out[i*size:], append(commitments, proof...))
		return nil
	})
	return out, err
}

// proofLen returns the length in bytes of a proof with its commitments.
func (s *setup) proofLen() int { return s.covered*s.system.PointLen() + s.system.ProofLen(s.covered) }

// decode decodes the proofs of a statement.
func (s *setup) decode(message, raw []byte) ([]rangeproof.Claim, error) {
	size, split := s.proofLen(), s.covered*s.system.PointLen()
	if len(raw) != s.values/s.covered*size {
		return nil, fmt.Errorf("%d bytes of proofs, want %d", len(raw), s.values/s.covered*size)
	}
	var claims []rangeproof.Claim
	for ; len(raw) > 0; raw = raw[size:] {
		claim, err := s.system.Decode(message, s.covered, raw[:split], raw[split:size])
		if err != nil {
			return nil, err
		}
		claims = append(claims, claim)
	}
	return claims, nil
}

// verify decodes the proofs of a statement and verifies them together.
func (s *setup) verify(ctx context.Context, message, raw []byte) error {
	claims, err := s.decode(message, raw)
	if err != nil {
		return err
	}
	return s.system.Verify(ctx, s.ex, claims...)
}

// Metrics reports the exact size of a statement's proofs, without the commitments.
func (s *setup) Metrics(context.Context) ([]record.Metric, error) {
	return []record.Metric{record.ProofSize.Metric(float64(s.values / s.covered * s.system.ProofLen(s.covered)))}, nil
}

func (s *setup) Close() error { return nil }
