package postgres

import (
	"bytes"
	"encoding/hex"
	"slices"
	"strconv"

	"github.com/zkbench/zkbench/token/ledger/store"
)

// stage is what a transaction writes if all its entries are accepted, except what depends on the
// entries' positions in the log. The server gets it before the lock is taken, and keeps it in
// portals. Once the lock is held, only short lists follow: for each row the sequence number, 0 if its
// entry is not accepted, and the checksum, and for a row of the log what follows the entry there.
//
// The constraints of the tables and the numbers of changed rows check the group's decision again.
// If they disagree with it, the ledger contradicts itself.
type stage struct {
	encoded [][]byte // by index; nil is rejected
	anchors []part   // the lists are sorted, so that neighbouring rows change together
	creates []part
	spends  []part
}

// part is what an entry contributes to one row.
type part struct {
	index      int // of the entry among those of all calls
	key, value []byte
}

func newStage(calls []*store.Call) *stage {
	s := new(stage)
	for _, c := range calls {
		for e, encoded := range c.Encoded() {
			i := len(s.encoded)
			s.encoded = append(s.encoded, encoded)
			if encoded == nil {
				continue
			}
			s.anchors = append(s.anchors, part{i, e.Anchor, e.Digest[:]})
			for _, id := range e.Spends {
				s.spends = append(s.spends, part{i, id, nil})
			}
			for _, c := range e.Creates {
				s.creates = append(s.creates, part{i, c.ID, c.Token})
			}
		}
	}
	for _, parts := range [][]part{s.anchors, s.creates, s.spends} {
		slices.SortStableFunc(parts, func(a, b part) int { return bytes.Compare(a.key, b.key) })
	}
	return s
}

// Portals, by the tables that their statements write.
const (
	portalTokens  = store.TableTokens
	portalSpends  = "spends" // in tokens too
	portalSpent   = store.TableSpent
	portalAnchors = store.TableAnchors
	portalLog     = store.TableLog
)

// bind sends the stage to the server.
func (s *stage) bind(x *exchange, sql *statements) error {
	column := func(parts []part, of func(p part) []byte) [][]byte {
		all := make([][]byte, len(parts))
		for i, p := range parts {
			all[i] = of(p)
		}
		return all
	}
	key, value := func(p part) []byte { return p.key }, func(p part) []byte { return p.value }
	for _, b := range []struct {
		portal, text string
		args         []any
	}{
		{portalLog, sql.insertLog, []any{s.encoded}},
		{portalAnchors, sql.insertAnchors, []any{column(s.anchors, key), column(s.anchors, value)}},
		{portalTokens, sql.insertTokens, []any{column(s.creates, key), column(s.creates, value)}},
		{portalSpends, sql.spendTokens, []any{column(s.spends, key)}},
		{portalSpent, sql.insertSpent, []any{column(s.spends, key)}},
	} {
		if len(b.args[0].([][]byte)) == 0 {
			continue // nor is it executed
		}
		if err := x.bind(b.portal, b.text, b.args...); err != nil {
			return err
		}
	}
	return nil
}

// write adds the statements that write a group to an exchange. before is the number of the last record before
// the group.
func (s *stage) write(x *exchange, sql *statements, g *store.Group, before uint64) error {
	if len(g.Entries) > 0 {
		if err := s.entries(x, sql, g, before); err != nil {
			return err
		}
	}
	if g.State == nil {
		return nil
	}
	return x.change(1, sql.updateState, g.State, stateSum(g.State))
}

// entries adds the statements that write the entries of a group, and the edge after them.
func (s *stage) entries(x *exchange, sql *statements, g *store.Group, before uint64) error {
	seqs, afters := make([]uint64, len(s.encoded)), make([][]byte, len(s.encoded))
	for _, e := range g.Entries {
		seqs[e.Index], afters[e.Index] = e.Seq, e.After
	}
	var n numbers
	for i, seq := range seqs {
		n.add(logSeq, int64(seq))
		n.addBytes(logAfter, afters[i])
		n.addSum(logSum, seq, func() int32 { return sum(store.TableLog, store.SeqKey(seq), append(s.encoded[i], afters[i]...)) })
	}
	for _, p := range s.anchors {
		seq := seqs[p.index]
		n.add(anchorSeq, int64(seq))
		n.addSum(anchorSum, seq, func() int32 {
			a := store.Anchored{Seq: seq, Digest: [32]byte(p.value)}
			return sum(store.TableAnchors, p.key, a.Append(nil))
		})
	}
	created, spent, old := 0, 0, 0
	tokenSum := func(p part) int32 {
		state := g.Token(p.key)
		return sum(store.TableTokens, p.key, state.Append(nil))
	}
	for _, p := range s.creates {
		seq, spender := seqs[p.index], uint64(0)
		if seq > 0 {
			created++
			spender = g.Token(p.key).Spent
		}
		n.add(createSeq, int64(seq))
		n.add(createSpent, int64(spender))
		n.addSum(createSum, seq, func() int32 { return tokenSum(p) })
	}
	for _, p := range s.spends {
		seq := seqs[p.index]
		if seq > 0 {
			spent++
			if g.Token(p.key).Created <= before {
				old++
			}
		}
		n.add(spendSeq, int64(seq))
		n.addSum(spendSum, seq, func() int32 { return sum(store.TableSpent, p.key, store.SeqKey(seq)) })
		n.addSum(spendTokenSum, seq, func() int32 { return tokenSum(p) })
	}
	if err := x.query(sql.numbers, n.settings(), nil, nil); err != nil {
		return err
	}
	x.execute(created, portalTokens, sql.insertTokens)
	x.execute(old, portalSpends, sql.spendTokens)
	x.execute(spent, portalSpent, sql.insertSpent)
	x.execute(len(g.Entries), portalAnchors, sql.insertAnchors)
	x.execute(len(g.Entries), portalLog, sql.insertLog)
	edge := g.Edge()
	encoded := edge.AppendTo(nil)
	return x.change(1, sql.updateHead, int64(edge.Last()), encoded, headSum(encoded), int64(before))
}

// numbers are lists that the statements in portals read from settings of the transaction.
type numbers [settings][]byte

const (
	logSeq   = iota
	logAfter // of bytes
	logSum
	anchorSeq
	anchorSum
	createSeq
	createSpent // by the entry with this number; 0 if unspent
	createSum
	spendSeq
	spendSum
	spendTokenSum
	settings
)

func setting(list int) string { return "zkbench.list" + strconv.Itoa(list) }

// array returns the SQL that reads a list. The setting is set only after the statement was planned,
// and is null until then.
func array(list int) string { return arrayOf(list, "bigint") }

// bytesArray is array for a list of bytes.
func bytesArray(list int) string { return arrayOf(list, "bytea") }

func arrayOf(list int, element string) string {
	return "nullif(current_setting('" + setting(list) + "', true), '')::" + element + "[]"
}

func (n *numbers) add(list int, value int64) {
	n[list] = strconv.AppendInt(append(n[list], ','), value, 10)
}

// addBytes adds bytes to a list, in the form "\\x0123" that an array of bytea is read from.
func (n *numbers) addBytes(list int, value []byte) {
	n[list] = append(hex.AppendEncode(append(n[list], `,"\\x`...), value), '"')
}

// addSum adds a checksum to a list, or 0 if the row's entry is not accepted.
func (n *numbers) addSum(list int, seq uint64, sum func() int32) {
	if seq == 0 {
		n.add(list, 0)
	} else {
		n.add(list, int64(sum()))
	}
}

// settings returns the arguments of statements.numbers.
func (n *numbers) settings() []any {
	var names, lists []string
	for i, list := range n {
		names = append(names, setting(i))
		lists = append(lists, "{"+string(bytes.TrimPrefix(list, []byte(",")))+"}")
	}
	return []any{names, lists}
}
