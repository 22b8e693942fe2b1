package rangeproof

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/transcript"
)

// System is a range-proof system for use on its own. All its methods take and return bytes, so it
// hides the protocol and the group. A prover and a verifier may use different Systems, if these
// have equal parameters. A System is immutable and safe for concurrent use. NewSystem makes one of any
// Protocol. Other packages cannot implement System.
type System interface {
	isSystem()

	Name() string // of the protocol
	Bits() int
	MaxCommitments() int
	PointLen() int      // bytes of a commitment
	ProofLen(m int) int // bytes of a proof for m commitments

	// RandomBlinding returns 32 bytes that encode a scalar within 2^-256 of uniform, derived from
	// 64 bytes of rand. If rand is nil, it uses the system's source. Keep the blinding secret: it
	// opens the commitment.
	RandomBlinding(rand io.Reader) ([]byte, error)
	// Prove commits to values, each with its blinding, and proves their range. The proof holds only
	// for this message, which may be empty. Prove draws 32 bytes from rand, or from the system's
	// source if rand is nil.
	Prove(ctx context.Context, ex executor.Executor, message []byte, values []uint64, blindings [][]byte, rand io.Reader) (commitments, proof []byte, err error)
	// Decode decodes m commitments of PointLen bytes each and their proof for message. It returns
	// ErrParams if m is not from 1 to MaxCommitments; all other errors are of type
	// *zkbench.DecodeError. It refuses the identity as a commitment, that is to 0 with blinding 0,
	// because it hides nothing. The claim does not alias the slices, so the caller may reuse its
	// buffers.
	Decode(message []byte, m int, commitments, proof []byte) (Claim, error)
	// Verify verifies claims of this system in one multi-scalar multiplication. For each claim that
	// does not hold, the error joins a *zkbench.CheckError that names it. Verify returns ErrParams
	// if there are no claims, so that nil always means that something was proved.
	Verify(ctx context.Context, ex executor.Executor, claims ...Claim) error
}

// Claim is a decoded statement with its proof. System.Decode makes one. Other packages cannot implement
// Claim.
type Claim interface{ isClaim() }

// NewSystem returns a protocol as a System. b must be the protocol's basis.
func NewSystem[S, P any](b *group.Basis[S, P], p Protocol[S, P]) System {
	s := &system[S, P]{Protocol: p, basis: b, g: b.Group, value: b.Offset(ValueFamily), blinding: b.Offset(BlindingFamily)}
	t := transcript.New("rangeproof/params")
	t.Append("group", []byte(b.Group.Domain()))
	p.AppendParams(&t)
	t.Append("generators", b.Group.AppendPoints(nil, b.Points...))
	s.digest = t.State()
	return s
}

type system[S, P any] struct {
	Protocol[S, P]
	basis           *group.Basis[S, P]
	g               group.Group[S, P]
	value, blinding int
	digest          [transcript.StateLen]byte
}

func (*system[S, P]) isSystem() {}

type claim[S, P any] struct {
	s       *system[S, P]
	message []byte
	V       []P
	proof   *Proof[S, P]
}

func (*claim[S, P]) isClaim() {}

func (s *system[S, P]) PointLen() int { return s.g.PointLen() }

func (s *system[S, P]) ProofLen(m int) int {
	shape := s.Shape(m)
	return shape.Points*s.g.PointLen() + shape.Scalars*s.g.ScalarLen()
}

func (s *system[S, P]) start(message []byte, m int) transcript.Transcript {
	t := transcript.New("rangeproof")
	t.Append("params", s.digest[:])
	t.AppendUint64("commitments", uint64(m))
	t.Append("context", message)
	return t
}

func (s *system[S, P]) checkCount(m int) error {
	switch most := s.MaxCommitments(); {
	case 1 <= m && m <= most:
		return nil
	case most == 1:
		return fmt.Errorf("%w: %d commitments, accepted is 1: %s proves one value at a time", zkbench.ErrParams, m, s.Name())
	default:
		return fmt.Errorf("%w: %d commitments, accepted are 1 to %d", zkbench.ErrParams, m, most)
	}
}

// fill reads b from random, or from the system's source if random is nil.
func fill(random io.Reader, b []byte) error {
	if random == nil {
		random = rand.Reader
	}
	_, err := io.ReadFull(random, b)
	return err
}

func (s *system[S, P]) RandomBlinding(random io.Reader) ([]byte, error) {
	var wide [group.WideLen]byte
	if err := fill(random, wide[:]); err != nil {
		return nil, fmt.Errorf("drawing a blinding: %w", err)
	}
	return s.g.AppendScalars(nil, s.g.ScalarFromWide(wide[:])), nil
}

func (s *system[S, P]) Prove(ctx context.Context, ex executor.Executor, message []byte, values []uint64, blindings [][]byte, random io.Reader) (commitments, proof []byte, err error) {
	m := len(values)
	if err := s.checkCount(m); err != nil {
		return nil, nil, err
	}
	if len(blindings) != m {
		return nil, nil, fmt.Errorf("%w: %d blindings for %d values", zkbench.ErrParams, len(blindings), m)
	}
	w := Witness[S]{Values: values, Blindings: make([]S, m)}
	rows := make([][]S, m)
	for j := range m {
		if err := s.g.DecodeScalars(w.Blindings[j:j+1], blindings[j]); err != nil {
			return nil, nil, within(err, fmt.Sprintf("blindings[%d]", j), 0)
		}
		rows[j] = make([]S, max(s.value, s.blinding)+1)
		rows[j][s.value], rows[j][s.blinding] = s.g.ScalarFromUint64(values[j]), w.Blindings[j]
	}
	V := make([]P, m)
	if err := s.basis.Table.MSM(ctx, ex, V, rows); err != nil {
		return nil, nil, err
	}
	nonces := transcript.Nonces{Protocol: s.Name(), Label: "range"}
	if err := fill(random, nonces.Seed[:]); err != nil {
		return nil, nil, fmt.Errorf("drawing the proof's seed: %w", err)
	}
	t := s.start(message, m)
	p, err := s.Protocol.Prove(ctx, ex, &t, V, w, nonces)
	if err != nil {
		return nil, nil, err
	}
	return s.g.AppendPoints(nil, V...), AppendProof(s.g, nil, p), nil
}

func (s *system[S, P]) Decode(message []byte, m int, commitments, proof []byte) (Claim, error) {
	if err := s.checkCount(m); err != nil {
		return nil, err
	}
	c := &claim[S, P]{s: s, message: bytes.Clone(message), V: make([]P, m)}
	if err := s.g.DecodePoints(c.V, commitments, group.Subgroup); err != nil {
		return nil, within(err, "commitments", 0)
	}
	var err error
	if c.proof, err = DecodeProof(s.g, s.Shape(m), proof); err != nil {
		return nil, err
	}
	return c, nil
}

func (s *system[S, P]) Verify(ctx context.Context, ex executor.Executor, claims ...Claim) error {
	items := make([]Replayed[S, P], len(claims))
	mine := make([]*claim[S, P], len(claims))
	for i := range claims {
		c, ok := claims[i].(*claim[S, P])
		if !ok || c.s != s {
			return fmt.Errorf("%w: claim %d was decoded by another system", zkbench.ErrParams, i)
		}
		mine[i] = c
	}
	err := executor.Ranges(ctx, ex, len(items), leastItems, func(ctx context.Context, lo, hi int) error {
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			c := mine[i]
			t := s.start(c.message, len(c.V))
			items[i].Equations, items[i].Err = s.Replay(&t, c.V, c.proof)
			items[i].State, items[i].Points = t.State(), len(c.V)+len(c.proof.Points)
		}
		return context.Cause(ctx)
	})
	if err != nil {
		return err
	}
	return VerifyBatch(ctx, ex, s.basis, "range proof", items)
}
