// Package ledgertest tests implementations of ledger.Store, ledger.Reader and ledger.Submitter
// against what package ledger documents. If you implement one of these interfaces, call Contract,
// Reader or Submitter in a test. All else in this package is for the tests of this module.
package ledgertest

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/state"
)

// model is the contract in its simplest form: maps, which are copied for every batch.
type model struct {
	tokens map[string]string // unspent
	spent  map[string]bool
	anchor map[string][32]byte
	log    []ledger.Entry
	leaves [][]byte  // of the log's tree
	policy uint64    // the current version
	digest byte      // the first of the current policy's digest
	time   time.Time // of the last entry
	state  string    // State.Bytes
}

func newModel() *model {
	genesis := ledger.Genesis{}
	return &model{tokens: map[string]string{}, spent: map[string]bool{}, anchor: map[string][32]byte{}, leaves: [][]byte{genesis.Append(nil)}}
}

func (m *model) clone() *model {
	return &model{maps.Clone(m.tokens), maps.Clone(m.spent), maps.Clone(m.anchor), slices.Clone(m.log), slices.Clone(m.leaves), m.policy, m.digest, m.time, m.state}
}

// verdict is the expected outcome for an entry: check, index and cause, or the zero value if it is
// accepted.
type verdict struct {
	check string
	index int
	cause error
}

func (m *model) apply(e *ledger.Entry) (verdict, *model) {
	if d, ok := m.anchor[string(e.Anchor)]; ok {
		if d == e.Digest {
			return verdict{}, m
		}
		return verdict{"anchor", -1, zkbench.ErrAnchorConflict}, m
	}
	if e.Policy != m.policy || !e.Update && e.PolicyDigest[0] != m.digest {
		return verdict{"policy", -1, zkbench.ErrPolicy}, m
	}
	if e.Time.Before(m.time) {
		return verdict{"time", -1, zkbench.ErrPolicy}, m
	}
	n := m.clone()
	for i, id := range e.Spends {
		if _, ok := n.tokens[string(id)]; !ok {
			if n.spent[string(id)] {
				return verdict{"spend", i, zkbench.ErrSpent}, m
			}
			return verdict{"spend", i, ledger.ErrNotFound}, m
		}
		delete(n.tokens, string(id))
		n.spent[string(id)] = true
	}
	for i, c := range e.Creates {
		if _, ok := n.tokens[string(c.ID)]; ok || n.spent[string(c.ID)] {
			return verdict{"create", i, ledger.ErrExists}, m
		}
		n.tokens[string(c.ID)] = string(c.Token)
	}
	n.anchor[string(e.Anchor)] = e.Digest
	n.log, n.time = append(n.log, *e), e.Time
	if e.Update {
		n.policy, n.digest = n.policy+1, e.PolicyDigest[0]
	}
	commitment := n.commitment()
	n.leaves = append(n.leaves, append(e.Append(nil), commitment[:]...))
	return verdict{}, n
}

func (v verdict) match(action int, err error) error {
	if v.cause == nil {
		if err != nil {
			return fmt.Errorf("entry %d rejected: %w", action, err)
		}
		return nil
	}
	if c, ok := errors.AsType[*zkbench.CheckError](err); !ok || c.Check != v.check || c.Action != action || c.Index != v.index || !errors.Is(err, v.cause) {
		return fmt.Errorf("entry %d: got %v, want %s %d: %v", action, err, v.check, v.index, v.cause)
	}
	return nil
}

// drawID draws one of a few ids, so that entries conflict.
func drawID(t *rapid.T) token.ID {
	return token.ID(fmt.Sprintf("id %d", rapid.IntRange(0, 24).Draw(t, "id")))
}

func drawAnchor(t *rapid.T) []byte {
	return fmt.Appendf(nil, "anchor %d", rapid.IntRange(0, 24).Draw(t, "anchor"))
}

// drawEntry draws an entry. Most entries spend what is unspent and create what is new.
func (m *model) drawEntry(t *rapid.T) ledger.Entry {
	e := ledger.Entry{
		Anchor: drawAnchor(t), Time: m.time.Add(time.Duration(rapid.Int64Range(0, 2).Draw(t, "later"))),
		Digest:  sha256.Sum256([]byte{rapid.Byte().Draw(t, "digest") & 1}),
		Request: rapid.SliceOfN(rapid.Byte(), 0, 2000).Draw(t, "request"),
		Policy:  m.policy, Update: rapid.IntRange(0, 5).Draw(t, "update") == 0,
	}
	if rapid.IntRange(0, 9).Draw(t, "another policy") == 0 {
		e.Policy = rapid.Uint64Range(0, m.policy+1).Draw(t, "policy")
	}
	if e.PolicyDigest[0] = m.digest; e.Update || rapid.IntRange(0, 19).Draw(t, "another digest") == 0 {
		e.PolicyDigest[0] = rapid.Byte().Draw(t, "policy digest")
	}
	if rapid.IntRange(0, 9).Draw(t, "another time") == 0 {
		e.Time = m.time.Add(time.Duration(rapid.Int64().Draw(t, "time")))
	}
	good := slices.Sorted(maps.Keys(m.tokens))
	for range rapid.IntRange(0, 3).Draw(t, "spends") {
		if len(good) > 0 && rapid.IntRange(0, 9).Draw(t, "good") > 0 {
			e.Spends = append(e.Spends, token.ID(rapid.SampledFrom(good).Draw(t, "unspent")))
		} else {
			e.Spends = append(e.Spends, drawID(t))
		}
	}
	for range rapid.IntRange(0, 3).Draw(t, "creates") {
		id := drawID(t)
		e.Creates = append(e.Creates, ledger.Created{ID: id, Token: fmt.Appendf(nil, "%s of %s", id, e.Anchor)})
	}
	return e
}

// drawBatch draws a batch whose entries may depend on each other, be applied already, or conflict.
func (m *model) drawBatch(t *rapid.T) []ledger.Entry {
	var batch []ledger.Entry
	at := m
	for range rapid.IntRange(0, 4).Draw(t, "entries") {
		var e ledger.Entry
		if len(at.log) > 0 && rapid.IntRange(0, 4).Draw(t, "replay") == 0 {
			e = rapid.SampledFrom(at.log).Draw(t, "entry")
		} else {
			e = at.drawEntry(t)
		}
		batch = append(batch, e)
		_, at = at.apply(&e)
	}
	return batch
}

// randomBatches compares a ledger with a model in memory, over random batches, replays, double
// spends, conflicts and reopenings.
func randomBatches(test *testing.T, s Stores) {
	rapid.Check(test, func(t *rapid.T) {
		ctx := context.Background()
		place := s.Place(test)
		l, err := s.Create(test, place, ledger.Genesis{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
		}()
		m := newModel()
		// apply is what call, which applies the batch or nothing of it, must do.
		apply := func(t *rapid.T, call func(batch []ledger.Entry) error) (applied bool) {
			batch := m.drawBatch(t)
			after, want, action := m, verdict{}, 0
			for i := range batch {
				if want, after = after.apply(&batch[i]); want.cause != nil {
					after, action = m, i
					break
				}
			}
			if err := want.match(action, call(batch)); err != nil {
				t.Fatal(err)
			}
			m = after
			return want.cause == nil
		}
		each := func(t *rapid.T, m *model, batch []ledger.Entry, rejected []error, err error) *model {
			if err != nil || len(rejected) != len(batch) {
				t.Fatalf("%d verdicts on %d entries, %v", len(rejected), len(batch), err)
			}
			for i := range batch {
				var want verdict
				want, m = m.apply(&batch[i])
				if err := want.match(i, rejected[i]); err != nil {
					t.Fatal(err)
				}
			}
			return m
		}
		t.Repeat(map[string]func(*rapid.T){
			"apply": func(t *rapid.T) {
				apply(t, func(batch []ledger.Entry) error { return l.Apply(ctx, batch) })
			},
			"apply state": func(t *rapid.T) {
				var state []byte // or nil, which leaves what is there
				if rapid.IntRange(0, 3).Draw(t, "state") > 0 {
					state = rapid.SliceOfN(rapid.Byte(), 0, 2000).Draw(t, "bytes")
				}
				if apply(t, func(batch []ledger.Entry) error { return l.ApplyState(ctx, batch, state) }) && state != nil {
					m = m.clone()
					m.state = string(state)
				}
			},
			"apply each": func(t *rapid.T) {
				batch := m.drawBatch(t)
				rejected, err := l.ApplyEach(ctx, batch)
				m = each(t, m, batch, rejected, err)
			},
			"decide": func(t *rapid.T) { // which leaves the model as it is
				batch := m.drawBatch(t)
				d, err := l.Decide(ctx, batch)
				if after := each(t, m, batch, d.Rejected, err); d.After.Root != treeHash(after.leaves) || d.After.Commitment != after.commitment() {
					t.Fatalf("a batch that would lead to root %x, want %x, or another commitment", d.After.Root, treeHash(after.leaves))
				}
			},
			"reopen": func(t *rapid.T) {
				if err := l.Close(); err != nil {
					t.Fatal(err)
				}
				if l, err = s.Open(test, place); err != nil {
					t.Fatal(err)
				}
			},
			"verify": func(t *rapid.T) {
				if _, err := l.Verify(ctx, nil); err != nil {
					t.Fatal(err)
				}
			},
			"": func(t *rapid.T) { m.compare(t, l) },
		})
	})
}

// commitment commits to the state of the model, all of it anew.
func (m *model) commitment() [32]byte {
	var sum state.Sum
	for _, e := range m.log {
		sum.Add(state.Record{Kind: state.Anchor, Key: e.Anchor, Value: e.Digest[:]})
		for _, c := range e.Creates {
			sum.Add(state.Record{Kind: state.Used, Key: c.ID, Value: state.Digest(c.Token)})
		}
	}
	for id := range m.tokens {
		sum.Add(state.Record{Kind: state.Unspent, Key: []byte(id)})
	}
	policy := append(binary.BigEndian.AppendUint64(nil, m.policy), m.digest)
	sum.Add(state.Record{Kind: state.Policy, Value: append(policy, make([]byte, 63)...)})
	if len(m.log) > 0 {
		sum.Add(state.Record{Kind: state.Time, Value: ledger.AppendTime(nil, m.time)})
	}
	return sum.Commitment()
}

// treeHash is the hash of a tree as RFC 6962, section 2.1, defines it.
func treeHash(leaves [][]byte) [32]byte {
	if len(leaves) == 1 {
		return sha256.Sum256(append([]byte{0}, leaves[0]...))
	}
	k := 1
	for 2*k < len(leaves) {
		k *= 2
	}
	left, right := treeHash(leaves[:k]), treeHash(leaves[k:])
	return sha256.Sum256(append(append([]byte{1}, left[:]...), right[:]...))
}

// compare queries the ledger for everything that the model has, and for what it does not have.
func (m *model) compare(t *rapid.T, l ledger.Store) {
	ctx := context.Background()
	var ids []token.ID // some of them twice
	for i := range 50 {
		ids = append(ids, token.ID(fmt.Sprintf("id %d", i/2*7%25)))
	}
	all, err := l.Tokens(ctx, ids)
	if err != nil || len(all) != len(ids) {
		t.Fatalf("%d tokens of %d: %v", len(all), len(ids), err)
	}
	for i, id := range ids {
		if got, err := l.Token(ctx, id); string(got) != string(all[i].Token) || !errors.Is(err, all[i].Err) || (err == nil) != (all[i].Err == nil) {
			t.Fatalf("%s: %q, %v alone; %q, %v among others", id, got, err, all[i].Token, all[i].Err)
		}
	}
	for i := range 25 {
		id := token.ID(fmt.Sprintf("id %d", i))
		got, err := l.Token(ctx, id)
		want, ok := m.tokens[string(id)]
		switch {
		case ok && (err != nil || string(got) != want):
			t.Fatalf("%s: %q, %v; want %q", id, got, err, want)
		case !ok && m.spent[string(id)] && !errors.Is(err, zkbench.ErrSpent):
			t.Fatalf("%s: %v, want %v", id, err, zkbench.ErrSpent)
		case !ok && !m.spent[string(id)] && !errors.Is(err, ledger.ErrNotFound):
			t.Fatalf("%s: %v, want %v", id, err, ledger.ErrNotFound)
		}
		anchor := fmt.Appendf(nil, "anchor %d", i)
		wantDigest, wantOK := m.anchor[string(anchor)]
		r, ok, err := l.Record(ctx, anchor)
		if err != nil || ok != wantOK || ok && (r.Digest != wantDigest || !cmp.Equal(r.Entry, m.log[r.Seq-1], cmpopts.EquateEmpty())) {
			t.Fatalf("%s: record %+v, %v, %v; want %v", anchor, r, ok, err, wantOK)
		}
	}
	state, err := l.State(ctx)
	if state.Root != treeHash(m.leaves) || state.Commitment != m.commitment() {
		t.Fatalf("root %x and commitment %x, want %x and %x", state.Root, state.Commitment, treeHash(m.leaves), m.commitment())
	}
	if err != nil || state.Last != uint64(len(m.log)) || state.Policy != m.policy || state.Time != m.time.UTC() || string(state.Bytes) != m.state {
		t.Fatalf("state %+v, %v; want that after %d entries, policy %d, %v, bytes %q", state, err, len(m.log), m.policy, m.time, m.state)
	}
	from := rapid.IntRange(0, len(m.log)+2).Draw(t, "from")
	var got []ledger.Entry
	next := uint64(max(from, 1))
	for r, err := range l.Log(ctx, uint64(from)) {
		if err != nil || r.Seq != next {
			t.Fatalf("record %d, want %d: %v", r.Seq, next, err)
		}
		got = append(got, r.Entry)
		next++
	}
	want := m.log[min(max(from, 1)-1, len(m.log)):]
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("log from %d (-want +got):\n%s", from, diff)
	}
}
