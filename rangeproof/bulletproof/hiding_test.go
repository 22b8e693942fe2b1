package bulletproof

import (
	"testing"

	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// digits returns aL and aR for a value.
func digits(p *bp, N int, v uint64) (aL, aR []scalar) {
	aL, aR = make([]scalar, N), make([]scalar, N)
	for i := range N {
		if i < p.Bits() {
			aL[i] = num(v >> i & 1)
		}
		aR[i] = minus(aL[i], num(1))
	}
	return aL, aR
}

// confirmed returns the guesses of v that the public tuple confirms: those for
// which V - v·g, or A without the digits of v, is something a reader can
// compute: the identity, or h or a point of the proof times a published scalar
// and powers of challenges.
func confirmed(p *bp, V point, pf *proof, c challenges[scalar]) []uint64 {
	sl := slow{p.g}
	pts := p.basis.Points
	N := p.cfg.dims(1).N
	z2, one := times(c.z, c.z), num(1)
	known := map[string]bool{string(p.g.AppendPoints(nil, point{})): true}
	for _, base := range append([]point{pts[p.posBlinding]}, pf.Points...) {
		for _, s := range append([]scalar{one, c.y, c.cU}, pf.Scalars...) {
			for _, d := range []scalar{one, c.x, times(c.x, c.x), c.z, z2, quotient(one, c.x), quotient(one, z2)} {
				m := sl.mul(base, times(s, d))
				known[string(p.g.AppendPoints(nil, m))] = true
				known[string(p.g.AppendPoints(nil, sl.neg(m)))] = true
			}
		}
	}
	var hits []uint64
	for v := range maxValue(p.Bits()) + 1 {
		aL, aR := digits(p, N, v)
		bits := sl.add(sl.sum(aL, pts[p.posG:]), sl.sum(aR, pts[p.posH:]))
		vg := sl.mul(pts[p.posValue], num(v))
		for _, left := range []point{
			sl.add(V, sl.neg(vg)),
			sl.add(pf.Points[0], sl.neg(bits)),
		} {
			if known[string(p.g.AppendPoints(nil, left))] {
				hits = append(hits, v)
				break
			}
		}
	}
	return hits
}

// A reader of V and the proof tries all values, the true one among them. The
// search finds it where a prover leaves out one blinding.
func TestGuessesCannotBeConfirmed(t *testing.T) {
	t.Parallel()
	const value = 11
	p := newProtocol(t, Config{Bits: 4, MaxCommitments: 1})
	set := func(i int, v uint64) changes {
		return changes{
			bitsSet: func(_ testing.TB, s *state[scalar, point]) { s.nonce[i] = num(v) },
		}
	}
	unblinded := newStatement(t, p, 41, value)
	unblinded.w.Blindings[0] = num(0)
	unblinded.V[0] = commit(t, p, num(value), num(0))
	for _, tc := range []struct {
		name string
		st   statement
		ch   cheater
		hit  bool
	}{
		{"as it is", newStatement(t, p, 41, value), cheater{}, false},
		{"gamma=0", unblinded, cheater{}, true},
		{"alpha=0", newStatement(t, p, 41, value), cheater{at: set(0, 0)}, true},
		{"rho=0", newStatement(t, p, 41, value), cheater{at: set(1, 0)}, true}, // then mu = alpha
	} {
		pf, c := tc.ch.prove(t, p, tc.st)
		hits := confirmed(p, tc.st.V[0], pf, c)
		if want := map[bool]int{true: 1}[tc.hit]; len(hits) != want || tc.hit && hits[0] != value {
			t.Errorf("%s: guesses %v confirmed, want one of %d: %t", tc.name, hits, value, tc.hit)
		}
	}
}

// Perfect hiding, shown value by value: over generators whose discrete
// logarithms the test knows, it solves for the nonces with which each other
// value gives the very same V and proof. Nonces are uniform and the solution is
// unique, so the public tuple is equally likely for every value.
func TestEveryValueExplainsTheProof(t *testing.T) {
	t.Parallel()
	for _, cfg := range []Config{{Bits: 4, MaxCommitments: 1, Stop: 8}, {Bits: 3, MaxCommitments: 1, Stop: 1}} {
		p, logs := knownLogs(t, cfg)
		d := cfg.dims(1)
		chosen := map[string]scalar{"y": num(101), "z": num(202), "x": num(303), "U": num(404), "x_0": num(5), "x_1": num(6)}
		const value = 5
		st := newStatement(t, p, 43, value)
		var nonce []scalar
		pf, c := cheater{chosen: chosen, at: changes{
			bitsSet: func(_ testing.TB, s *state[scalar, point]) { nonce = append(nonce, s.nonce...) },
		}}.prove(t, p, st)
		seen := map[scalar]bool{{}: true}
		for i, s := range nonce {
			if seen[s] {
				t.Errorf("nonce %d is zero or repeated", i)
			}
			seen[s] = true
		}

		logG, logH, logV := logs[p.posG:p.posG+d.N], logs[p.posH:p.posH+d.N], logs[p.posValue]
		alpha, rho, tau := nonce[0], nonce[1], nonce[2+2*d.N:]
		sL, sR := nonce[2:2+d.N], nonce[2+d.N:2+2*d.N]
		aL, aR := digits(p, d.N, value)
		// Logarithms of the published points, to base h.
		dot := func(l, r []scalar) scalar { return plus(inner(l, logG), inner(r, logH)) }
		pub := newPublic(p, 1, c)
		t1, t2 := coefficients(pub, c, aL, aR, sL, sR)
		logA, logS := plus(alpha, dot(aL, aR)), plus(rho, dot(sL, sR))
		logT1, logT2 := plus(tau[0], times(t1, logV)), plus(tau[1], times(t2, logV))

		for v := range maxValue(cfg.Bits) + 1 {
			// l and r are published, in effect: sL = (l - aL + z)/x and so on.
			other := statement{V: st.V, nonces: st.nonces}
			other.w.Values = []uint64{v}
			gamma := plus(st.w.Blindings[0], times(minus(num(value), num(v)), logV))
			other.w.Blindings = []scalar{gamma}
			bL, bR := digits(p, d.N, v)
			qL, qR := make([]scalar, d.N), make([]scalar, d.N)
			for i := range d.N {
				qL[i] = plus(sL[i], quotient(minus(aL[i], bL[i]), c.x))
				qR[i] = plus(sR[i], quotient(minus(aR[i], bR[i]), c.x))
			}
			u1, u2 := coefficients(pub, c, bL, bR, qL, qR)
			explained := append([]scalar{minus(logA, dot(bL, bR)), minus(logS, dot(qL, qR))}, qL...)
			explained = append(append(explained, qR...), minus(logT1, times(u1, logV)), minus(logT2, times(u2, logV)))

			again, _ := cheater{chosen: chosen, at: changes{
				bitsSet: func(_ testing.TB, s *state[scalar, point]) { copy(s.nonce, explained) },
			}}.prove(t, p, other)
			if V := commit(t, p, num(v), gamma); V != st.V[0] {
				t.Fatalf("bits=%d: value %d does not explain V", cfg.Bits, v)
			}
			if string(encode(p, again)) != string(encode(p, pf)) {
				t.Errorf("bits=%d: value %d does not explain the proof of %d", cfg.Bits, v, value)
			}
		}
	}
}

// coefficients returns t1 and t2 of <l(X), r(X)>.
func coefficients(pub public, c challenges[scalar], aL, aR, sL, sR []scalar) (t1, t2 scalar) {
	for i := range aL {
		l0, l1 := minus(aL[i], c.z), sL[i]
		r0 := plus(times(pub.yN[i], plus(aR[i], c.z)), pub.w[i])
		r1 := times(pub.yN[i], sR[i])
		t1 = plus(t1, plus(times(l0, r1), times(l1, r0)))
		t2 = plus(t2, times(l1, r1))
	}
	return t1, t2
}

// knownLogs returns a protocol over generators log·h, and the logs.
func knownLogs(t *testing.T, cfg Config) (*bp, []scalar) {
	t.Helper()
	basis := *testBasis(t)
	g := basis.Group
	h := basis.Points[basis.Offset("blinding")]
	logs := make([]scalar, basis.Len())
	group.RandomScalars(g, logs, seeded("logs"))
	logs[basis.Offset("blinding")] = num(1)
	// Only the generators that cfg uses are replaced: the rest stay unused.
	basis.Points = append([]point(nil), basis.Points...)
	p := newProtocol(t, cfg)
	N := cfg.dims(1).N
	use := []int{p.posValue, p.posBlinding, p.posU}
	for i := range N {
		use = append(use, p.posG+i, p.posH+i)
	}
	for _, i := range use {
		g.MulPoint(&basis.Points[i], &h, &logs[i])
	}
	basis.Table = must.Get(g.NewTable(basis.Points, group.TableOptions{}))(t)
	return must.Get(New(&basis, cfg))(t), logs
}
