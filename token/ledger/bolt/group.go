package bolt

import (
	"maps"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
)

// group decides on the batches of one transaction against the ledger and what
// the batches before them do to it, and then writes what was accepted. Nothing
// is written before all is decided, so a rejected batch leaves no trace.
type group struct {
	tokens, spent, anchors, log, chain *bbolt.Bucket

	tail    link
	states  map[string]state // of the ids that the group has looked at
	known   map[string]anchored
	entries []sealed // accepted
	links   []link
	undo    []func()
}

// sealed is an accepted entry in its encoding.
type sealed struct {
	seq   uint64
	value []byte
}

func newGroup(tx *bbolt.Tx, tail link) *group {
	bucket := func(name string) *bbolt.Bucket { return tx.Bucket([]byte(name)) }
	return &group{
		tokens: bucket(bucketTokens), spent: bucket(bucketSpent), anchors: bucket(bucketAnchors),
		log: bucket(bucketLog), chain: bucket(bucketChain),
		tail: tail, states: map[string]state{}, known: map[string]anchored{},
	}
}

// state returns the state of a token.
func (g *group) state(id token.ID) (state, error) {
	if s, ok := g.states[string(id)]; ok {
		return s, nil
	}
	s, err := unsealState(id, g.tokens.Get(id), g.spent.Get(id))
	if err == nil && s.status != absent {
		g.states[string(id)] = s
	}
	return s, err
}

func (g *group) setState(id token.ID, s state) {
	old, had := g.states[string(id)]
	g.states[string(id)] = s
	g.undo = append(g.undo, func() {
		if delete(g.states, string(id)); had {
			g.states[string(id)] = old
		}
	})
}

// rewind takes back what was set since there were mark steps.
func (g *group) rewind(mark int) {
	for len(g.undo) > mark {
		last := len(g.undo) - 1
		g.undo[last]()
		g.undo = g.undo[:last]
	}
}

// batch decides on one batch. With each, rejections are put there by index and
// the other entries stand; without, the first rejection is the error and
// nothing stands. A *ledger.CorruptError is always the error.
func (g *group) batch(j *job) error {
	mark, before, tail := len(g.undo), len(g.entries), g.tail
	l := ledger.NewLink(tail.hash, tail.last+1)
	seq := tail.last
	for i := range j.entries {
		if j.each && j.rejected[i] != nil {
			continue
		}
		added, err := g.entry(&j.entries[i], i, seq+1)
		switch _, corrupt := err.(*ledger.CorruptError); {
		case corrupt, err != nil && !j.each:
			g.rewind(mark)
			g.entries = g.entries[:before]
			return err
		case err != nil:
			j.rejected[i] = err
		case added:
			seq++
			l.Add(j.encoded[i])
			g.entries = append(g.entries, sealed{seq, j.encoded[i]})
		}
	}
	if seq > tail.last {
		g.tail = link{first: tail.last + 1, last: seq, hash: l.Sum()}
		g.links = append(g.links, g.tail)
	}
	return nil
}

// entry decides on one entry, which would have the sequence number seq, and
// says whether it adds it to the ledger.
func (g *group) entry(e *ledger.Entry, action int, seq uint64) (added bool, err error) {
	mark := len(g.undo)
	reject := func(check string, index int, cause error) (bool, error) {
		g.rewind(mark)
		if _, corrupt := cause.(*ledger.CorruptError); corrupt {
			return false, cause
		}
		return false, &zkbench.CheckError{Check: check, Action: action, Index: index, Err: cause}
	}
	a, found, err := g.anchor(e.Anchor)
	switch {
	case err != nil:
		return reject("anchor", -1, err)
	case found && a.digest == e.Digest:
		return false, nil
	case found:
		return reject("anchor", -1, zkbench.ErrAnchorConflict)
	}
	for i, id := range e.Spends {
		s, err := g.state(id)
		switch {
		case err != nil:
		case s.status == absent:
			err = ledger.ErrNotFound
		case s.status == spent:
			err = zkbench.ErrSpent
		}
		if err != nil {
			return reject("spend", i, err)
		}
		g.setState(id, state{status: spent, created: s.created, spent: seq})
	}
	for i, c := range e.Creates {
		s, err := g.state(c.ID)
		if err == nil && s.status != absent {
			err = ledger.ErrExists
		}
		if err != nil {
			return reject("create", i, err)
		}
		g.setState(c.ID, state{status: unspent, created: seq, token: c.Token})
	}
	g.known[string(e.Anchor)] = anchored{seq, e.Digest}
	g.undo = append(g.undo, func() { delete(g.known, string(e.Anchor)) })
	return true, nil
}

func (g *group) anchor(anchor []byte) (a anchored, found bool, err error) {
	if a, found = g.known[string(anchor)]; found {
		return a, true, nil
	}
	value := g.anchors.Get(anchor)
	if value == nil {
		return a, false, nil
	}
	a, err = unsealAnchored(anchor, value)
	return a, err == nil, err
}

// write puts what was accepted into the buckets, keys in order, so that a
// page's changes come together.
func (g *group) write() error {
	first := g.links[0].first
	for _, id := range slices.Sorted(maps.Keys(g.states)) {
		s, key := g.states[id], []byte(id)
		if s.created < first && s.spent < first {
			continue // looked at, not changed
		}
		if err := g.tokens.Put(key, s.seal(key)); err != nil {
			return err
		}
		if s.status != spent {
			continue
		}
		if err := g.spent.Put(key, seal(bucketSpent, key, seqKey(s.spent))); err != nil {
			return err
		}
	}
	for _, anchor := range slices.Sorted(maps.Keys(g.known)) {
		a, key := g.known[anchor], []byte(anchor)
		if err := g.anchors.Put(key, a.seal(key)); err != nil {
			return err
		}
	}
	for _, e := range g.entries {
		key := seqKey(e.seq)
		if err := g.log.Put(key, seal(bucketLog, key, e.value)); err != nil {
			return err
		}
	}
	for i := range g.links {
		if err := g.chain.Put(seqKey(g.links[i].last), g.links[i].seal()); err != nil {
			return err
		}
	}
	return nil
}
