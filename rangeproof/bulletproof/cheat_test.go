package bulletproof

import (
	"testing"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// cheater drives the prover's rounds by hand: it can leave a message out of the
// transcript, answer chosen challenges, and change the state between rounds.
type cheater struct {
	skip   string
	chosen map[string]scalar
	at     changes
}

// changes maps stages of the proof to changes of the state.
type changes map[stage]func(t testing.TB, s *state[scalar, point])

// stage names when a change is made.
type stage string

const (
	bitsSet    stage = "bits set"      // before A and S are computed
	bitsSent   stage = "y, z known"    // A and S may be recomputed
	polySet    stage = "t1, t2 set"    // before T1 and T2 are computed
	polySent   stage = "x known"       //
	evalSet    stage = "tHat set"      // before tHat is sent
	firstRound stage = "x_1 known"     //
	finished   stage = "proof written" //
)

func (ch cheater) prove(t testing.TB, p *bp, st statement) (*proof, challenges[scalar]) {
	t.Helper()
	ctx, ex := t.Context(), executor.Serial()
	w := weakTape{g: p.g, tr: bound(p, "ctx"), skip: ch.skip, chosen: ch.chosen}
	w.statement(st.V)
	s := p.newState(len(st.V))
	group.RandomScalars(p.g, s.nonce, st.nonces.Stream(p.encodeWitness(st.w), &w.tr))
	moment := func(at stage) {
		if f := ch.at[at]; f != nil {
			f(t, s)
		}
	}
	pts, sc := s.proof.Points, s.proof.Scalars

	bits := must.Get(s.bits(st.w))(t)
	moment(bitsSet)
	committed := must.Get(bits.commit(ctx, ex))(t)
	w.points("A", pts[0])
	w.points("S", pts[1])
	s.c.y, s.c.z = w.challenge("y", "y"), w.challenge("z", "z")
	moment(bitsSent)
	poly := committed.polynomial()
	moment(polySet)
	opened := must.Get(poly.commit(ctx, ex))(t)
	w.points("T1", pts[2])
	w.points("T2", pts[3])
	s.c.x = w.challenge("x", "x")
	moment(polySent)
	eval := opened.evaluate()
	moment(evalSet)
	w.scalars("taux", sc[0])
	w.scalars("mu", sc[1])
	w.scalars("tHat", sc[2])
	s.c.cU = w.challenge("U", "U")
	ip := eval.innerProduct()
	for j := range s.c.rounds {
		halves := must.Get(ip.commit(ctx, ex))(t)
		w.points("L", pts[4+2*j])
		w.points("R", pts[5+2*j])
		s.c.rounds[j] = w.challenge("x_j", roundName(j))
		if j == 0 {
			moment(firstRound)
		}
		ip = halves.fold()
	}
	ip.finish()
	moment(finished)
	return s.proof, s.c
}

// With nothing changed the cheater is the prover: the transcript written out in
// the tests is the one of the code.
func TestRoundsByHandGiveTheSameProof(t *testing.T) {
	t.Parallel()
	p := newProtocol(t, Config{Bits: 7, MaxCommitments: 3, Stop: 2})
	st := newStatement(t, p, 3, 100, 0, 127)
	byHand, _ := cheater{}.prove(t, p, st)
	if string(encode(p, byHand)) != string(encode(p, prove(t, p, st))) {
		t.Error("proofs differ")
	}
}

// Witnesses outside the relation, forced past the prover's check. V commits to
// the value as given.
func TestFalseStatementsAreRejected(t *testing.T) {
	t.Parallel()
	set := func(i int, aL, aR uint64) changes {
		return changes{
			bitsSet: func(_ testing.TB, s *state[scalar, point]) { s.a[i], s.b[i] = num(aL), num(aR) },
		}
	}
	for _, tc := range []struct {
		name   string
		value  uint64
		ch     cheater
		accept bool
	}{
		{"value=in range", 31, cheater{}, true},
		{"value=2^n/bits of it that fit", 32, cheater{}, false},
		{"value=2^n+31/bits of it that fit", 63, cheater{}, false},
		{"value=2^n/top digit 2 and 1", 32, cheater{at: set(4, 2, 1)}, false},
		{"value=2^n/top digit 2, aR 0", 32, cheater{at: set(4, 2, 0)}, false},
		{"value=2^n/digit 0 is 2^n", 32, cheater{at: set(0, 32, 31)}, false},
		{"value=in range/another", 30, cheater{at: set(0, 1, 0)}, false},
		{"value=in range/aR=0 beside aL=0", 30, cheater{at: set(0, 0, 0)}, false},
		{"value=in range/padding 1", 31, cheater{at: set(5, 1, 0)}, true}, // a bit too, of weight zero
		{"value=in range/padding 5 and 4", 31, cheater{at: set(5, 5, 4)}, false},
		{"value=in range/padding 0 and 0", 31, cheater{at: set(5, 0, 0)}, false},
		{"value=2^n/padding 2 and 1", 32, cheater{at: set(5, 2, 1)}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := newProtocol(t, Config{Bits: 5, MaxCommitments: 1, Stop: 4}) // N = 6
			st := newStatement(t, p, 11, tc.value)
			pf, c := tc.ch.prove(t, p, st)
			golden.Equal(t, "fast verifier accepts", tc.accept, accepts(t, p, st, pf))
			golden.Equal(t, "textbook verifier accepts", tc.accept, textbook(p, st.V, pf, c))
		})
	}
}

// Frozen Heart (Miller, Trail of Bits, 2022): a verifier that does not absorb a
// message lets the prover choose it after the challenges. Each case is such a
// choice for a value of 2^n + 9. It must convince the verifier that forgets the
// message, which shows that the forgery is right, and neither of ours.
func TestForgeriesInCheatingOrder(t *testing.T) {
	t.Parallel()
	const n = 4
	const value = 1<<n + 9
	// The proof is made for the value's low bits, off from V by off·g; shift is
	// what that adds to the first equation, z^2·off.
	off := num(1 << n)
	shift := func(s *state[scalar, point]) scalar { return times(times(s.c.z, s.c.z), off) }
	move := func(s *state[scalar, point], dst *point, pos int, c scalar) {
		sl := slow{s.p.g}
		*dst = sl.add(*dst, sl.mul(s.p.basis.Points[pos], c))
	}
	neg := func(a scalar) scalar { return minus(num(0), a) }

	for _, tc := range []struct {
		skip string
		at   stage
		f    func(t testing.TB, s *state[scalar, point])
	}{
		// T1, T2 absorb the difference in the first equation.
		{"T1", finished, func(_ testing.TB, s *state[scalar, point]) {
			move(s, &s.proof.Points[2], s.p.posValue, neg(quotient(shift(s), s.c.x)))
		}},
		{"T2", finished, func(_ testing.TB, s *state[scalar, point]) {
			move(s, &s.proof.Points[3], s.p.posValue, neg(quotient(shift(s), times(s.c.x, s.c.x))))
		}},
		// A wrong aR_0 makes t0 what it should be for these y, z.
		{"A", bitsSent, func(t testing.TB, s *state[scalar, point]) {
			s.b[0] = plus(s.b[0], quotient(shift(s), minus(s.a[0], s.c.z)))
			must.Get((bitRound[scalar, point]{s}).commit(t.Context(), executor.Serial()))(t)
		}},
		// A wrong sR_0 makes tHat what it should be for this x.
		{"S", polySent, func(_ testing.TB, s *state[scalar, point]) {
			l0 := plus(s.a[0], times(s.c.x, s.sL[0]))
			d := quotient(shift(s), times(l0, s.c.x))
			s.sR[0] = plus(s.sR[0], d)
			move(s, &s.proof.Points[1], s.p.posH, d)
		}},
		// A wrong tHat, whose U is taken back in the first round.
		{"L", firstRound, func(_ testing.TB, s *state[scalar, point]) {
			move(s, &s.proof.Points[4], s.p.posU, neg(quotient(times(s.c.cU, shift(s)), s.c.rounds[0])))
		}},
		{"R", firstRound, func(_ testing.TB, s *state[scalar, point]) {
			move(s, &s.proof.Points[5], s.p.posU, neg(times(times(s.c.cU, shift(s)), s.c.rounds[0])))
		}},
	} {
		t.Run("absorbed last="+tc.skip, func(t *testing.T) {
			p := newProtocol(t, Config{Bits: n, MaxCommitments: 1, Stop: 2})
			st := newStatement(t, p, 23, value)
			ch := cheater{skip: tc.skip, at: changes{tc.at: tc.f}}
			if tc.at == firstRound {
				ch.at[evalSet] = func(_ testing.TB, s *state[scalar, point]) {
					s.proof.Scalars[2] = plus(s.proof.Scalars[2], shift(s))
				}
			}
			pf, _ := ch.prove(t, p, st)
			checkForgery(t, p, tc.skip, st.V, pf)
		})
	}

	t.Run("absorbed last=V", func(t *testing.T) {
		p := newProtocol(t, Config{Bits: n, MaxCommitments: 1, Stop: 2})
		st := newStatement(t, p, 23, 5)
		// T1 commits to t1 + 1, and V is what then satisfies the equation.
		ch := cheater{skip: "V", at: changes{
			polySet: func(_ testing.TB, s *state[scalar, point]) { s.t1 = plus(s.t1, num(1)) },
		}}
		pf, c := ch.prove(t, p, st)
		v := minus(num(5), quotient(c.x, times(c.z, c.z)))
		if v.IsUint64() && v.Uint64() <= maxValue(n) {
			t.Fatal("the forged value is in range")
		}
		checkForgery(t, p, "V", []point{commit(t, p, v, st.w.Blindings[0])}, pf)
	})
}

func checkForgery(t *testing.T, p *bp, skip string, V []point, pf *proof) {
	t.Helper()
	if weak := (weakTape{g: p.g, tr: bound(p, "ctx"), skip: skip}).replay(V, pf); !textbook(p, V, pf, weak) {
		t.Error("the forgery does not even convince a verifier that forgets the message")
	}
	if ok, err := verify(t, p, bound(p, "ctx"), V, pf); ok || err != nil {
		t.Errorf("fast verifier accepts: %t, %v", ok, err)
	}
	if textbookAccepts(p, bound(p, "ctx"), V, pf) {
		t.Error("textbook verifier accepts")
	}
}
