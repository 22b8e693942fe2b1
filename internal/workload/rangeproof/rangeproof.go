// Package rangeproof defines the workloads of range proofs by themselves: proofs that committed values
// lie in [0, 2^bits), without the tokens around them.
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

// Defs returns the workloads.
func Defs() []workload.Def { return []workload.Def{RangeProve(), RangeVerify(), RangeBatch()} }

// axes are those of all three.
func axes() []workload.Axis {
	return []workload.Axis{
		workload.CurveAxis(token.Curves(), token.Curves()[:1]).Aliased(token.Curve, token.AcceptedCurves(token.Curves()...)),
		workload.BitsAxis(), ValuesAxis(),
		workload.ProofAxis(token.ProofTypes()), workload.ExecutorAxis(executor.Names()),
	}
}

// ValuesAxis is the number of values that are proved together.
func ValuesAxis() workload.Axis {
	return workload.IntAxis(workload.Axis{Name: "values", Usage: "numbers of values: a proof each, of " + token.BulletproofAgg + " one of them all", Smoke: "1"}, 1, bulletproof.MaxAggregate, 1)
}

// define makes a workload of instance's wrapping of a case's set-up.
func define(name, doc string, instance func(*setup) workload.Instance, more ...workload.Axis) workload.Def {
	return workload.Def{
		Name: name, Doc: doc, Axes: append(axes(), more...), Memory: estimate,
		New: func(_ context.Context, c workload.Case, seed uint64) (workload.Instance, error) {
			s, err := newSetup(c, seed)
			if err != nil {
				return nil, err
			}
			return instance(s), nil
		},
	}
}

// setup is what the instances of one case share.
type setup struct {
	system  rangeproof.System
	ex      executor.Executor
	rand    io.Reader // of the prover; nil: the system's
	values  int
	covered int // values that one proof covers
	batch   int // statements verified together, where the case has that axis
	seed    uint64
}

// sizes are the numbers of a case.
type sizes struct {
	bits, values int
	batch        int // statements verified together; 1 where the case has not that axis
	most         int // values that a proof of its system covers at most
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
		n.most = max(2, n.values) // one proof of one value is of the same system
	}
	return n, nil
}

func newSetup(c workload.Case, seed uint64) (*setup, error) {
	n, err := sizesOf(c)
	if err != nil {
		return nil, err
	}
	s := &setup{seed: seed, covered: 1, values: n.values, batch: n.batch}
	if s.ex, err = executor.ByName(c.Get("exec")); err != nil {
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

// Bytes of memory, at most, as measured on the largest of the groups.
const (
	generatorBytes = 192 << 10 // of a generator: its multiples, and what makes them
	inputBytes     = 2 << 10   // of a value that is proved, or was
	verifyBytes    = 48 << 10  // of a value whose proof is verified
)

// estimate is what a case takes: above all the generators' multiples.
func estimate(c workload.Case) (workload.Memory, error) {
	n, err := sizesOf(c)
	all := uint64(n.values) * uint64(n.batch)
	return workload.Memory{Base: (2*uint64(n.bits)*uint64(n.most) + 8) * generatorBytes, Input: all * inputBytes, Operation: all * verifyBytes}, err
}

// fastRNG is the curve whose name says that provers draw from a generator seeded by the system.
const fastRNG = "BLS12_381_BBS_GURVY_FAST_RNG"

// systemOf returns the range proof over the curve that the name stands for.
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

// statement is values with their blindings, and the message that their proofs are for.
type statement struct {
	message   []byte
	values    []uint64
	blindings [][]byte
}

// stream returns what a part of the input of a sequence number is drawn from.
func (s *setup) stream(part string, seq uint64) io.Reader {
	return transcript.XOF("zkbench/v1/corpus/rangeproof", fmt.Appendf(nil, "%s %d %d", part, s.seed, seq))
}

// statement builds the statement of a sequence number with the values of another.
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

// prove returns the commitments and proofs of a statement, one proof behind the other, each behind its
// commitments. rand is the randomness of the proof of that number.
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

// proofLen is the length in bytes of a proof with its commitments.
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
