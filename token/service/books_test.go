package service_test

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
	"github.com/zkbench/zkbench/token/audit"
	"github.com/zkbench/zkbench/token/entry"
	"github.com/zkbench/zkbench/token/identity"
	ledgers "github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/replay"
	"github.com/zkbench/zkbench/token/script"
	"github.com/zkbench/zkbench/token/service"
)

// balanced holds the books of a whole system against each other when all is still.
type balanced struct {
	*world
	store    replay.Store
	auditors []*service.AuditorService // each request of the log is signed by one of them
	log      []ledgers.Record
	byAnchor map[string]ledgers.Record
	supply   map[string]int64 // by type: issued less redeemed, as the auditors see it
}

// balance verifies a ledger with all its proofs, and adds up what the requests of its log have issued and redeemed, as the auditors who
// have signed them see it. Each request stands there once, and was signed.
func (w *world) balance(t *testing.T, store replay.Store, auditors ...*service.AuditorService) *balanced {
	t.Helper()
	b := &balanced{world: w, store: store, auditors: auditors, byAnchor: map[string]ledgers.Record{}, supply: map[string]int64{}}
	report := must.Get(replay.Verify(t.Context(), store, w.params, func(uint64, uint64) {}))(t)
	if !report.Validated {
		t.Error("no proof was verified")
	}
	for r, err := range store.Log(t.Context(), 1) {
		must.Do(t, err)
		if before, twice := b.byAnchor[string(r.Anchor)]; twice {
			t.Errorf("request %d: anchor %x landed as request %d before", r.Seq, r.Anchor, before.Seq)
		}
		b.byAnchor[string(r.Anchor)] = r
		b.log = append(b.log, r)
		if !r.Update {
			b.count(t, r)
		}
	}
	golden.Equal(t, "requests verified", uint64(len(b.log)), report.Edge.Last())
	return b
}

// count adds what a request issues and redeems to the supply.
func (b *balanced) count(t *testing.T, r ledgers.Record) {
	t.Helper()
	for _, a := range b.auditors {
		raw, info, err := a.Signed(r.Anchor)
		if must.Do(t, err); raw == nil {
			continue
		}
		report := must.Get(a.Check(t.Context(), raw, info))(t)
		if report.Digest != r.Digest {
			continue
		}
		for typ, n := range issued(report) {
			b.supply[typ] += n
		}
		return
	}
	t.Errorf("request %d, %x: landed, and no auditor has signed it", r.Seq, r.Anchor)
}

// issued returns what a request issues less what it redeems, by type.
func issued(report *audit.Report) map[string]int64 {
	sums := map[string]int64{}
	for _, a := range report.Actions {
		for _, h := range a.Outputs {
			if a.Kind == token.Issue {
				sums[a.Type] += int64(h.Value)
			} else if len(h.Owners) == 0 {
				sums[a.Type] -= int64(h.Value)
			}
		}
	}
	return sums
}

// owned returns the tokens of a wallet that no submission holds: its own, shared and locked ones, by id.
func owned(t *testing.T, v *service.Vault) map[string]string {
	t.Helper()
	all := map[string]string{}
	add := func(kind string, h service.UnspentToken, err error) {
		must.Do(t, err)
		all[string(h.ID)] = fmt.Sprintf("%s %s %d", kind, h.Type, h.Value)
	}
	for h, err := range v.Unspent() {
		add("own", h, err)
	}
	for h, err := range v.Shared() {
		add(fmt.Sprintf("of %d", h.Owner.K()), h.UnspentToken, err)
	}
	for h, err := range v.Locked() {
		add("locked", h.UnspentToken, err)
	}
	return all
}

// parties synchronizes everybody who may own something, and holds what they own to the log and to the supply: the wallets know all unspent tokens of
// the ledger and no other, each once, and for each type the sum is what was issued less what was redeemed. A vault made again of keys and log,
// and one that validates each record, owns the same.
func (b *balanced) parties(t *testing.T, all ...*party) {
	t.Helper()
	ctx := t.Context()
	var last map[string]string
	union := map[string]string{}
	for i, p := range all {
		must.Do(t, p.Sync(ctx, b.store))
		b.waiting(t, p.Vault, fmt.Sprint("party ", i))
		golden.Equal(t, fmt.Sprintf("party %d: findings", i), nil, must.Get(p.Compare(ctx, b.store))(t))
		mine := owned(t, p.Vault)
		for id, what := range mine {
			if other, both := union[id]; both && other != what {
				t.Errorf("party %d: token %x is %q, and %q of another party's", i, id, what, other)
			}
			union[id] = what
		}
		if i > 0 && all[i-1].keys == p.keys {
			if !maps.Equal(mine, last) {
				t.Errorf("party %d owns other tokens than another wallet of its keys:%s", i, difference(mine, last))
			}
			continue
		}
		last = mine
		for _, checked := range []bool{false, true} {
			again := b.party(t, p.keys)
			if checked {
				b.check(t, again.Vault)
			}
			must.Do(t, again.Sync(ctx, b.store))
			if theirs := owned(t, again.Vault); !maps.Equal(mine, theirs) {
				t.Errorf("party %d owns %d tokens, and %d by keys and log (validated: %v):%s", i, len(mine), len(theirs), checked, difference(mine, theirs))
			}
			must.Do(t, again.Close())
		}
	}
	unspent := map[string]bool{}
	for _, r := range b.log {
		for _, id := range r.Spends {
			if !unspent[string(id)] {
				t.Errorf("request %d spends token %x, which is not there", r.Seq, []byte(id))
			}
			delete(unspent, string(id))
		}
		for _, c := range r.Creates {
			unspent[string(c.ID)] = true
		}
	}
	sums := map[string]int64{}
	for id, what := range union {
		if !unspent[id] {
			t.Errorf("token %x, %q: in a wallet, and not unspent on the ledger", id, what)
		}
		delete(unspent, id)
		typ, value, ok := parseOwned(what)
		if !ok {
			t.Errorf("token %x: %q", id, what)
		}
		sums[typ] += value
	}
	for id := range unspent {
		t.Errorf("token %x: unspent on the ledger, and in no wallet", id)
	}
	for typ, n := range b.supply {
		golden.Equal(t, typ+" in all wallets, and issued less redeemed", n, sums[typ])
		delete(sums, typ)
	}
	for typ := range sums {
		t.Errorf("%d %s, of which no auditor has seen an issue", sums[typ], typ)
	}
}

func parseOwned(what string) (typ string, value int64, ok bool) {
	words := bytes.Fields([]byte(what))
	if len(words) < 3 {
		return "", 0, false
	}
	value, err := strconv.ParseInt(string(words[len(words)-1]), 10, 64)
	return string(words[len(words)-2]), value, err == nil
}

func difference(a, b map[string]string) (all string) {
	for _, id := range slices.Sorted(maps.Keys(a)) {
		if a[id] != b[id] {
			all += fmt.Sprintf("\n%x: %q, %q", id, a[id], b[id])
		}
	}
	for _, id := range slices.Sorted(maps.Keys(b)) {
		if _, both := a[id]; !both {
			all += fmt.Sprintf("\n%x: none, %q", id, b[id])
		}
	}
	return all
}

// waiting holds the submissions that a vault still has, after all were submitted, to the ledger: none has landed, each token that they
// spend of the vault's is unspent, and what keeps them from landing is a signature, the time, or a token of another party's that was
// spent before the vault has signed. Then their tokens are released.
func (b *balanced) waiting(t *testing.T, v *service.Vault, who string) {
	t.Helper()
	mine := map[string]bool{}
	for m, err := range v.History() {
		must.Do(t, err)
		for _, h := range m.Received {
			mine[string(h.ID)] = true
		}
	}
	for anchor, k := range kept(t, v) {
		if r, there := b.byAnchor[anchor]; there {
			t.Errorf("%s: submission %x waits, and its anchor landed as request %d", who, anchor, r.Seq)
		}
		parsed := must.Get(entry.Parse(b.genesis.ID(), 32, must.Get(k.Request.Encode())(t)))(t)
		timed, dead := k.Request.Until != 0, false
		for _, a := range parsed.Actions {
			for i := range a.Inputs {
				timed = timed || identity.Identity(a.Inputs[i].Token.Owner).Type() == script.TypeHashLock
				_, err := b.store.Token(t.Context(), a.Inputs[i].ID)
				if dead = dead || err != nil; err != nil && mine[string(a.Inputs[i].ID)] {
					t.Errorf("%s: submission %x waits, and can never land: token %x: %v", who, anchor, []byte(a.Inputs[i].ID), err)
				}
			}
			for i := range a.Outputs {
				timed = timed || identity.Identity(a.Outputs[i].Owner).Type() == script.TypeHashLock
			}
		}
		if !timed && !dead && !incomplete(parsed) {
			t.Errorf("%s: submission %x waits, and nothing keeps it from landing", who, anchor)
		}
		must.Do(t, v.Release(t.Context(), []byte(anchor)))
	}
}

// incomplete tells whether a signature of a party is missing.
func incomplete(p *entry.Parsed) bool {
	for i := range p.Actions {
		a := &p.Request.Actions[i]
		if a.Kind == token.Issue && len(a.Issuer.Signature) == 0 {
			return true
		}
		for k := range a.Spends {
			want := 1
			if t, err := script.ParseThreshold(p.Actions[i].Inputs[k].Token.Owner); err == nil {
				want = t.K()
			}
			if s := a.Spends[k].Signatures; len(s) < want || len(s[0]) == 0 {
				return true
			}
		}
	}
	return false
}

// settled reconciles an auditor's vault, which has signed all that is in the log, and holds it to the ledger.
func (b *balanced) settled(t *testing.T, a *service.AuditorService) {
	t.Helper()
	must.Get(a.Reconcile(t.Context(), b.store, func(r ledgers.Record) error {
		t.Errorf("request %d, %x: not signed by the auditor", r.Seq, r.Anchor)
		return nil
	}))(t)
	golden.Equal(t, "findings of the auditor's vault", nil, must.Get(a.Vault().Compare(t.Context(), b.store))(t))
}

// parse parses a record's request.
func (b *balanced) parse(t *testing.T, r ledgers.Record) []*action.Action {
	t.Helper()
	return must.Get(entry.Parse(b.genesis.ID(), 32, r.Request))(t).Actions
}

// landedAt is what a process was told of a request.
type landedAt struct {
	kind string
	seq  uint64
}

// readLanded parses a line "landed KIND ANCHOR SEQ." and adds it to said. It reports whether the line is whole. It
// fails the test if an anchor has two numbers.
func readLanded(t *testing.T, line string, said map[string]landedAt) bool {
	t.Helper()
	var l landedAt
	var anchor []byte
	if n, _ := fmt.Sscanf(line, "landed %s %x %d.", &l.kind, &anchor, &l.seq); n != 3 || line[len(line)-1] != '.' {
		return false
	}
	before, again := said[string(anchor)]
	switch {
	case !again:
		said[string(anchor)] = l
	case before.seq != l.seq:
		t.Errorf("anchor %x landed as request %d, and as %d", anchor, before.seq, l.seq)
	}
	return true
}

// hasAll fails the test unless the log has what was said to have landed, where it was said to be.
func (b *balanced) hasAll(t *testing.T, said map[string]landedAt) {
	t.Helper()
	for anchor, l := range said {
		if r := b.byAnchor[anchor]; r.Seq != l.seq {
			t.Errorf("%s %x was said to be request %d, and is %d (0: not there)", l.kind, anchor, l.seq, r.Seq)
		}
	}
}

// within returns a function that reports whether d has not passed since the call.
func within(d time.Duration) func() bool {
	end := time.Now().Add(d)
	return func() bool { return time.Now().Before(end) }
}
