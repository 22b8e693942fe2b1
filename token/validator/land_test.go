package validator_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/golden"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
	ledgers "github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/bolt"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/script"
	"github.com/zkbench/zkbench/token/validator"
)

// TestLandBehindTime: what is of an earlier time than the ledger lands at the ledger's, and is judged at it; what was refused at
// the validator's own stays refused.
func TestLandBehindTime(t *testing.T) {
	t.Parallel()
	g := newGoverned(t)
	raw, openings := g.issue("a", 100, 50)
	made := g.land(raw, openings...).Creates
	alice, bob, preimage := g.owners[0], g.owners[1], []byte("a secret")
	deadline := g.at.Add(time.Hour)
	lock := must.Get(script.NewHashLock(must.Get(script.Image(preimage))(t), uint64(deadline.Unix()), alice.Identity(), bob.Identity()))(t)
	for i, c := range made {
		a, opened := g.moved(fmt.Sprint("lock ", i), 0, "", []token.ID{c.ID}, output(lock.Owner(), []uint64{100, 50}[i]))
		made[i] = g.land(g.sign(&request.Request{Anchor: fmt.Append(nil, "lock ", i), Actions: []request.Action{a}}, []identity.Signer{g.owners[i]}), opened...).Creates[0]
	}
	unlock := func(anchor string, u script.Unlock, c validator.Output, value uint64, by identity.Signer) []byte {
		a, _ := g.moved(anchor, 0, "", []token.ID{c.ID}, output(by.Identity(), value))
		a.Spends[0].Unlock, a.Spends[0].Preimage = must.Get(u.Encode())(t), u.Preimage
		return g.sign(&request.Request{Anchor: []byte(anchor), Actions: []request.Action{a}}, []identity.Signer{by})
	}
	claim := unlock("claim", script.Unlock{Kind: script.Claim, Preimage: preimage}, made[0], 100, bob)
	reclaim := unlock("reclaim", script.Unlock{Kind: script.Reclaim}, made[1], 50, alice)
	plain, _ := g.issue("plain", 7)
	ahead, _ := g.issue("ahead", 7)
	must.Do(t, must.Get(g.another().Land(t.Context(), g.l, [][]byte{ahead}, deadline))(t)[0].Err)

	results := must.Get(g.v.Land(t.Context(), g.l, [][]byte{claim, reclaim, plain, ahead}, g.at))(t)
	want(t, "a claim before the deadline, landed behind it", results[0].Err, validator.Scripts, 0, 0, zkbench.ErrPolicy)
	want(t, "a reclaim before the deadline", results[1].Err, validator.Scripts, 0, 0, zkbench.ErrPolicy)
	must.Do(t, errors.Join(results[2].Err, results[3].Err))
	golden.Equal(t, "time of what landed", deadline.UTC(), results[2].Valid.At)
	golden.Equal(t, "of what was there", g.at, results[3].Valid.At)
	want(t, "late again", g.landed(g.v, reclaim).Err, validator.Scripts, 0, 0, zkbench.ErrPolicy)
	must.Do(t, must.Get(g.v.Land(t.Context(), g.l, [][]byte{reclaim}, deadline))(t)[0].Err)
	ledgertest.Verify(t, g.l)
}

// TestLandBehindUpdate: a validator that lags behind the policy and the time follows both.
func TestLandBehindUpdate(t *testing.T) {
	t.Parallel()
	g := newGoverned(t)
	update := g.update(g.v.Policy(), func(p *token.Policy) { p.Limits.Metadata = 5 }, "anna", "ben")
	must.Do(t, must.Get(g.another().Land(t.Context(), g.l, [][]byte{update}, g.at.Add(time.Hour)))(t)[0].Err)
	g.ahead = 1
	raw, _ := g.issue("a", 1)
	r := g.landed(g.v, raw)
	must.Do(t, r.Err)
	golden.Equal(t, "policy", 1, r.Valid.Policy)
	golden.Equal(t, "time", g.at.Add(time.Hour).UTC(), r.Valid.At)
}

// runaway is a ledger that is ahead of every entry by so much.
type runaway struct {
	*bolt.Ledger
	ahead time.Duration
	calls int
}

func (r *runaway) ApplyEach(_ context.Context, batch []ledgers.Entry) ([]error, error) {
	r.calls++
	rejected := make([]error, len(batch))
	for i, e := range batch {
		late := &ledgers.TimeError{Time: e.Time, Last: e.Time.Add(r.ahead)}
		rejected[i] = &zkbench.CheckError{Check: "time", Action: i, Index: -1, Err: late}
	}
	return rejected, nil
}

// TestLandEnds: where others are always ahead, or a ledger says of no later time that it is, a request is rejected.
func TestLandEnds(t *testing.T) {
	t.Parallel()
	g := newGoverned(t)
	raw, _ := g.issue("a", 1)
	for ahead, calls := range map[time.Duration]int{1: validator.MaxLate + 1, 0: 1, -1: 1} {
		l := &runaway{Ledger: g.l, ahead: ahead}
		results := must.Get(g.v.Land(t.Context(), l, [][]byte{raw}, g.at))(t)
		want(t, "a ledger that runs away", results[0].Err, "time", 0, -1, zkbench.ErrPolicy)
		golden.Equal(t, "calls", calls, l.calls)
	}
}

// TestRaceOfClocks: validators with different clocks land requests at once; the log's times rise.
func TestRaceOfClocks(t *testing.T) {
	t.Parallel()
	g := newGoverned(t)
	const issues = 8
	var wg sync.WaitGroup
	for i, v := range []*validator.Validator{g.v, g.another()} {
		raws := make([][]byte, issues)
		for k := range raws {
			raws[k], _ = g.issue(fmt.Sprint("issue ", i, k), 1)
		}
		wg.Go(func() {
			for k, raw := range raws {
				if r := must.Get(v.Land(t.Context(), g.l, [][]byte{raw}, g.at.Add(time.Duration(i*5+k)*time.Second)))(t); r[0].Err != nil {
					t.Error(r[0].Err)
				}
			}
		})
	}
	wg.Wait()
	golden.Equal(t, "landed", 2*issues, len(ledgertest.Records(t, g.l, 1)))
	ledgertest.Verify(t, g.l)
}
