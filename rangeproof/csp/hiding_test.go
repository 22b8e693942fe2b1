package csp

import (
	"fmt"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/rangeproof"
	"github.com/zkbench/zkbench/transcript"
)

// knownLogs returns a basis for bits whose generators are log·H, and the logs, with which a test
// can open a commitment to any value.
func knownLogs(t *testing.T, bits int) (*group.Basis[scalar, point], []scalar) {
	t.Helper()
	g, small := group.BN254(), group.TableOptions{Window: 2}
	basis := must.Get(group.NewBasis(g, append(rangeproof.KeyFamilies(), Families(bits)...), small))(t)
	blinding := basis.Offset(rangeproof.BlindingFamily)
	logs, h := scalars("logs", basis.Len()), basis.Points[blinding]
	logs[blinding].SetOne()
	for i := range logs {
		basis.Points[i] = mulPoint(h, logs[i])
	}
	basis.Table = must.Get(g.NewTable(basis.Points, small))(t)
	return basis, logs
}

// Every proof of a value is, byte for byte, a proof of every other value with
// other coins: witness indistinguishability without any assumption. With γ, ρ,
// a(0) or an entry of m missing there would be no such coins.
func TestEveryValueExplainsTheProof(t *testing.T) {
	t.Parallel()
	const bits, value = 8, 173
	g := group.BN254()
	basis, logs := knownLogs(t, bits)
	for _, stop := range []int{3, 100} {
		p := must.Get(New(basis, Config{Bits: bits, Stop: stop}))(t)
		vecLogs := append(append([]scalar(nil), logs[p.posVec:p.posVec+p.size-1]...), logs[p.posG])

		r := randomScalar("explain")
		V := commitTo(p, fr.NewElement(value), r)
		ch := chosen(p, "explain")
		real := prepare(p, "explain", value, r)
		m := append([]scalar(nil), real.z...)
		want := runWith(t, real, ch)
		if !equationHolds(t, p, V, want, ch) {
			t.Fatal("proof rejected")
		}

		for _, other := range []uint64{0, 1, 172, 255} {
			// r' opens V to the other value.
			var gap, r2 scalar
			proved, claimed := fr.NewElement(value), fr.NewElement(other)
			gap.Sub(&proved, &claimed).Mul(&gap, &logs[p.posG])
			r2.Add(&r, &gap)
			if commitTo(p, claimed, r2) != V {
				t.Fatal("the logarithm does not open V")
			}

			// a'(0) gives the same a(x).
			pr := prepare(p, "other coins", other, r2)
			form := make([]scalar, p.size)
			p.values.lagrange(form, &ch.x, pr.tmp)
			pr.w[0].SetZero()
			rest := g.InnerProduct(form[:bits+1], pr.w[:bits+1])
			pr.w[0].Sub(&want.Scalars[scalarAx], &rest).Div(&pr.w[0], &form[0])
			p.values.multiply(pr.w, pr.tmp)

			// γ' gives the same P, m' the same z, ρ' the same M.
			diff := make([]scalar, p.size)
			g.SubVec(diff, real.w, pr.w) // real.w holds c'·v last by now
			diff[p.size-1].SetZero()
			shift := g.InnerProduct(diff, vecLogs)
			pr.gamma.Add(&real.gamma, &shift)

			diff[p.size-1].Sub(&proved, &claimed).Mul(&diff[p.size-1], &ch.link)
			g.ScaleVec(diff, diff, &ch.c)
			g.AddVec(pr.z, m, diff)
			shift = g.InnerProduct(diff, vecLogs)
			pr.rho.Sub(&real.rho, &shift)

			golden.Equal(t, fmt.Sprintf("stop=%d: value %d does not explain the proof of %d", stop, other, value), want, runWith(t, pr, ch))
		}
	}
}

// No guess of the value can be told from another by what a reader can compute
// from a proof that was not folded. For each guess the reader knows all of the
// witness but the blindings (a(0) follows from ax), removes it from P, M and V,
// and looks whether what is left is a multiple of H that it knows.
func TestGuessesCannotBeConfirmed(t *testing.T) {
	t.Parallel()
	const bits, value = 8, 173
	p := newProtocol(t, bits, 100)
	g := group.BN254()
	r := randomScalar("guess")
	V := commitTo(p, fr.NewElement(value), r)
	vec := append(append([]point(nil), p.basis.Points[p.posVec:p.posVec+p.size-1]...), p.basis.Points[p.posG])
	H := p.basis.Points[p.posH]

	attack := func(proof *prf, ch challenges[scalar], guess uint64) (confirmed []string) {
		w, form, tmp := make([]scalar, p.size), make([]scalar, p.size), make([]scalar, p.size)
		p.values.lagrange(form, &ch.x, tmp)
		var zero scalar
		p.values.fill(w, guess, &zero, tmp)
		rest := g.InnerProduct(form[:bits+1], w[:bits+1])
		w[0].Sub(&proof.Scalars[scalarAx], &rest).Div(&w[0], &form[0])
		p.values.multiply(w, tmp)
		resP := subPoints(proof.Points[pointP], sum(g, vec, w))

		w[p.size-1].SetUint64(guess)
		w[p.size-1].Mul(&w[p.size-1], &ch.link)
		m := make([]scalar, p.size)
		for i := range m {
			m[i].Mul(&ch.c, &w[i]).Sub(&proof.Scalars[headScalars+i], &m[i])
		}
		resM := subPoints(proof.Points[pointM], sum(g, vec, m))
		resV := subPoints(V, mulPoint(p.basis.Points[p.posG], fr.NewElement(guess)))

		phi := proof.Scalars[scalarPhi]
		var perC, perLink scalar
		perC.Div(&phi, &ch.c)
		perLink.Div(&perC, &ch.link)
		for name, res := range map[string]point{
			"P": resP, "M": resM, "V": resV,
			"P + c'V": addPoints(resP, mulPoint(resV, ch.link)),
			"M + cP":  addPoints(resM, mulPoint(resP, ch.c)),
		} {
			for known, s := range map[string]scalar{"0": zero, "phi": phi, "phi/c": perC, "phi/cc'": perLink} {
				if want := mulPoint(H, s); g.EqualPoints(&res, &want) {
					confirmed = append(confirmed, fmt.Sprintf("%s - witness = %s·H", name, known))
				}
			}
		}
		return confirmed
	}

	for _, tc := range []struct {
		name  string
		spoil func(pr *prover[scalar, point])
		leaks bool
	}{
		{"honest", func(*prover[scalar, point]) {}, false},
		// The attack is a real one: it confirms the value where a mask is missing.
		{"gamma=0", func(pr *prover[scalar, point]) { pr.gamma.SetZero() }, true},
		{"rho=0", func(pr *prover[scalar, point]) { pr.rho.SetZero() }, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ch := chosen(p, "guess")
			pr := prepare(p, "guess", value, r)
			tc.spoil(pr)
			proof := runWith(t, pr, ch)
			for _, guess := range []uint64{0, 1, 172, value, 174, 255} {
				got := attack(proof, ch, guess)
				if want := tc.leaks && guess == value; want != (len(got) > 0) {
					t.Errorf("guess %d: confirmed by %q, want confirmed=%v", guess, got, want)
				}
			}
		})
	}
}

func subPoints(p, q point) point {
	var z point
	group.BN254().SubPoints(&z, &p, &q)
	return z
}

// The mask of every message comes from the nonces: with other nonces no part of
// a proof of the same statement under the same challenges stays.
func TestEveryPartIsMasked(t *testing.T) {
	t.Parallel()
	p := newProtocol(t, 8, 3)
	r := randomScalar("masked")
	ch := chosen(p, "masked")
	one, two := runWith(t, prepare(p, "coins 1", 9, r), ch), runWith(t, prepare(p, "coins 2", 9, r), ch)
	for i := range one.Points {
		if one.Points[i] == two.Points[i] {
			t.Errorf("point %d does not depend on the nonces", i)
		}
	}
	for i := range one.Scalars {
		if one.Scalars[i] == two.Scalars[i] {
			t.Errorf("scalar %d does not depend on the nonces", i)
		}
	}
	pr := prepare(p, "distinct", 9, r)
	seen := make(map[scalar]bool)
	drawn := append([]scalar{pr.mask, pr.gamma, pr.rho}, pr.z...)
	for _, s := range drawn {
		seen[s] = true
	}
	golden.Equal(t, "distinct nonces", len(drawn), len(seen))
	// The stream is the contract's: the first scalars of the nonce stream.
	want := make([]scalar, len(drawn))
	group.RandomScalars(group.BN254(), want, transcript.XOF("csp-test/nonces", []byte("distinct")))
	golden.Equal(t, "nonces are not read in the order a(0), γ, ρ, m", want, drawn)
}
