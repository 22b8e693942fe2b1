package bolt

import (
	"context"
	"encoding/binary"

	"go.etcd.io/bbolt"

	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/internal/boltfile"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/store"
)

// tables gives access to the buckets of a ledger in one transaction.
type tables struct {
	tx                                 *bbolt.Tx
	genesis                            ledger.Genesis
	tokens, spent, anchors, log, chain *bbolt.Bucket
}

func tablesOf(tx *bbolt.Tx, genesis ledger.Genesis) *tables {
	bucket := func(name string) *bbolt.Bucket { return tx.Bucket([]byte(name)) }
	return &tables{
		tx: tx, genesis: genesis,
		tokens: bucket(store.TableTokens), spent: bucket(store.TableSpent), anchors: bucket(store.TableAnchors),
		log: bucket(store.TableLog), chain: bucket(store.TableChain),
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

// Tail implements store.Snapshot.
func (t *tables) Tail(context.Context) (b store.Batch, err error) {
	b = store.Genesis(t.genesis)
	err = boltfile.Guard(func() (err error) {
		if key, value := t.chain.Cursor().Last(); key != nil {
			if b, err = unsealBatch(key, value); err != nil {
				return err
			}
		}
		end := uint64(0)
		if key, _ := t.log.Cursor().Last(); len(key) == 8 {
			end = binary.BigEndian.Uint64(key)
		}
		if end != b.Last {
			return ledger.Corruptf("log", "ends with request %d, its chain with %d", end, b.Last)
		}
		return nil
	})
	return b, err
}

// Batch implements store.Snapshot.
func (t *tables) Batch(_ context.Context, seq uint64) (b store.Batch, err error) {
	err = boltfile.Guard(func() (err error) {
		key, value := t.chain.Cursor().Seek(store.SeqKey(seq))
		if key == nil {
			return store.NoBatch(seq)
		}
		b, err = unsealBatch(key, value)
		return err
	})
	return b, err
}

// Entries implements store.Snapshot.
func (t *tables) Entries(_ context.Context, first, last uint64, visit func(uint64, []byte, *ledger.Entry) error) error {
	return boltfile.Guard(func() error {
		c := t.log.Cursor()
		key, value := c.Seek(store.SeqKey(first))
		for seq := first; seq <= last; seq++ {
			e, err := unsealEntry(seq, key, value)
			if err != nil {
				return err
			}
			if err := visit(seq, value[:len(value)-boltfile.SumLen], &e); err != nil {
				return err
			}
			key, value = c.Next()
		}
		return nil
	})
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
		if err := t.log.Put(key, boltfile.Seal(store.TableLog, key, e.Value)); err != nil {
			return err
		}
	}
	for i := range g.Batches {
		if err := t.chain.Put(store.SeqKey(g.Batches[i].Last), sealBatch(&g.Batches[i])); err != nil {
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
	return putState(t.tx.Bucket([]byte(bucketMeta)), g.Tail().Last, state)
}

// Renew implements store.Snapshot. It never replaces the snapshot.
func (t *tables) Renew(context.Context, uint64) (bool, error) { return false, nil }
