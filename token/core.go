package token

import (
	"context"
	"crypto/rand"
	"crypto/sha3"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/rangeproof"
	"github.com/zkbench/zkbench/rangeproof/bulletproof"
	"github.com/zkbench/zkbench/rangeproof/csp"
	"github.com/zkbench/zkbench/transcript"
)

// typeFamily names the generator G_T of token types.
const typeFamily = "type"

// params implements CryptoParams over one group.
type params[S, P any] struct {
	cfg    Config
	g      group.Group[S, P]
	basis  *group.Basis[S, P] // for sums of secrets
	public *group.Basis[S, P] // the same generators, for sums of public scalars
	rp     rangeproof.Protocol[S, P]
	digest [transcript.StateLen]byte
	rand   io.Reader

	value, blinding, typ int // positions in the basis
}

func (*params[S, P]) sealed() {}

func newParams[S, P any](g group.Group[S, P], cfg Config, tuning Tuning) (CryptoParams, error) {
	if cfg.ProofType != CSP && cfg.Stop == 0 {
		cfg.Stop = bulletproof.DefaultStop
	}
	basis, err := group.NewBasis(g, cfg.families(), tuning.Table)
	if err != nil {
		return nil, err
	}
	public := basis
	if tuning.ConstantTime {
		basis = basis.ConstantTime()
		// A group without constant-time sums reports it here, not at the first proof.
		if err := basis.Table.MSM(context.Background(), executor.Serial(), make([]P, 1), make([][]S, 1)); err != nil {
			return nil, err
		}
	}
	p := &params[S, P]{
		cfg: cfg, g: g, basis: basis, public: public,
		value:    basis.Offset(rangeproof.ValueFamily),
		blinding: basis.Offset(rangeproof.BlindingFamily),
		typ:      basis.Offset(typeFamily),
	}
	if cfg.ProofType == CSP {
		var c *csp.Protocol[S, P]
		if c, err = csp.New(basis, csp.Config{Bits: cfg.Bits, Stop: cfg.Stop}); err == nil {
			p.rp, p.cfg.Stop = c, c.Stop()
		}
	} else {
		p.rp, err = bulletproof.New(basis, bulletproof.Config{Bits: cfg.Bits, MaxCommitments: max(1, cfg.Aggregation), Stop: cfg.Stop})
	}
	if err != nil {
		return nil, err
	}
	p.rand = rand.Reader
	if cfg.Curve == fastRNG {
		p.rand = group.NewDRBG()
	}
	p.digest = paramsDigest(basis, cfg.Bits, p.rp)
	return p, nil
}

// families lists the generators of commitments and proofs.
func (c Config) families() []group.Family {
	key := append(rangeproof.KeyFamilies(), group.Family{Name: typeFamily, Count: 1})
	if c.ProofType == CSP {
		return append(key, csp.Families(c.Bits)...)
	}
	return append(key, bulletproof.Families(c.Bits, max(1, c.Aggregation), c.Stop)...)
}

// paramsDigest commits to everything that proofs depend on.
func paramsDigest[S, P any](basis *group.Basis[S, P], bits int, rp rangeproof.Protocol[S, P]) [transcript.StateLen]byte {
	t := transcript.New("params")
	t.Append("group", []byte(basis.Group.Domain()))
	t.AppendUint64("bits", uint64(bits))
	rp.AppendParams(&t)
	for _, f := range basis.Families() {
		t.AppendUint64(f.Name, uint64(f.Count))
	}
	t.Append("generators", basis.Group.AppendPoints(nil, basis.Points...))
	return t.State()
}

func (p *params[S, P]) Config() Config                    { return p.cfg }
func (p *params[S, P]) Digest() [transcript.StateLen]byte { return p.digest }
func (p *params[S, P]) PointLen() int                     { return p.g.PointLen() }
func (p *params[S, P]) TableBytes() int                   { return p.basis.Table.Bytes() }
func (p *params[S, P]) Rand() io.Reader                   { return p.rand }

// typeScalar hashes a token type to a scalar.
func (p *params[S, P]) typeScalar(typ string) S {
	t := transcript.New("type")
	t.Append("type", []byte(typ))
	c := t.Challenge("scalar")
	return p.g.ScalarFromWide(c[:])
}

// opening is a decoded Opening: its coordinates on (G_T, G, H).
type opening[S any] struct{ t, v, r S }

// open decodes openings.
func (p *params[S, P]) open(openings []Opening) ([]opening[S], error) {
	out := make([]opening[S], len(openings))
	var one [1]S
	for i, o := range openings {
		if err := checkType(o.Type); err != nil {
			return nil, fmt.Errorf("opening %d: %w", i, err)
		}
		if err := p.g.DecodeScalars(one[:], o.Blinding); err != nil {
			return nil, fmt.Errorf("opening %d: blinding: %w", i, err)
		}
		if i > 0 && o.Type == openings[i-1].Type {
			out[i].t = out[i-1].t
		} else {
			out[i].t = p.typeScalar(o.Type)
		}
		out[i].v, out[i].r = p.g.ScalarFromUint64(o.Value), one[0]
	}
	return out, nil
}

// place writes an opening's coordinates into a scalar vector over the first three generators.
func (p *params[S, P]) place(dst []S, o *opening[S]) {
	dst[p.typ], dst[p.value], dst[p.blinding] = o.t, o.v, o.r
}

func (p *params[S, P]) Commit(ctx context.Context, ex executor.Executor, openings []Opening) ([][]byte, error) {
	opened, err := p.open(openings)
	if err != nil {
		return nil, err
	}
	rows := rowsOf[S](len(opened), 3)
	for i := range opened {
		p.place(rows[i], &opened[i])
	}
	points := make([]P, len(opened))
	if err := p.basis.Table.MSM(ctx, ex, points, rows); err != nil {
		return nil, err
	}
	flat := p.g.AppendPoints(make([]byte, 0, len(points)*p.g.PointLen()), points...)
	return chunks(flat, p.g.PointLen()), nil
}

func (p *params[S, P]) Blind(w *witness, anchor []byte) error {
	if err := p.checkWitness(w, anchor); err != nil {
		return err
	}
	encoded, err := encodeWitness(w)
	if err != nil {
		return err
	}
	for j, b := range p.deriveBlindings(w.Seed, kindOf(len(w.Inputs)), encoded, anchor, len(w.Outputs)) {
		w.Outputs[j].Blinding = b
	}
	return nil
}

// deriveBlindings returns the blindings of n outputs.
func (p *params[S, P]) deriveBlindings(seed [transcript.SeedLen]byte, kind Kind, witness, anchor []byte, n int) [][]byte {
	scalars := make([]S, n)
	for i := range scalars {
		index := binary.LittleEndian.AppendUint32(nil, uint32(i))
		group.RandomScalars(p.g, scalars[i:i+1], openStream(seed, kind, witness, anchor, index))
	}
	return chunks(p.g.AppendScalars(make([]byte, 0, n*p.g.ScalarLen()), scalars...), p.g.ScalarLen())
}

// openStream returns the stream from which a blinding is drawn: the blinding of the output with this index, or
// of the type commitment if the index is "type".
func openStream(seed [transcript.SeedLen]byte, kind Kind, witness, anchor, index []byte) *sha3.SHAKE {
	return transcript.XOF("zkbench/v1/open", seed[:], []byte{byte(kind)}, witness, anchor, index)
}

// rowsOf returns n zero vectors of length m.
func rowsOf[S any](n, m int) [][]S {
	flat, rows := make([]S, n*m), make([][]S, n)
	for i := range rows {
		rows[i] = flat[i*m : (i+1)*m : (i+1)*m]
	}
	return rows
}

// chunks cuts b into pieces of n bytes.
func chunks(b []byte, n int) [][]byte {
	out := make([][]byte, 0, len(b)/n)
	for ; len(b) > 0; b = b[n:] {
		out = append(out, b[:n:n])
	}
	return out
}
