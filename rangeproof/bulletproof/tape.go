package bulletproof

import (
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/transcript"
)

// challenges holds all that the verifier sends.
type challenges[S any] struct {
	y, z, x, cU S
	rounds      []S // x_j, from the round that halves N
}

// tape fixes the order of absorbing and challenging. Prover and verifier only go through its
// methods, so they cannot disagree on the order.
type tape[S, P any] struct {
	g   group.Group[S, P]
	t   *transcript.Transcript
	buf []byte
}

func (p *Protocol[S, P]) newTape(t *transcript.Transcript, m int) *tape[S, P] {
	size := max(m*p.g.PointLen(), p.cfg.dims(m).last*p.g.ScalarLen(), group.WideLen)
	return &tape[S, P]{g: p.g, t: t, buf: make([]byte, 0, size)}
}

func (tp *tape[S, P]) statement(V []P) {
	tp.t.AppendUint64("m", uint64(len(V)))
	tp.points("V", V)
}

// afterBits absorbs A, S and draws y, z.
func (tp *tape[S, P]) afterBits(AS []P, c *challenges[S]) error {
	tp.points("A", AS[0:1])
	tp.points("S", AS[1:2])
	if err := tp.challenge("y", &c.y); err != nil {
		return err
	}
	return tp.challenge("z", &c.z)
}

// afterPolynomial absorbs T1, T2 and draws x.
func (tp *tape[S, P]) afterPolynomial(T []P, c *challenges[S]) error {
	tp.points("T1", T[0:1])
	tp.points("T2", T[1:2])
	return tp.challenge("x", &c.x)
}

// afterEvaluation absorbs taux, mu, tHat and draws cU.
func (tp *tape[S, P]) afterEvaluation(s []S, c *challenges[S]) error {
	tp.scalars("taux", s[0:1])
	tp.scalars("mu", s[1:2])
	tp.scalars("tHat", s[2:3])
	return tp.challenge("U", &c.cU)
}

// afterRound absorbs L_j, R_j and draws x_j.
func (tp *tape[S, P]) afterRound(LR []P, x *S) error {
	tp.points("L", LR[0:1])
	tp.points("R", LR[1:2])
	return tp.challenge("x_j", x)
}

// final absorbs the vectors a, b. This protocol draws no further challenge, but the caller's
// weights and joins depend on them.
func (tp *tape[S, P]) final(ab []S) {
	tp.scalars("a", ab[:len(ab)/2])
	tp.scalars("b", ab[len(ab)/2:])
}

func (tp *tape[S, P]) points(label string, p []P) {
	tp.buf = tp.g.AppendPoints(tp.buf[:0], p...)
	tp.t.Append(label, tp.buf)
}

func (tp *tape[S, P]) scalars(label string, s []S) {
	tp.buf = tp.g.AppendScalars(tp.buf[:0], s...)
	tp.t.Append(label, tp.buf)
}

// challenge draws a scalar and refuses zero. y and the x_j are divisors. With x = 0 the answers
// would reveal l(0), r(0). With z = 0 or cU = 0 the equations would lose terms.
func (tp *tape[S, P]) challenge(label string, dst *S) error {
	wide := tp.t.Challenge(label)
	tp.buf = append(tp.buf[:0], wide[:]...)
	*dst = tp.g.ScalarFromWide(tp.buf)
	if tp.g.IsZero(dst) {
		return fmt.Errorf("%w: bulletproof: challenge %s is zero", zkbench.ErrProof, label)
	}
	return nil
}
