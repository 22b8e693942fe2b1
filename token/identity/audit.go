package identity

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/transcript"
)

const kindAudit = "audit"

// auditScalars is the number of scalars in an audit proof (c, zKey, zP, zE). The proof shows knowledge of (sk,
// r, e) with P = sk·G + r·H and E = sk·G + e·H. The verifier computes
//
//	A_P = zKey·G + zP·H - c·P,  A_E = zKey·G + zE·H - c·E
//
// and checks that c is the challenge for them. The proof does not contain A_P and A_E: without them, c hides
// everything from anyone who does not know E (docs/owners.md).
const auditScalars = 4

// startAudit opens the transcript of the statement.
func (s *scheme[S, P]) startAudit(point, commitment, bound []byte) transcript.Transcript {
	return s.start(kindAudit, slices.Concat(point, commitment), bound)
}

func (p *pseudonym[S, P]) AuditProof(certificate *Certificate, bound []byte, rand io.Reader) ([]byte, error) {
	h, s, g := p.h, p.h.s, p.h.s.g
	if !slices.Equal(certificate.Commitment, h.point) {
		return nil, fmt.Errorf("%w: the certificate is another holder's", zkbench.ErrParams)
	}
	seed, err := readSeed(rand)
	if err != nil {
		return nil, err
	}
	secret := []S{p.secret[0], p.secret[1], h.secret[1]} // sk, r, e
	t := s.startAudit(p.point, h.point, bound)
	nonces := transcript.Nonces{Protocol: protocol, Label: kindAudit, Seed: seed}
	k := make([]S, len(secret))
	group.RandomScalars(g, k, nonces.Stream(g.AppendScalars(nil, secret...), &t))
	first, err := s.sums([]S{k[0], k[1]}, []S{k[0], k[2]})
	if err != nil {
		return nil, err
	}
	c := s.challenge(&t, first)
	return g.AppendScalars(g.AppendScalars(nil, c), respond(g, k, secret, &c)...), nil
}

func (s *scheme[S, P]) CheckAudit(id Identity, certificate *Certificate, auditContext, proof []byte) error {
	g := s.g
	point, err := s.payload(id)
	if err != nil {
		return err
	}
	if n := len(certificate.Commitment); n != g.PointLen() {
		return &zkbench.DecodeError{Path: "certificate.commitment", Reason: fmt.Sprintf("%d bytes, want %d", n, g.PointLen())}
	}
	var points [2]P
	if err := g.DecodePoints(points[:], slices.Concat(point, certificate.Commitment), group.Subgroup); err != nil {
		return malformed("point", 1, "pseudonym or commitment is not the encoding of a point of the group")
	}
	scalars, ok := s.decodeScalars(auditScalars, proof)
	if !ok {
		return &zkbench.DecodeError{Path: "audit proof", Reason: fmt.Sprintf("not %d canonical scalars", auditScalars)}
	}
	c, zKey := scalars[0], scalars[1]
	ctx, ex := context.Background(), executor.Serial()
	var A [2]P
	if err := s.basis.Table.MSM(ctx, ex, A[:], [][]S{{zKey, scalars[2]}, {zKey, scalars[3]}}); err != nil {
		return err
	}
	for i := range A {
		cp, err := g.MSM(ctx, ex, points[i:i+1], []S{c})
		if err != nil {
			return err
		}
		g.SubPoints(&A[i], &A[i], &cp)
	}
	t := s.startAudit(point, certificate.Commitment, auditContext)
	want := s.challenge(&t, g.AppendPoints(nil, A[:]...))
	if !g.Equal(&c, &want) {
		return fmt.Errorf("%w: the proof does not show that the pseudonym is the certificate's", zkbench.ErrProof)
	}
	return nil
}
