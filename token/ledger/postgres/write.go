package postgres

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/store"
)

// stage is what a transaction writes if all its entries are accepted, except what depends on the
// entries' positions in the log. The server gets it before the lock is taken, and keeps it in
// portals. Once the lock is held, only numbers follow: for each row the sequence number, 0 if its
// entry is not accepted, and the checksum.
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

// write adds the statements that write a group to an exchange. before is the last batch before the
// group.
func (s *stage) write(x *exchange, sql *statements, g *store.Group, before store.Batch) error {
	if len(g.Batches) > 0 {
		if err := s.batches(x, sql, g, before); err != nil {
			return err
		}
	}
	if g.State == nil {
		return nil
	}
	return x.change(1, sql.updateState, g.State, stateSum(g.State))
}

// batches adds the statements that write the batches of a group.
func (s *stage) batches(x *exchange, sql *statements, g *store.Group, before store.Batch) error {
	seqs := make([]uint64, len(s.encoded))
	for _, e := range g.Entries {
		seqs[e.Index] = e.Seq
	}
	var n numbers
	for i, seq := range seqs {
		n.add(logSeq, int64(seq))
		n.addSum(logSum, seq, func() int32 { return sum(store.TableLog, store.SeqKey(seq), s.encoded[i]) })
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
			if g.Token(p.key).Created <= before.Last {
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
	if err := writeChain(x, sql, g); err != nil {
		return err
	}
	h := head{format, g.Tail()}
	return x.change(1, sql.updateHead, int64(h.First), int64(h.Last), h.Hash[:], int64(h.Policy), ledger.AppendTime(nil, h.Time), h.sum(), int64(before.Last))
}

func writeChain(x *exchange, sql *statements, g *store.Group) error {
	var hashes, times [][]byte
	var lasts, firsts, policies []int64
	var sums []int32
	for _, b := range g.Batches {
		lasts, firsts, hashes = append(lasts, int64(b.Last)), append(firsts, int64(b.First)), append(hashes, b.Hash[:])
		policies, times = append(policies, int64(b.Policy)), append(times, ledger.AppendTime(nil, b.Time))
		sums = append(sums, sum(store.TableChain, store.SeqKey(b.Last), b.Append(nil)))
	}
	return x.change(len(lasts), sql.insertChain, lasts, firsts, hashes, policies, times, sums)
}

// numbers are lists that the statements in portals read from settings of the transaction.
type numbers [settings][]byte

const (
	logSeq = iota
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
func array(list int) string {
	return "nullif(current_setting('" + setting(list) + "', true), '')::bigint[]"
}

func (n *numbers) add(list int, value int64) {
	n[list] = strconv.AppendInt(append(n[list], ','), value, 10)
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
