package store

import (
	"iter"
	"maps"
	"slices"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
)

// Lookup reads the records of tokens and anchors in a store. All errors are of type
// *ledger.CorruptError.
type Lookup interface {
	// State returns the state of a token, with the status Absent if there is no record.
	State(id token.ID) (State, error)
	// Anchor returns the record of an anchor, and whether there is one.
	Anchor(anchor []byte) (Anchored, bool, error)
}

// Group decides which entries to accept when several calls share a transaction. It takes into
// account what the store has, and what earlier calls of the group change. A store writes the
// accepted entries after the group has decided on all calls, so a rejected batch leaves no trace.
type Group struct {
	look    Lookup
	genesis ledger.Genesis
	edge    ledger.Edge
	states  map[string]State // of the ids that the group has looked at
	known   map[string]Anchored
	undo    []func()
	calls   int // entries of the calls that were decided

	Entries []Encoded // accepted, in order
	State   []byte    // of the last accepted call that has one; nil keeps the stored bytes
}

// Encoded is an accepted entry in encoded form.
type Encoded struct {
	Seq   uint64
	Value []byte
	After []byte // as the function After makes it
	Index int    // among all entries of the group's calls, including rejected ones
}

// NewGroup begins a group. The parameter look reads the store, and edge is the store's.
func NewGroup(look Lookup, genesis ledger.Genesis, edge ledger.Edge) *Group {
	return &Group{look: look, genesis: genesis, edge: edge, states: map[string]State{}, known: map[string]Anchored{}}
}

// Edge returns the edge of the log after the entries that the group has accepted.
func (g *Group) Edge() ledger.Edge { return g.edge }

// Tokens yields the tokens that the accepted entries change, with their new states. It yields them
// in the order of their ids, so that a store changes neighbouring records together.
func (g *Group) Tokens() iter.Seq2[token.ID, State] {
	return func(yield func(token.ID, State) bool) {
		if len(g.Entries) == 0 {
			return
		}
		first := g.Entries[0].Seq
		for _, id := range slices.Sorted(maps.Keys(g.states)) {
			s := g.states[id]
			if (s.Created >= first || s.Spent >= first) && !yield(token.ID(id), s) {
				return
			}
		}
	}
}

// Token returns the new state of a token that the accepted entries change.
func (g *Group) Token(id token.ID) State { return g.states[string(id)] }

// Empty reports whether the group has nothing to write.
func (g *Group) Empty() bool { return len(g.Entries) == 0 && g.State == nil }

// Anchors yields the anchors of the accepted entries, sorted.
func (g *Group) Anchors() iter.Seq2[[]byte, Anchored] {
	return func(yield func([]byte, Anchored) bool) {
		for _, anchor := range slices.Sorted(maps.Keys(g.known)) {
			if !yield([]byte(anchor), g.known[anchor]) {
				return
			}
		}
	}
}

// Decide decides on one call and records rejections in the call. If it returns an error, which is
// of type *ledger.CorruptError, the store must not write anything of the group.
func (g *Group) Decide(c *Call) error {
	mark, before, edge := len(g.undo), len(g.Entries), g.edge
	index := g.calls
	g.calls += len(c.entries)
	for i := range c.entries {
		if c.each && c.rejected[i] != nil {
			continue
		}
		e := &c.entries[i]
		added, err := g.entry(e, i)
		switch _, corrupt := err.(*ledger.CorruptError); {
		case corrupt:
			return err
		case err != nil && !c.each:
			g.rewind(mark)
			g.Entries, g.edge = g.Entries[:before], edge
			c.err = err
			return nil
		case err != nil:
			c.rejected[i] = err
		case added:
			commitment, nodes := g.edge.Append(e, c.encoded[i])
			if err := g.edge.CheckForks(g.genesis); err != nil {
				return err
			}
			g.Entries = append(g.Entries, Encoded{g.edge.Last(), c.encoded[i], After(commitment, nodes), index + i})
		}
	}
	if c.state != nil {
		g.State = c.state
	}
	return nil
}

// Decide implements ledger.Store.Decide. The call c must come from NewCall with each = true. The
// parameter look reads the store, and edge is the store's.
func Decide(look Lookup, genesis ledger.Genesis, edge ledger.Edge, c *Call) (ledger.Decision, error) {
	g := NewGroup(look, genesis, edge)
	if err := g.Decide(c); err != nil {
		return ledger.Decision{}, err
	}
	return ledger.Decision{Rejected: c.rejected, After: g.edge.State(nil)}, nil
}

// PolicyAfter returns the version of the policy that is current after an entry.
func PolicyAfter(e *ledger.Entry) uint64 {
	if e.Update {
		return e.Policy + 1
	}
	return e.Policy
}

// entry decides on the next entry of the log, and reports whether it is added to the ledger.
func (g *Group) entry(e *ledger.Entry, action int) (added bool, err error) {
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
	case found && a.Digest == e.Digest:
		return false, nil
	case found:
		return reject("anchor", -1, zkbench.ErrAnchorConflict)
	}
	if err := g.edge.CheckEntry(e); err != nil {
		check := "policy"
		if _, late := err.(*ledger.TimeError); late {
			check = "time"
		}
		return reject(check, -1, err)
	}
	seq := g.edge.Last() + 1
	for i, id := range e.Spends {
		s, err := g.state(id)
		if err == nil {
			err = s.Unspent()
		}
		if err != nil {
			return reject("spend", i, err)
		}
		g.setState(id, State{Status: Spent, Created: s.Created, Spent: seq})
	}
	for i, c := range e.Creates {
		s, err := g.state(c.ID)
		if err == nil && s.Status != Absent {
			err = ledger.ErrExists
		}
		if err != nil {
			return reject("create", i, err)
		}
		g.setState(c.ID, State{Status: Unspent, Created: seq, Token: c.Token})
	}
	g.known[string(e.Anchor)] = Anchored{seq, e.Digest}
	g.undo = append(g.undo, func() { delete(g.known, string(e.Anchor)) })
	return true, nil
}

func (g *Group) anchor(anchor []byte) (Anchored, bool, error) {
	if a, found := g.known[string(anchor)]; found {
		return a, true, nil
	}
	return g.look.Anchor(anchor)
}

func (g *Group) state(id token.ID) (State, error) {
	if s, ok := g.states[string(id)]; ok {
		return s, nil
	}
	s, err := g.look.State(id)
	if err == nil && s.Status != Absent {
		g.states[string(id)] = s
	}
	return s, err
}

func (g *Group) setState(id token.ID, s State) {
	old, had := g.states[string(id)]
	g.states[string(id)] = s
	g.undo = append(g.undo, func() {
		if delete(g.states, string(id)); had {
			g.states[string(id)] = old
		}
	})
}

// rewind undoes the changes since there were mark steps in g.undo.
func (g *Group) rewind(mark int) {
	for len(g.undo) > mark {
		last := len(g.undo) - 1
		g.undo[last]()
		g.undo = g.undo[:last]
	}
}
