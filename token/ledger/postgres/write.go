package postgres

import (
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/store"
)

// writer makes the round trip that writes what a group accepted, a statement for
// each table. The constraints of the tables, and the numbers of rows that change,
// stand behind the group's decision: where they disagree, the ledger contradicts
// itself.
type writer struct {
	batch pgx.Batch
	sql   *statements
}

// queue adds a statement that changes so many rows.
func (w *writer) queue(rows int, text string, args ...any) {
	if rows == 0 {
		return
	}
	w.batch.Queue(text, args...).Exec(func(tag pgconn.CommandTag) error {
		if n := tag.RowsAffected(); n != int64(rows) {
			return ledger.Corruptf("database", "%d rows changed, want %d: %s", n, rows, text)
		}
		return nil
	})
}

// group adds all of a group, which comes after the batch before.
func (w *writer) group(g *store.Group, before store.Batch) {
	w.tokens(g, before)
	w.anchors(g)
	w.log(g)
	w.chain(g)
	h := head{format, g.Tail()}
	w.queue(1, w.sql.updateHead, int64(h.First), int64(h.Last), h.Hash[:], h.sum(), int64(before.Last))
}

func (w *writer) tokens(g *store.Group, before store.Batch) {
	// Of tokens that are created; of those that were there and are spent; and of
	// all that are spent.
	var ids, oldIDs, spentIDs, tokens [][]byte
	var created, spent, oldSpent, spentBy []int64
	var sums, oldSums, spentSums []int32
	for id, s := range g.Tokens() {
		crc := sum(store.TableTokens, id, s.Append(nil))
		if s.Created > before.Last {
			ids, tokens, sums = append(ids, id), append(tokens, s.Token), append(sums, crc)
			created, spent = append(created, int64(s.Created)), append(spent, int64(s.Spent))
		} else {
			oldIDs, oldSpent, oldSums = append(oldIDs, id), append(oldSpent, int64(s.Spent)), append(oldSums, crc)
		}
		if s.Status == store.Spent {
			spentIDs, spentBy = append(spentIDs, id), append(spentBy, int64(s.Spent))
			spentSums = append(spentSums, sum(store.TableSpent, id, store.SeqKey(s.Spent)))
		}
	}
	w.queue(len(ids), w.sql.insertTokens, ids, created, spent, tokens, sums)
	w.queue(len(oldIDs), w.sql.spendTokens, oldIDs, oldSpent, oldSums)
	w.queue(len(spentIDs), w.sql.insertSpent, spentIDs, spentBy, spentSums)
}

func (w *writer) anchors(g *store.Group) {
	var anchors, digests [][]byte
	var seqs []int64
	var sums []int32
	for anchor, a := range g.Anchors() {
		anchors, digests = append(anchors, anchor), append(digests, a.Digest[:])
		seqs, sums = append(seqs, int64(a.Seq)), append(sums, sum(store.TableAnchors, anchor, a.Append(nil)))
	}
	w.queue(len(anchors), w.sql.insertAnchors, anchors, seqs, digests, sums)
}

func (w *writer) log(g *store.Group) {
	var entries [][]byte
	var seqs []int64
	var sums []int32
	for _, e := range g.Entries {
		seqs, entries = append(seqs, int64(e.Seq)), append(entries, e.Value)
		sums = append(sums, sum(store.TableLog, store.SeqKey(e.Seq), e.Value))
	}
	w.queue(len(entries), w.sql.insertLog, seqs, entries, sums)
}

func (w *writer) chain(g *store.Group) {
	var hashes [][]byte
	var lasts, firsts []int64
	var sums []int32
	for _, b := range g.Batches {
		lasts, firsts, hashes = append(lasts, int64(b.Last)), append(firsts, int64(b.First)), append(hashes, b.Hash[:])
		sums = append(sums, sum(store.TableChain, store.SeqKey(b.Last), b.Append(nil)))
	}
	w.queue(len(lasts), w.sql.insertChain, lasts, firsts, hashes, sums)
}
