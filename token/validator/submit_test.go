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

// TestSubmitBehindTime: a validator whose clock is behind the ledger's time judges requests at that time, and lands them at it.
func TestSubmitBehindTime(t *testing.T) {
	t.Parallel()
	g := newGoverned(t)
	raw, openings := g.issue("a", 100, 50)
	made := g.land(raw, openings...).Creates
	alice, bob, preimage := g.owners[0], g.owners[1], []byte("a secret")
	deadline := g.at.Add(validator.Ahead)
	lock := must.Get(script.NewHashLock(must.Get(script.Image(preimage))(t), uint64(deadline.Unix()), alice.Identity(), bob.Identity()))(t)
	for i, c := range made {
		a, opened := g.moved(fmt.Sprint("lock ", i), 0, "", []token.ID{c.ID}, output(lock.Owner(), []uint64{100, 50}[i]))
		made[i] = g.land(g.sign(&request.Request{Anchor: fmt.Append(nil, "lock ", i), Actions: []request.Action{a}}, []identity.Signer{g.owners[i]}), opened...).Creates[0]
	}
	unlock := func(anchor string, u script.Unlock, c ledgers.Created, value uint64, by identity.Signer) []byte {
		a, _ := g.moved(anchor, 0, "", []token.ID{c.ID}, output(by.Identity(), value))
		a.Spends[0].Unlock, a.Spends[0].Preimage = must.Get(u.Encode())(t), u.Preimage
		return g.sign(&request.Request{Anchor: []byte(anchor), Actions: []request.Action{a}}, []identity.Signer{by})
	}
	claim := unlock("claim", script.Unlock{Kind: script.Claim, Preimage: preimage}, made[0], 100, bob)
	reclaim := unlock("reclaim", script.Unlock{Kind: script.Reclaim}, made[1], 50, alice)
	plain, _ := g.issue("plain", 7)
	ahead, _ := g.issue("ahead", 7)
	must.Do(t, g.submit(g.another(), deadline, ahead)[0].Err)

	results := g.submit(g.v, g.at, claim, reclaim, plain, ahead)
	want(t, "a claim before the deadline, landed behind it", results[0].Err, validator.Scripts, 0, 0, zkbench.ErrPolicy)
	must.Do(t, errors.Join(results[1].Err, results[2].Err, results[3].Err))
	golden.Equal(t, "time of what landed", deadline.UTC(), results[2].Record.Time)
	golden.Equal(t, "of what was there", deadline.UTC(), results[3].Record.Time)
	ledgertest.Verify(t, g.l)
}

// TestSubmitBehindUpdate: a validator that lags behind the policy and the time follows both.
func TestSubmitBehindUpdate(t *testing.T) {
	t.Parallel()
	g := newGoverned(t)
	update := g.update(g.v.Policy(), func(p *token.Policy) { p.Limits.Metadata = 5 }, "anna", "ben")
	must.Do(t, g.submit(g.another(), g.at.Add(validator.Ahead), update)[0].Err)
	g.ahead = 1
	raw, _ := g.issue("a", 1)
	r := g.landed(g.v, raw)
	must.Do(t, r.Err)
	golden.Equal(t, "policy", 1, r.Record.Policy)
	golden.Equal(t, "time", g.at.Add(validator.Ahead).UTC(), r.Record.Time)
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

// TestSubmitEnds: where others are always ahead, or a ledger says of no later time that it is, a request is rejected.
func TestSubmitEnds(t *testing.T) {
	t.Parallel()
	g := newGoverned(t)
	raw, _ := g.issue("a", 1)
	for ahead, calls := range map[time.Duration]int{1: validator.MaxLate + 1, 0: 1, -1: 1} {
		l := &runaway{Ledger: g.l, ahead: ahead}
		s := must.Get(validator.NewSubmitter(g.v, l, func() time.Time { return g.at }))(t)
		results := must.Get(s.Submit(t.Context(), [][]byte{raw}))(t)
		want(t, "a ledger that runs away", results[0].Err, "time", -1, -1, zkbench.ErrPolicy)
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
				if r := g.submit(v, g.at.Add(time.Duration(i*5+k)*time.Second), raw); r[0].Err != nil {
					t.Error(r[0].Err)
				}
			}
		})
	}
	wg.Wait()
	golden.Equal(t, "landed", 2*issues, len(ledgertest.Records(t, g.l, 1)))
	ledgertest.Verify(t, g.l)
}
