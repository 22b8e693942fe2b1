package token

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/transcript"
)

type (
	point  = bn254.G1Affine
	scalar = fr.Element
)

// textbook is a slow verifier: it checks the equations of docs/token.md one by one, by
// double-and-add, without weights in the type-and-sum proof. The range proofs'
// equations, whose own packages have textbook verifiers, are summed term by
// term.
func textbook(p *bnParams, st *Statement, proof []byte) bool {
	decoded, err := p.Decode(st, Field{Bytes: proof})
	if err != nil {
		return false
	}
	c := decoded.(*claim[scalar, point])
	g := p.g
	mul := func(p *point, s *scalar) (z point) { g.MulPoint(&z, p, s); return z }
	add := func(a, b point) (z point) { g.AddPoints(&z, &a, &b); return z }
	sub := func(a, b point) (z point) { g.SubPoints(&z, &a, &b); return z }
	G, H, T := &p.basis.Points[p.value], &p.basis.Points[p.blinding], &p.basis.Points[p.typ]

	t := transcript.New("token")
	t.Append("group", []byte("BN254"))
	digest := p.Digest()
	t.Append("params", digest[:])
	t.Append("kind", []byte{byte(kindOf(len(st.Inputs)))})
	t.AppendUint64("inputs", uint64(len(st.Inputs)))
	t.AppendUint64("outputs", uint64(len(st.Outputs)))
	t.Append("context", st.Anchor)
	t.Append("action", st.Action)
	for _, f := range st.Inputs {
		t.Append("input", f.Bytes)
	}
	for _, f := range st.Outputs {
		t.Append("output", f.Bytes)
	}
	C, z := c.points[0], c.scalars
	np, ns := typeSumShape(kindOf(len(st.Inputs)))
	t.Append("type commitment", g.AppendPoints(nil, C))
	wide := t.Challenge("rho")
	rho := g.ScalarFromWide(wide[:])
	for i, label := range []string{"A type", "A inputs", "A sum"}[:np-1] {
		t.Append(label, g.AppendPoints(nil, c.points[i+1]))
	}
	wide = t.Challenge("c")
	ch := g.ScalarFromWide(wide[:])
	t.Append("responses", g.AppendScalars(nil, z[:ns]...))

	holds := func(response, first, statement point) bool {
		right := add(first, mul(&statement, &ch))
		return g.EqualPoints(&response, &right)
	}
	ok := holds(add(mul(T, &z[0]), mul(H, &z[1])), c.points[1], C)
	if kindOf(len(st.Inputs)) == Transfer {
		var inputs, sum point
		power := g.ScalarFromUint64(1)
		for _, in := range c.inputs {
			d := sub(in, C)
			inputs = add(inputs, mul(&d, &power))
			sum = add(sum, d)
			power.Mul(&power, &rho)
		}
		for _, out := range c.outputs {
			sum = sub(sum, sub(out, C))
		}
		ok = ok && holds(add(mul(G, &z[2]), mul(H, &z[3])), c.points[2], inputs)
		ok = ok && holds(mul(H, &z[4]), c.points[3], sum)
	}
	for i := range c.l.ranges {
		at := &c.l.ranges[i]
		var V []point
		for _, out := range c.outputs[at.first:at.last] {
			V = append(V, sub(out, C))
		}
		fork := t.Fork("range", uint32(i))
		eq, err := p.rp.Replay(&fork, V, cut(at, c.points, c.scalars))
		if err != nil {
			return false
		}
		acc := group.NewAccumulator(p.basis, 0)
		eq.Accumulate(acc, group.NewWeights(g, transcript.XOF("test weights", proof)))
		var total point
		for k := range acc.Fixed {
			total = add(total, mul(&p.basis.Points[k], &acc.Fixed[k]))
		}
		for k := range acc.Points {
			total = add(total, mul(&acc.Points[k], &acc.Scalars[k]))
		}
		ok = ok && total.IsInfinity()
	}
	return ok
}

// TestTextbook: the fast verifier and the slow one agree on good and bad proofs
// (the short form changes every 99th byte, the others every eleventh).
func TestTextbook(t *testing.T) {
	for _, proofType := range ProofTypes() {
		p := newBN(t, Config{Bits: 4, ProofType: proofType})
		for name, e := range map[string]*example{
			"transfer": newExample(t, p, "textbook", []uint64{9, 4}, []uint64{1, 10, 2}),
			"1 to 1":   newExample(t, p, "textbook 1", []uint64{9}, []uint64{9}),
			"issue":    newExample(t, p, "textbook 2", nil, []uint64{3, 15}),
			"wrong":    newExample(t, p, "textbook 3", []uint64{9, 4}, []uint64{1, 11, 2}),
		} {
			proof := must.Get(p.prove(context.Background(), executor.Serial(), &e.st, &e.w))(t)
			golden.Equal(t, fmt.Sprintf("proof=%s %s: the textbook accepts", proofType, name), name != "wrong", textbook(p, &e.st, proof))
			for i := 0; i < len(proof); i += testsize.Pick(99, 11, 11) {
				bad := append([]byte(nil), proof...)
				bad[i] ^= 1 << (i % 8)
				if fast, slow := check(p, &e.st, bad) == nil, textbook(p, &e.st, bad); fast || slow {
					t.Errorf("proof=%s %s, byte %d changed: fast %v, slow %v", proofType, name, i, fast, slow)
				}
			}
		}
	}
}

// TestExtractor recovers the witness of a type-and-sum proof from transcripts
// that share their first messages: two challenges c give the representations,
// and as many ρ as there are inputs give each input's opening.
func TestExtractor(t *testing.T) {
	p := newBN(t, Config{Bits: 8})
	g := p.g
	e := newExample(t, p, "extract", []uint64{30, 20, 5}, []uint64{55})
	var w typeSumWitness[scalar]
	w.inputs = must.Get(p.open(e.w.Inputs))(t)
	w.outputs = must.Get(p.open(e.w.Outputs))(t)
	w.t, w.r = w.outputs[0].t, g.ScalarFromUint64(424242)
	const n = 3
	transcriptOf := func(rho, c uint64, k []scalar) []scalar {
		ts := typeSum[scalar, point]{points: make([]point, 4), scalars: make([]scalar, 5), rho: g.ScalarFromUint64(rho), c: g.ScalarFromUint64(c)}
		ts.respond(g, &w, k)
		return ts.scalars
	}
	// sums[ρ] = (Σ ρ^i·v_i, Σ ρ^i·(r_i - r)), and the rest does not depend on ρ.
	var sums [n][5]scalar
	for i := range sums {
		rho := uint64(i + 2)
		k := make([]scalar, 5)
		group.RandomScalars(g, k, transcript.XOF("nonces", []byte{byte(i)}))
		z1, z2 := transcriptOf(rho, 10, k), transcriptOf(rho, 17, k)
		diff := g.ScalarFromUint64(7)
		for j := range sums[i] {
			sums[i][j].Sub(&z2[j], &z1[j])
			sums[i][j].Div(&sums[i][j], &diff)
		}
	}
	if sums[0][0] != w.t || sums[0][1] != w.r {
		t.Error("type or its blinding not recovered")
	}
	// Solve the Vandermonde system by Lagrange interpolation in ρ.
	var value, blinding [n]scalar
	for i := range n {
		basis := []scalar{fr.One()}
		for m := range n {
			if m == i {
				continue
			}
			// basis *= (X - ρ_m)/(ρ_i - ρ_m)
			var inv scalar
			rm, ri := g.ScalarFromUint64(uint64(m+2)), g.ScalarFromUint64(uint64(i+2))
			inv.Sub(&ri, &rm).Inverse(&inv)
			next := make([]scalar, len(basis)+1)
			for d := range basis {
				var x scalar
				x.Mul(&basis[d], &inv)
				next[d+1].Add(&next[d+1], &x)
				x.Mul(&x, &rm)
				next[d].Sub(&next[d], &x)
			}
			basis = next
		}
		for d := range n {
			var x scalar
			value[d].Add(&value[d], x.Mul(&basis[d], &sums[i][2]))
			blinding[d].Add(&blinding[d], x.Mul(&basis[d], &sums[i][3]))
		}
	}
	for i := range n {
		var r scalar
		r.Sub(&w.inputs[i].r, &w.r)
		if value[i] != w.inputs[i].v || blinding[i] != r {
			t.Errorf("input %d: opening not recovered", i)
		}
	}
}

// TestNoGuess tries to confirm guesses of type and values from what is public:
// every published point, and every difference of two, minus a guess's part
// without blinding. It finds outputs that share a blinding, and points that lack
// one, in the examples made wrong on purpose.
func TestNoGuess(t *testing.T) {
	p := newBN(t, Config{Bits: 8})
	g := p.g
	G, T := p.basis.Points[p.value], p.basis.Points[p.typ]
	confirmed := func(e *example, proof []byte) bool {
		c := must.Get(p.Decode(&e.st, Field{Bytes: proof}))(t).(*claim[scalar, point])
		public := append(append(append([]point{{}}, c.inputs...), c.outputs...), c.points...)
		for _, a := range append([]scalar{{}}, p.typeScalar("USD"), p.typeScalar("EUR")) {
			var typ point
			g.MulPoint(&typ, &T, &a)
			for i := range public {
				for j := range public {
					if i == j {
						continue
					}
					var d point
					g.SubPoints(&d, &public[i], &public[j])
					g.SubPoints(&d, &d, &typ)
					for range 64 {
						if d.IsInfinity() {
							return true
						}
						g.SubPoints(&d, &d, &G)
					}
				}
			}
		}
		return false
	}
	e := newExample(t, p, "guess", []uint64{40, 2}, []uint64{30, 12})
	if confirmed(e, e.prove(t, p)) {
		t.Error("a guess was confirmed")
	}
	// Outputs that share a blinding differ by 18·G.
	shared := newExample(t, p, "shared", []uint64{40, 2}, []uint64{30, 12})
	shared.w.Outputs[1].Blinding = shared.w.Outputs[0].Blinding
	commitments := must.Get(p.Commit(context.Background(), executor.Serial(), shared.w.Outputs))(t)
	shared.st.Outputs[1].Bytes = commitments[1]
	if !confirmed(shared, shared.prove(t, p)) {
		t.Error("the test misses a shared blinding")
	}
}

// TestBlindings: no two blindings of an action are equal, and each depends on
// seed, kind, witness and context.
func TestBlindings(t *testing.T) {
	p := newBN(t, Config{Bits: 8})
	seen := make(map[string]string)
	for name, blindings := range map[string][][]byte{
		"base":    p.deriveBlindings([32]byte{}, Transfer, []byte("w"), []byte("c"), 3),
		"seed":    p.deriveBlindings([32]byte{1}, Transfer, []byte("w"), []byte("c"), 3),
		"kind":    p.deriveBlindings([32]byte{}, Issue, []byte("w"), []byte("c"), 3),
		"witness": p.deriveBlindings([32]byte{}, Transfer, []byte("x"), []byte("c"), 3),
		"context": p.deriveBlindings([32]byte{}, Transfer, []byte("w"), []byte("d"), 3),
		"moved":   p.deriveBlindings([32]byte{}, Transfer, []byte("wc"), nil, 3),
	} {
		for i, b := range blindings {
			if other, dup := seen[string(b)]; dup {
				t.Errorf("%s[%d] equals %s", name, i, other)
			}
			seen[string(b)] = fmt.Sprintf("%s[%d]", name, i)
		}
	}
}

// TestSizes holds the sizes of proofs.
func TestSizes(t *testing.T) {
	var out strings.Builder
	out.WriteString("curve,bits,proof,kind,in,out,bytes\n")
	for _, curve := range []string{"BN254", "BLS12_381_BBS_GURVY"} {
		for _, bits := range []int{8, 32, 64} {
			for _, proofType := range ProofTypes() {
				pp := newTunedParams(t, Config{Curve: curve, Bits: bits, ProofType: proofType}, Tuning{Table: group.TableOptions{Window: 2, Spacing: 120}})
				for _, n := range [][2]int{{0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}, {3, 3}} {
					fmt.Fprintf(&out, "%s,%d,%s,%s,%d,%d,%d\n", curve, bits, proofType, kindOf(n[0]), n[0], n[1], pp.ProofLen(n[0], n[1]))
				}
			}
		}
	}
	golden.Check(t, "token/proof_sizes.csv", out.String())
}
