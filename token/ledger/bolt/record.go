package bolt

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/zkbench/zkbench/token/ledger"
)

// The buckets of a ledger. Every value ends in a CRC-32C over bucket, key and
// body, so that it is good only in its place.
//
//	meta     "format" -> uint32 version
//	tokens   id       -> status(1) created(8) spent(8) | token where unspent
//	spent    id       -> spent(8)
//	anchors  anchor   -> sequence(8) digest(32)
//	log      sequence -> entry, as ledger.Entry.Append makes it
//	chain    last(8)  -> first(8) hash(32) of the batch from first to last
//
// Integers are big-endian; created, spent, sequence, first and last are
// sequence numbers of entries. tokens and spent both say that a token is spent:
// neither tree alone can make one spendable again.
const (
	bucketMeta    = "meta"
	bucketTokens  = "tokens"
	bucketSpent   = "spent"
	bucketAnchors = "anchors"
	bucketLog     = "log"
	bucketChain   = "chain"

	formatKey = "format"
	format    = 1
)

func buckets() []string {
	return []string{bucketAnchors, bucketChain, bucketLog, bucketMeta, bucketSpent, bucketTokens}
}

const sumLen = 4

// sum is the checksum of a value.
func sum(bucket string, key, body []byte) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli)
	crc := crc32.Update(0, table, []byte(bucket))
	crc = crc32.Update(crc, table, key)
	return crc32.Update(crc, table, body)
}

// seal appends the checksum to body.
func seal(bucket string, key, body []byte) []byte {
	return binary.BigEndian.AppendUint32(body, sum(bucket, key, body))
}

// unseal returns the body of a value that has at least the given length.
func unseal(bucket string, key, value []byte, least int) ([]byte, error) {
	place := func() string { return fmt.Sprintf("%s %x", bucket, key) }
	n := len(value) - sumLen
	if n < least {
		return nil, ledger.Corruptf(place(), "%d bytes, too few", len(value))
	}
	if binary.BigEndian.Uint32(value[n:]) != sum(bucket, key, value[:n]) {
		return nil, ledger.Corruptf(place(), "wrong checksum")
	}
	return value[:n:n], nil
}

func seqKey(seq uint64) []byte { return binary.BigEndian.AppendUint64(nil, seq) }

// status is what the ledger knows of an id; the numbers are those of the format.
type status byte

const (
	absent  status = 0 // no record
	unspent status = 1
	spent   status = 2
)

// state is one token's record.
type state struct {
	status  status
	created uint64
	spent   uint64 // 0 where unspent
	token   []byte // nil where spent
}

const stateLen = 17

func (s *state) seal(id []byte) []byte {
	body := make([]byte, 0, stateLen+len(s.token)+sumLen)
	body = append(body, byte(s.status))
	body = binary.BigEndian.AppendUint64(body, s.created)
	body = binary.BigEndian.AppendUint64(body, s.spent)
	body = append(body, s.token...)
	return seal(bucketTokens, id, body)
}

// unsealState returns the state of the token id from its values in the buckets
// tokens and spent, nil where there is none. The two must agree.
func unsealState(id, inTokens, inSpent []byte) (state, error) {
	if inTokens == nil && inSpent == nil {
		return state{}, nil
	}
	contradiction := func(reason string) (state, error) {
		return state{}, ledger.Corruptf(fmt.Sprintf("token %x", id), "%s", reason)
	}
	if inTokens == nil {
		return contradiction("in bucket spent, not in bucket tokens")
	}
	body, err := unseal(bucketTokens, id, inTokens, stateLen)
	if err != nil {
		return state{}, err
	}
	s := state{
		status:  status(body[0]),
		created: binary.BigEndian.Uint64(body[1:]),
		spent:   binary.BigEndian.Uint64(body[9:]),
	}
	if len(body) > stateLen {
		s.token = body[stateLen:]
	}
	switch {
	case s.status == unspent && s.spent == 0 && s.token != nil:
		if inSpent != nil {
			return contradiction("unspent in bucket tokens, and in bucket spent")
		}
		return s, nil
	case s.status == spent && s.spent > s.created && s.token == nil:
		if inSpent == nil {
			return contradiction("spent in bucket tokens, not in bucket spent")
		}
		body, err := unseal(bucketSpent, id, inSpent, 8)
		if err != nil {
			return state{}, err
		}
		if len(body) != 8 || binary.BigEndian.Uint64(body) != s.spent {
			return contradiction("buckets tokens and spent name different requests")
		}
		return s, nil
	}
	return contradiction("not a state")
}

// anchored is one anchor's record.
type anchored struct {
	seq    uint64
	digest [32]byte
}

func (a *anchored) seal(anchor []byte) []byte {
	body := binary.BigEndian.AppendUint64(make([]byte, 0, 40+sumLen), a.seq)
	return seal(bucketAnchors, anchor, append(body, a.digest[:]...))
}

func unsealAnchored(anchor, value []byte) (a anchored, err error) {
	body, err := unseal(bucketAnchors, anchor, value, 40)
	if err != nil {
		return a, err
	}
	if len(body) != 40 {
		return a, ledger.Corruptf(fmt.Sprintf("anchors %x", anchor), "%d bytes, want 40", len(body))
	}
	a.seq = binary.BigEndian.Uint64(body)
	copy(a.digest[:], body[8:])
	return a, nil
}

// link is one batch's record.
type link struct {
	first, last uint64
	hash        [32]byte
}

func (l *link) seal() []byte {
	body := binary.BigEndian.AppendUint64(make([]byte, 0, 40+sumLen), l.first)
	return seal(bucketChain, seqKey(l.last), append(body, l.hash[:]...))
}

func unsealLink(key, value []byte) (l link, err error) {
	if len(key) != 8 {
		return l, ledger.Corruptf(fmt.Sprintf("chain %x", key), "not a sequence number")
	}
	body, err := unseal(bucketChain, key, value, 40)
	if err != nil {
		return l, err
	}
	l.last, l.first = binary.BigEndian.Uint64(key), binary.BigEndian.Uint64(body)
	copy(l.hash[:], body[8:])
	if len(body) != 40 || l.first < 1 || l.first > l.last {
		return l, ledger.Corruptf(fmt.Sprintf("chain %x", key), "not a batch")
	}
	return l, nil
}
