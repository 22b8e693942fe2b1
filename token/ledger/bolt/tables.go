package bolt

import (
	"context"
	"encoding/binary"
	"errors"

	"go.etcd.io/bbolt"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/internal/boltfile"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/store"
)

// tables gives access to the buckets of a ledger in one transaction.
type tables struct {
	tx                          *bbolt.Tx
	genesis                     ledger.Genesis
	tokens, spent, anchors, log *bbolt.Bucket
}

func tablesOf(tx *bbolt.Tx, genesis ledger.Genesis) *tables {
	bucket := func(name string) *bbolt.Bucket { return tx.Bucket([]byte(name)) }
	return &tables{
		tx: tx, genesis: genesis,
		tokens: bucket(store.TableTokens), spent: bucket(store.TableSpent), anchors: bucket(store.TableAnchors),
		log: bucket(store.TableLog),
	}
}

// Genesis implements store.Snapshot.
func (t *tables) Genesis() ledger.Genesis { return t.genesis }

// State implements store.Lookup. The token is valid until the transaction ends.
func (t *tables) State(id token.ID) (store.State, error) {
	return unsealState(id, t.tokens.Get(id), t.spent.Get(id))
}

// Anchor implements store.Lookup.
func (t *tables) Anchor(anchor []byte) (store.Anchored, bool, error) {
	value := t.anchors.Get(anchor)
	if value == nil {
		return store.Anchored{}, false, nil
	}
	a, err := unsealAnchored(anchor, value)
	return a, err == nil, err
}

// state returns the bytes of the last ApplyState, which are valid until the transaction ends. last
// is the number of the ledger's last entry, which must be stored with the bytes.
func (t *tables) state(last uint64) ([]byte, error) {
	key := []byte(stateKey)
	body, err := unseal(bucketMeta, key, t.tx.Bucket([]byte(bucketMeta)).Get(key), 8)
	if err != nil {
		return nil, err
	}
	if seq := binary.BigEndian.Uint64(body); seq != last {
		return nil, ledger.Corruptf("state", "written with request %d, the log ends with %d", seq, last)
	}
	return body[8:], nil
}

// Edge implements store.Snapshot.
func (t *tables) Edge(context.Context) (e ledger.Edge, err error) {
	err = boltfile.Guard(func() (err error) {
		key := []byte(edgeKey)
		body, err := unseal(bucketMeta, key, t.tx.Bucket([]byte(bucketMeta)).Get(key), 1)
		if err != nil {
			return err
		}
		if e, err = ledger.DecodeEdge(body); err != nil {
			return ledger.Corruptf("edge", "%v", err)
		}
		end := uint64(0)
		if key, _ := t.log.Cursor().Last(); len(key) == 8 {
			end = binary.BigEndian.Uint64(key)
		}
		if end != e.Last() {
			return ledger.Corruptf("log", "ends with request %d, its edge is after request %d", end, e.Last())
		}
		return nil
	})
	return e, err
}

// Entries implements store.Snapshot.
func (t *tables) Entries(_ context.Context, first, last uint64, visit func(uint64, *store.Logged) error) error {
	return boltfile.Guard(func() error {
		c := t.log.Cursor()
		key, value := c.Seek(store.SeqKey(first))
		for seq := first; seq <= last; seq++ {
			l, err := unsealLogged(seq, key, value)
			if err != nil {
				return err
			}
			if err := visit(seq, l); err != nil {
				return err
			}
			key, value = c.Next()
		}
		return nil
	})
}

// Hashes implements store.Snapshot.
func (t *tables) Hashes(_ context.Context, indexes []int64) (hashes []tlog.Hash, err error) {
	err = boltfile.Guard(func() (err error) {
		hashes, err = store.Hashes(t.genesis, indexes, func(seqs []uint64) (map[uint64]*store.Logged, error) {
			logged := make(map[uint64]*store.Logged, len(seqs))
			for _, seq := range seqs {
				key := store.SeqKey(seq)
				value := t.log.Get(key)
				if value == nil {
					continue
				}
				var err error
				if logged[seq], err = unsealLogged(seq, key, value); err != nil {
					return nil, err
				}
			}
			return logged, nil
		})
		return err
	})
	return hashes, err
}

// Count implements store.Snapshot.
func (t *tables) Count(ctx context.Context, table string) (n uint64, err error) {
	err = boltfile.Guard(func() error {
		c := t.tx.Bucket([]byte(table)).Cursor()
		for key, _ := c.First(); key != nil; key, _ = c.Next() {
			if n++; n%4096 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
		}
		return nil
	})
	return n, err
}

// write puts what the group accepted into the buckets, in the order of the keys, so that changes to
// a page come together. before is the number of the ledger's last entry before the group.
func (t *tables) write(g *store.Group, before uint64) error {
	for id, s := range g.Tokens() {
		if err := t.tokens.Put(id, sealState(id, &s)); err != nil {
			return err
		}
		if s.Status != store.Spent {
			continue
		}
		if err := t.spent.Put(id, boltfile.Seal(store.TableSpent, id, store.SeqKey(s.Spent))); err != nil {
			return err
		}
	}
	for anchor, a := range g.Anchors() {
		if err := t.anchors.Put(anchor, sealAnchored(anchor, &a)); err != nil {
			return err
		}
	}
	for _, e := range g.Entries {
		key := store.SeqKey(e.Seq)
		if err := t.log.Put(key, boltfile.Seal(store.TableLog, key, append(e.Value, e.After...))); err != nil {
			return err
		}
	}
	state := g.State
	if state == nil {
		var err error
		if state, err = t.state(before); err != nil {
			return err
		}
	}
	edge, meta := g.Edge(), t.tx.Bucket([]byte(bucketMeta))
	return errors.Join(putEdge(meta, edge), putState(meta, edge.Last(), state))
}

// Renew implements store.Snapshot. It never replaces the snapshot.
func (t *tables) Renew(context.Context, uint64) (bool, error) { return false, nil }
