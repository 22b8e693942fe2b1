package bulletproof

import (
	"fmt"
	"testing"
)

// solve returns x with M·x = rhs, one right-hand side per column of rhs, by
// elimination. M is square and invertible.
func solve(t *testing.T, M, rhs [][]scalar) [][]scalar {
	t.Helper()
	n := len(M)
	for c := range n {
		pivot := c
		for pivot < n && M[pivot][c].IsZero() {
			pivot++
		}
		if pivot == n {
			t.Fatal("singular matrix")
		}
		M[c], M[pivot], rhs[c], rhs[pivot] = M[pivot], M[c], rhs[pivot], rhs[c]
		for r := range n {
			if r == c {
				continue
			}
			f := quotient(M[r][c], M[c][c])
			for k := range n {
				M[r][k] = minus(M[r][k], times(f, M[c][k]))
			}
			for k := range rhs[r] {
				rhs[r][k] = minus(rhs[r][k], times(f, rhs[c][k]))
			}
		}
	}
	for r := range n {
		for k := range rhs[r] {
			rhs[r][k] = quotient(rhs[r][k], M[r][r])
		}
	}
	return rhs
}

// Rewinding to x, three answers for each of m values of z give the witness. The
// stop is as long as the vectors, so a proof carries l and r themselves.
func TestExtractOpening(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		bits   int
		values []uint64
	}{
		{5, []uint64{22}},
		{8, []uint64{255}},
		{4, []uint64{9, 15, 0}},
	} {
		m := len(tc.values)
		t.Run(fmt.Sprintf("bits=%d/m=%d", tc.bits, m), func(t *testing.T) {
			N := tc.bits * m
			p := newProtocol(t, Config{Bits: tc.bits, MaxCommitments: m, Stop: N})
			st := newStatement(t, p, 31, tc.values...)
			sl := slow{p.g}
			// Σ z^(2+j)·(v_j, γ_j) for m values of z.
			var zs, combined [][]scalar
			for zi := range m {
				var xs, answers [][]scalar
				var pfs []*proof
				var cs []challenges[scalar]
				for xi := range 3 {
					ch := cheater{chosen: map[string]scalar{"y": num(1001), "z": num(uint64(7 + zi)), "x": num(uint64(50 + xi))}}
					pf, c := ch.prove(t, p, st)
					if !textbook(p, st.V, pf, c) {
						t.Fatal("answer to a chosen challenge is wrong")
					}
					pfs, cs = append(pfs, pf), append(cs, c)
					xs = append(xs, powers(c.x, 3))
					answers = append(answers, []scalar{pf.Scalars[2], pf.Scalars[0]})
				}
				pub := newPublic(p, m, cs[0])
				z := cs[0].z

				// l and r are linear in x: two answers open A, the third must agree.
				line := func(at int) []scalar {
					two := solve(t, [][]scalar{{num(1), cs[0].x}, {num(1), cs[1].x}}, [][]scalar{{pfs[0].Scalars[at]}, {pfs[1].Scalars[at]}})
					if got := plus(two[0][0], times(two[1][0], cs[2].x)); got != pfs[2].Scalars[at] {
						t.Fatalf("scalar %d is not linear in x", at)
					}
					return []scalar{two[0][0], two[1][0]}
				}
				opening := sl.mul(pub.h, line(1)[0])
				values := make([]scalar, m)
				for i := range N {
					aL := plus(line(3 + i)[0], z)
					aR := minus(quotient(minus(line(3 + N + i)[0], pub.w[i]), pub.yN[i]), z)
					opening = sl.add(opening, sl.mul(pub.G[i], aL), sl.mul(p.basis.Points[p.posH+i], aR))
					if bit := times(aL, aR); !bit.IsZero() || minus(aL, aR) != num(1) {
						t.Errorf("extracted digit %d is not a bit", i)
					}
					j := i / tc.bits
					values[j] = plus(values[j], times(aL, powers(num(2), tc.bits)[i%tc.bits]))
				}
				if !p.g.EqualPoints(&opening, &pfs[0].Points[0]) {
					t.Error("what was extracted does not open A")
				}
				for j, v := range tc.values {
					if values[j] != num(v) {
						t.Errorf("extracted value %d is %s, want %d", j, values[j].String(), v)
					}
				}

				// t(x) and taux(x) are quadratic in x: three answers give t0.
				t0 := solve(t, xs, answers)[0]
				zs = append(zs, powers(z, m+2)[2:])
				combined = append(combined, []scalar{minus(t0[0], pub.delta), t0[1]})
			}
			for j, opened := range solve(t, zs, combined) {
				if opened[0] != num(tc.values[j]) || opened[1] != st.w.Blindings[j] {
					t.Errorf("opening %d extracted from the first equation is wrong", j)
				}
				if V := commit(t, p, opened[0], opened[1]); V != st.V[j] {
					t.Errorf("what was extracted does not open V_%d", j)
				}
			}
		})
	}
}

// One round of the inner-product argument, rewound to x_1: three answers give
// L, P, R in the generators, a fourth that the parts fit together, and P's part
// of U is cU times the inner product.
func TestExtractInnerProduct(t *testing.T) {
	t.Parallel()
	p := newProtocol(t, Config{Bits: 2, MaxCommitments: 1, Stop: 1})
	st := newStatement(t, p, 37, 2)
	sl := slow{p.g}
	var es []scalar
	var pfs []*proof
	var c challenges[scalar]
	for i := range 4 {
		e := num(uint64(3 + 10*i))
		pf, got := cheater{chosen: map[string]scalar{"x_0": e}}.prove(t, p, st)
		if !textbook(p, st.V, pf, got) {
			t.Fatal("answer to a chosen challenge is wrong")
		}
		es, pfs, c = append(es, e), append(pfs, pf), got
	}
	pub := newPublic(p, 1, c)
	gens := []point{pub.G[0], pub.G[1], pub.H[0], pub.H[1], pub.U}
	// represent is e·L + P + e^-1·R in gens, from the answer to e.
	represent := func(i int) []scalar {
		a, b, e := pfs[i].Scalars[3], pfs[i].Scalars[4], es[i]
		return []scalar{a, times(e, a), b, quotient(b, e), times(c.cU, times(a, b))}
	}
	row := func(e scalar) []scalar { return []scalar{e, num(1), quotient(num(1), e)} }
	LPR := solve(t, [][]scalar{row(es[0]), row(es[1]), row(es[2])},
		[][]scalar{represent(0), represent(1), represent(2)})

	P := sl.add(pub.vectorCommitment(pfs[0], c), sl.mul(pub.U, times(c.cU, pfs[0].Scalars[2])))
	for i, want := range []point{pfs[0].Points[4], P, pfs[0].Points[5]} {
		if got := sl.sum(LPR[i], gens); got != want {
			t.Errorf("representation of %s is wrong", []string{"L", "P", "R"}[i])
		}
	}
	L, Pr, R := LPR[0], LPR[1], LPR[2]
	fourth := represent(3)
	for k := range gens {
		if got := inner(row(es[3]), []scalar{L[k], Pr[k], R[k]}); got != fourth[k] {
			t.Errorf("the fourth answer does not fit at generator %d", k)
		}
	}
	// Comparing coefficients of e in G_lo, G_hi and H_lo, H_hi.
	zero := num(0)
	if L[0] != zero || R[1] != zero || L[1] != Pr[0] || R[0] != Pr[1] {
		t.Error("L, R are not the cross terms of a")
	}
	if L[3] != zero || R[2] != zero || L[2] != Pr[3] || R[3] != Pr[2] {
		t.Error("L, R are not the cross terms of b")
	}
	if want := times(c.cU, inner(Pr[0:2], Pr[2:4])); Pr[4] != want {
		t.Error("P's U is not cU times the inner product of the extracted vectors")
	}
	if tHat := inner(Pr[0:2], Pr[2:4]); tHat != pfs[0].Scalars[2] {
		t.Error("the extracted inner product is not tHat")
	}
}
