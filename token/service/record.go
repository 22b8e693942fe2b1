package service

import (
	"bytes"
	"encoding/binary"
	"errors"

	"go.etcd.io/bbolt"
	"golang.org/x/crypto/cryptobyte"

	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/audit"
	"github.com/zkbench/zkbench/token/internal/boltfile"
	"github.com/zkbench/zkbench/token/internal/wire"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/note"
	"github.com/zkbench/zkbench/token/script"
)

// The buckets of a vault. Every value ends in a CRC-32C over bucket, key and body.
//
//	meta        "format" -> version(1) ledger.Genesis
//	            "keys" -> mark(32) of the keys whose tokens these are
//	            "followed" -> the last record of the log that the vault has seen: see placeOf
//	            "reconciled" -> the last one that an auditor has seen
//	            "followed head", "reconciled head" -> the last head that was believed: see putHead
//	evidence    SHA-256 of the value -> a contradiction: see Evidence
//	tokens      id       -> a token that was found on the ledger: unspent, reserved or spent
//	free        type value(8) id -> nothing: the unspent tokens
//	scripts     id       -> nothing: the unspent tokens that scripts own
//	submissions anchor   -> a submission
//	inputs      id anchor -> nothing: the tokens that submissions spend
//	fresh       anchor   -> nothing: the submissions whose anchors the ledger must be asked about
//	history     sequence(8) -> a movement
//	moves       anchor   -> sequence(8) of its last movement
//	signed      anchor   -> what an auditor has signed
//	audited     id anchor -> nothing: the tokens that these requests spend
//	policies    anchor   -> an update of the ledger's policy that has been verified
//	unspent     reader(1) id -> SHA-256(32) of each unspent token of the ledger, if records are validated
//	anchors     reader(1) anchor -> digest(32) of each request of the ledger, if records are validated
//
// A token is state(1), the anchor of the submission that reserves it or of the request that has spent it, number(8) of
// the record that created it, count(1) and nonces(32) of those of the owner's identities that are the wallet's, audit
// proof, id, owner, commitment, type, value(8), blinding(32). Numbers are big-endian. Proof, owner and type follow a
// length of 2 bytes, the others a length of 1, and so does the id in inputs and audited.
const (
	bucketEvidence    = "evidence"
	bucketMeta        = "meta"
	bucketTokens      = "tokens"
	bucketFree        = "free"
	bucketScripts     = "scripts"
	bucketSubmissions = "submissions"
	bucketInputs      = "inputs"
	bucketFresh       = "fresh"
	bucketHistory     = "history"
	bucketMoves       = "moves"
	bucketSigned      = "signed"
	bucketAudited     = "audited"
	bucketPolicies    = "policies"
	bucketUnspent     = "unspent"
	bucketAnchors     = "anchors"

	formatKey = "format"
	keysKey   = "keys"
	format    = 5
)

// metaKeys returns the keys of the bucket meta.
func metaKeys() []string {
	return []string{formatKey, keysKey, string(followed), string(reconciled), string(followed.headKey()), string(reconciled.headKey())}
}

func buckets() []string {
	return []string{
		bucketAnchors, bucketAudited, bucketEvidence, bucketFree, bucketFresh, bucketHistory, bucketInputs, bucketMeta, bucketMoves, bucketPolicies, bucketScripts, bucketSigned,
		bucketSubmissions, bucketTokens, bucketUnspent,
	}
}

// maxRecord bounds a record before it is decoded: the largest request and information that decode, and less
// than 1 MiB for the rest.
const maxRecord = token.MaxRequest + audit.MaxInformation + 1<<20

func put(tx *bbolt.Tx, bucket string, key, body []byte) error {
	return tx.Bucket([]byte(bucket)).Put(key, boltfile.Seal(bucket, key, body))
}

// get returns a copy of a body, or nil if there is none.
func get(tx *bbolt.Tx, bucket string, key []byte) ([]byte, error) {
	value := tx.Bucket([]byte(bucket)).Get(key)
	if value == nil {
		return nil, nil
	}
	body, err := boltfile.Unseal(bucket, key, value, 0)
	return bytes.Clone(body), err
}

func remove(tx *bbolt.Tx, bucket string, key []byte) error {
	return tx.Bucket([]byte(bucket)).Delete(key)
}

// empty removes all records of a bucket.
func empty(tx *bbolt.Tx, bucket string) error {
	if err := tx.DeleteBucket([]byte(bucket)); err != nil {
		return err
	}
	_, err := tx.CreateBucket([]byte(bucket))
	return err
}

// damaged returns a *ledger.CorruptError for a record whose checksum is right and whose body is not.
func damaged(bucket string, err error) error {
	if err == nil {
		return nil
	}
	return ledger.Corruptf("bucket "+bucket, "%v", err)
}

// state is what a vault knows of a token. The numbers are those of the format.
type state byte

const (
	unspent  state = 1
	reserved state = 2 // by a submission
	spent    state = 3 // for good: a token that is shown again is not counted again
)

// tokenRecord is the record of one token.
type tokenRecord struct {
	state   state
	anchor  []byte // of the submission that reserves it, or of the request that has spent it
	created uint64 // number of the record that created it
	nonces  []note.Nonce
	proof   []byte // for auditors, of the one nonce of a plain owner; nil: not made yet
	ID      token.ID
	Token   token.Token
	token.Opening
}

const (
	blindingLen   = 32
	maxCommitment = 255
)

func (h *tokenRecord) encode() ([]byte, error) {
	var b wire.Builder
	b.Bound("own identities", len(h.nonces), 1, token.MaxMembers)
	b.Bound("bytes of blinding", len(h.Blinding), blindingLen, blindingLen)
	if err := b.Err(); err != nil {
		return nil, err
	}
	short := func(data []byte) { b.AddUint8LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes(data) }) }
	b.AddUint8(uint8(h.state))
	short(h.anchor)
	b.AddUint64(h.created)
	b.AddUint8(uint8(len(h.nonces)))
	for _, n := range h.nonces {
		b.AddBytes(n[:])
	}
	b.Short(h.proof)
	short(h.ID)
	b.Short(h.Token.Owner)
	short(h.Token.Commitment)
	b.Short([]byte(h.Type))
	b.AddUint64(h.Value)
	b.AddBytes(h.Blinding)
	return b.Bytes()
}

// freeKey returns a token's key in the bucket free. Tokens of one type are together there, in the order of
// their values.
func (h *tokenRecord) freeKey() []byte {
	key := binary.BigEndian.AppendUint64(typeKey(h.Type), h.Value)
	return append(key, h.ID...)
}

func typeKey(typ string) []byte {
	return append(binary.BigEndian.AppendUint16(nil, uint16(len(typ))), typ...)
}

// parseFreeKey splits a key of the bucket free. The slices refer to the key.
func parseFreeKey(key []byte) (typ string, value uint64, id token.ID, err error) {
	f := wire.NewFields(key, "key", len(key))
	typ = string(f.Prefixed("type", 2, 0, token.MaxType))
	if v := f.Bytes("value", 8); f.OK() {
		value, id = binary.BigEndian.Uint64(v), key[f.Offset():]
	}
	if !f.OK() || len(id) == 0 {
		return "", 0, nil, ledger.Corruptf("bucket "+bucketFree, "not a key")
	}
	return typ, value, id, nil
}

// getToken returns the record of a token, or nil if there is none.
func getToken(tx *bbolt.Tx, id token.ID) (*tokenRecord, error) {
	body, err := get(tx, bucketTokens, id)
	if body == nil || err != nil {
		return nil, err
	}
	f := wire.NewFields(body, "token", maxRecord)
	h := &tokenRecord{state: state(f.Number("state", 1, int(unspent), int(spent)))}
	h.anchor = f.Prefixed("anchor", 1, 0, token.MaxAnchor)
	h.created = f.Uint64("created")
	for range f.Number("nonces", 1, 1, token.MaxMembers) {
		var n note.Nonce
		copy(n[:], f.Bytes("nonce", len(n)))
		h.nonces = append(h.nonces, n)
	}
	if proof := f.Prefixed("proof", 2, 0, audit.MaxProof); len(proof) > 0 {
		h.proof = proof
	}
	h.ID = f.Prefixed("id", 1, 1, token.MaxID)
	h.Token.Owner = f.Prefixed("owner", 2, 1, token.MaxOwner)
	h.Token.Commitment = f.Prefixed("commitment", 1, 1, maxCommitment)
	h.Type = string(f.Prefixed("type", 2, 0, token.MaxType))
	if value := f.Bytes("value", 8); f.OK() {
		h.Value = binary.BigEndian.Uint64(value)
	}
	h.Blinding = f.Bytes("blinding", blindingLen)
	err = f.End("token")
	if err == nil && (!bytes.Equal(h.ID, id) || (h.state == unspent) != (len(h.anchor) == 0)) {
		err = errors.New("contradicts itself")
	}
	return h, damaged(bucketTokens, err)
}

// putToken writes or overwrites a token's record.
func putToken(tx *bbolt.Tx, h *tokenRecord) error {
	body, err := h.encode()
	if err != nil {
		return err
	}
	bucket, key := h.index()
	if h.state == unspent {
		err = put(tx, bucket, key, nil)
	} else {
		err = remove(tx, bucket, key)
	}
	if err != nil {
		return err
	}
	return put(tx, bucketTokens, h.ID, body)
}

// unspentToken returns what callers may know of a token.
func (h *tokenRecord) unspentToken() UnspentToken {
	return UnspentToken{ID: h.ID, Type: h.Type, Value: h.Value}
}

// index returns the bucket and the key under which a token is indexed while it is unspent.
func (h *tokenRecord) index() (bucket string, key []byte) {
	if script.IsScript(h.Token.Owner) {
		return bucketScripts, h.ID
	}
	return bucketFree, h.freeKey()
}
