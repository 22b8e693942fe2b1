package bolt

import (
	"encoding/binary"
	"errors"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/internal/boltfile"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/store"
)

// A ledger has one bucket for each table, and the bucket meta for the format version, the genesis, and the bytes that
// callers of ApplyState left:
//
//	meta  "format" -> uint32 version, ledger.Genesis
//	      "edge"   -> ledger.Edge
//	      "state"  -> uint64 sequence number of the last entry, ledger.State.Bytes
//
// Every value ends in its checksum.
const (
	bucketMeta = "meta"

	formatKey = "format"
	edgeKey   = "edge"
	stateKey  = "state"
	format    = 6
	metaKeys  = 3
)

func buckets() []string {
	return []string{store.TableAnchors, store.TableHeads, store.TableLog, bucketMeta, store.TableSpent, store.TableTokens}
}

// unseal calls boltfile.Unseal and adds the key to its errors. Keys of a ledger are not secret.
func unseal(bucket string, key, value []byte, least int) ([]byte, error) {
	body, err := boltfile.Unseal(bucket, key, value, least)
	if err == nil {
		return body, nil
	}
	if corrupt, ok := errors.AsType[*ledger.CorruptError](err); ok {
		err = ledger.Corruptf(fmt.Sprintf("%s %x", bucket, key), "%s", corrupt.Reason)
	}
	return nil, err
}

// putState stores the bytes of ApplyState in the bucket meta, together with the number of the last
// entry. The number shows when a page holds the bytes of an earlier state.
func putState(meta *bbolt.Bucket, last uint64, state []byte) error {
	key := []byte(stateKey)
	return meta.Put(key, boltfile.Seal(bucketMeta, key, append(store.SeqKey(last), state...)))
}

// putEdge stores the edge of the log.
func putEdge(meta *bbolt.Bucket, e ledger.Edge) error {
	key := []byte(edgeKey)
	return meta.Put(key, boltfile.Seal(bucketMeta, key, e.AppendTo(nil)))
}

const stateLen = 17

func sealState(id token.ID, s *store.State) []byte {
	return boltfile.Seal(store.TableTokens, id, s.Append(make([]byte, 0, stateLen+len(s.Token)+boltfile.SumLen)))
}

// unsealState returns the state of the token id from its values in the buckets tokens and spent,
// which are nil if there are none. It returns an error if the two contradict each other.
func unsealState(id token.ID, inTokens, inSpent []byte) (s store.State, err error) {
	if inTokens != nil {
		body, err := unseal(store.TableTokens, id, inTokens, stateLen)
		if err != nil {
			return store.State{}, err
		}
		s = store.State{
			Status:  store.Status(body[0]),
			Created: binary.BigEndian.Uint64(body[1:]),
			Spent:   binary.BigEndian.Uint64(body[9:]),
		}
		if len(body) > stateLen {
			s.Token = body[stateLen:]
		}
		if s.Status == store.Absent {
			return store.State{}, ledger.Corruptf(fmt.Sprintf("token %x", []byte(id)), "not a state")
		}
	}
	spentBy := uint64(0)
	if inSpent != nil {
		body, err := unseal(store.TableSpent, id, inSpent, 8)
		if err != nil {
			return store.State{}, err
		}
		if spentBy = binary.BigEndian.Uint64(body); spentBy == 0 || len(body) != 8 {
			return store.State{}, ledger.Corruptf(fmt.Sprintf("spent %x", []byte(id)), "not a sequence number")
		}
	}
	if err := s.Check(id, spentBy); err != nil {
		return store.State{}, err
	}
	return s, nil
}

func sealAnchored(anchor []byte, a *store.Anchored) []byte {
	return boltfile.Seal(store.TableAnchors, anchor, a.Append(make([]byte, 0, 40+boltfile.SumLen)))
}

func unsealAnchored(anchor, value []byte) (a store.Anchored, err error) {
	body, err := unseal(store.TableAnchors, anchor, value, 40)
	if err != nil {
		return a, err
	}
	if len(body) != 40 {
		return a, ledger.Corruptf(fmt.Sprintf("anchors %x", anchor), "%d bytes, want 40", len(body))
	}
	a.Seq = binary.BigEndian.Uint64(body)
	copy(a.Digest[:], body[8:])
	return a, nil
}

// unsealLogged decodes the log's record with sequence number seq. The result's slices point into value.
func unsealLogged(seq uint64, key, value []byte) (*store.Logged, error) {
	place := fmt.Sprintf("request %d", seq)
	if string(key) != string(store.SeqKey(seq)) {
		return nil, ledger.Corruptf(place, "missing from the log")
	}
	body, err := unseal(store.TableLog, key, value, 1)
	if err != nil {
		return nil, ledger.Corruptf(place, "%v", err)
	}
	return store.DecodeLogged(seq, body)
}
