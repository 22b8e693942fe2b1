package csp

import (
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/transcript"
)

// Transcript labels, in their order; labelA, labelB, labelXi once per round.
const (
	labelV     = "csp/V"
	labelP     = "csp/P"
	labelM     = "csp/M"
	labelLink  = "csp/link" // challenge c'
	labelX     = "csp/x"    // challenge
	labelAx    = "csp/ax"
	labelTheta = "csp/theta" // challenge
	labelMu    = "csp/mu"
	labelC     = "csp/c" // challenge
	labelPhi   = "csp/phi"
	labelKappa = "csp/kappa" // challenge
	labelA     = "csp/A"
	labelB     = "csp/B"
	labelXi    = "csp/xi" // challenge
	labelZ     = "csp/z"
)

// challenges holds the verifier's messages, in the order of the transcript.
type challenges[S any] struct {
	link, x, theta, c, kappa S
	xi                       []S // one per round
}

// messages moves points and scalars between a transcript and the group. Its buffer keeps encodings
// off the heap; it is allocated once per proof.
type messages[S, P any] struct {
	g   group.Group[S, P]
	t   *transcript.Transcript
	buf []byte
}

// newMessages makes room for messages of at most scalars scalars.
func newMessages[S, P any](g group.Group[S, P], t *transcript.Transcript, scalars int) messages[S, P] {
	return messages[S, P]{g: g, t: t, buf: make([]byte, 0, max(transcript.StateLen, g.PointLen(), scalars*g.ScalarLen()))}
}

func (m *messages[S, P]) points(label string, p ...P) {
	m.buf = m.g.AppendPoints(m.buf[:0], p...)
	m.t.Append(label, m.buf)
}

func (m *messages[S, P]) scalars(label string, s ...S) {
	m.buf = m.g.AppendScalars(m.buf[:0], s...)
	m.t.Append(label, m.buf)
}

func (m *messages[S, P]) challenge(label string) S {
	wide := m.t.Challenge(label)
	m.buf = append(m.buf[:0], wide[:]...)
	return m.g.ScalarFromWide(m.buf)
}
