package service

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"slices"

	"go.etcd.io/bbolt"
	"golang.org/x/crypto/cryptobyte"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/audit"
	"github.com/zkbench/zkbench/token/internal/boltfile"
	"github.com/zkbench/zkbench/token/internal/wire"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/script"
)

// The buckets of a vault. Every value ends in a CRC-32C over bucket, key and body.
//
//	meta        "format" -> version(1) ledger.Genesis
//	            "reconciled" -> number(8) of the last record of the log that an auditor has seen
//	owners      owner    -> key, count(1) certificate and audit proof of each identity
//	waiting     id, digest(32) of the token -> a token that is expected: several may be
//	                        under one id, of which the ledger will have one at most
//	tokens      id       -> a token that the ledger was found to have: unspent or reserved
//	free        type value(8) id -> nothing: the tokens that are unspent
//	locked      id       -> nothing: those of them that scripts own
//	submissions anchor   -> a submission
//	open        anchor   -> nothing: the submissions that the ledger is asked for
//	signed      anchor   -> what an auditor has signed
//
// A token is state(1) anchor of the submission that holds it, key and audit
// information of the owner as in owners, delivery. Numbers are big-endian; the id in
// waiting stands behind a length of 1 byte, type of 2.
const (
	bucketMeta        = "meta"
	bucketOwners      = "owners"
	bucketTokens      = "tokens"
	bucketFree        = "free"
	bucketWaiting     = "waiting"
	bucketSubmissions = "submissions"
	bucketOpen        = "open"
	bucketSigned      = "signed"
	bucketLocked      = "locked"

	formatKey = "format"
	format    = 2
)

func buckets() []string {
	return []string{bucketFree, bucketLocked, bucketMeta, bucketOpen, bucketOwners, bucketSigned, bucketSubmissions, bucketTokens, bucketWaiting}
}

// maxRecord bounds a record before it is decoded.
const maxRecord = 16 << 20

func put(tx *bbolt.Tx, bucket string, key, body []byte) error {
	return tx.Bucket([]byte(bucket)).Put(key, boltfile.Seal(bucket, key, body))
}

// get returns a copy of a body, nil where there is none.
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

// damaged is the error of a record whose checksum is right and whose body is not.
func damaged(bucket string, err error) error {
	if err == nil {
		return nil
	}
	return ledger.Corruptf("bucket "+bucket, "%v", err)
}

// state is what a vault knows of a token; the numbers are those of the format.
type state byte

const (
	gone     state = 0 // no record
	expected state = 1 // delivered, or made as change; the ledger has not been seen to have it
	unspent  state = 2
	reserved state = 3 // by a submission
)

// held is one token's record.
type held struct {
	state  state
	anchor []byte // of the submission that holds it; empty unless reserved
	own
	Delivery
}

func (h *held) encode() ([]byte, error) {
	d, err := h.Delivery.Encode()
	if err != nil {
		return nil, err
	}
	o, err := h.own.encode()
	if err != nil {
		return nil, err
	}
	return slices.Concat([]byte{byte(h.state), byte(len(h.anchor))}, h.anchor, o, d), nil
}

// freeKey is a token's key in the bucket free: those of one type stand together, in
// the order of their values.
func (h *held) freeKey() []byte {
	key := binary.BigEndian.AppendUint64(typeKey(h.Opening.Type), h.Opening.Value)
	return append(key, h.ID...)
}

// waitKey is a token's key in the bucket waiting.
func (h *held) waitKey() []byte {
	owner := binary.BigEndian.AppendUint16(nil, uint16(len(h.Token.Owner)))
	digest := sha256.Sum256(slices.Concat(owner, h.Token.Owner, h.Token.Commitment))
	return append(idKey(h.ID), digest[:]...)
}

// idKey is what the keys of an id in the bucket waiting begin with.
func idKey(id token.ID) []byte { return append([]byte{byte(len(id))}, id...) }

// maxWaitKey is the length in bytes of the longest key in the bucket waiting.
const maxWaitKey = 1 + token.MaxID + sha256.Size

// parseWaitKey returns the id in a key of the bucket waiting, which is the key's.
func parseWaitKey(key []byte) (token.ID, error) {
	f := wire.NewFields(key, "key", maxWaitKey)
	id := f.Prefixed("id", 1, 1, token.MaxID)
	f.Bytes("digest", sha256.Size)
	return id, damaged(bucketWaiting, f.End("key"))
}

func typeKey(typ string) []byte {
	return append(binary.BigEndian.AppendUint16(nil, uint16(len(typ))), typ...)
}

// parseFreeKey takes a key of the bucket free apart. The slices are the key's.
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

// getToken returns the record of a token that is unspent or reserved, nil where there
// is none.
func getToken(tx *bbolt.Tx, id token.ID) (*held, error) {
	h, err := getHeld(tx, bucketTokens, id)
	if err == nil && h != nil && (!bytes.Equal(h.ID, id) || h.state == expected) {
		return nil, damaged(bucketTokens, errors.New("contradicts itself"))
	}
	return h, err
}

// candidates returns the tokens that are expected under an id.
func candidates(tx *bbolt.Tx, id token.ID) (all []*held, err error) {
	prefix := idKey(id)
	c := tx.Bucket([]byte(bucketWaiting)).Cursor()
	for key, _ := c.Seek(prefix); bytes.HasPrefix(key, prefix); key, _ = c.Next() {
		h, err := getHeld(tx, bucketWaiting, key)
		if err == nil && (h == nil || !bytes.Equal(h.waitKey(), key) || h.state != expected) {
			err = damaged(bucketWaiting, errors.New("contradicts itself"))
		}
		if err != nil {
			return nil, err
		}
		all = append(all, h)
	}
	return all, nil
}

func getHeld(tx *bbolt.Tx, bucket string, key []byte) (*held, error) {
	body, err := get(tx, bucket, key)
	if body == nil || err != nil {
		return nil, err
	}
	f := wire.NewFields(body, "token", maxRecord)
	h := &held{state: state(f.Number("state", 1, int(expected), int(reserved)))}
	h.anchor = f.Prefixed("anchor", 1, 0, token.MaxAnchor)
	h.own = readOwn(f)
	if !f.OK() {
		return nil, damaged(bucket, f.End("token"))
	}
	if h.Delivery, err = DecodeDelivery(body[f.Offset():]); err != nil {
		return nil, damaged(bucket, err)
	}
	if (h.state == reserved) != (len(h.anchor) > 0) {
		return nil, damaged(bucket, errors.New("contradicts itself"))
	}
	return h, nil
}

// putToken writes a token's record: beside others of its id if it is expected, else in
// the place of one.
func putToken(tx *bbolt.Tx, h *held) error {
	body, err := h.encode()
	if err != nil {
		return err
	}
	if h.state == expected {
		return put(tx, bucketWaiting, h.waitKey(), body)
	}
	if err := dropToken(tx, h.ID); err != nil {
		return err
	}
	if err := put(tx, bucketTokens, h.ID, body); err != nil {
		return err
	}
	if h.state == unspent {
		bucket, key := h.index()
		return put(tx, bucket, key, nil)
	}
	return nil
}

// index is where a token that is unspent is found.
func (h *held) index() (bucket string, key []byte) {
	if script.IsScript(h.Token.Owner) {
		return bucketLocked, h.ID
	}
	return bucketFree, h.freeKey()
}

// dropToken removes the record of a token that is unspent or reserved, if there is one.
func dropToken(tx *bbolt.Tx, id token.ID) error {
	h, err := getToken(tx, id)
	if h == nil || err != nil {
		return err
	}
	if err := remove(tx, bucketTokens, id); err != nil {
		return err
	}
	if h.state == unspent {
		bucket, key := h.index()
		return remove(tx, bucket, key)
	}
	return nil
}

// become gives a token that is unspent or reserved another state, or drops it (0).
func (h *held) become(tx *bbolt.Tx, next state) error {
	if err := dropToken(tx, h.ID); err != nil || next == gone {
		return err
	}
	h.state, h.anchor = next, nil
	return putToken(tx, h)
}

// same reports whether two records are of one token.
func (h *held) same(t *token.Token) bool {
	return bytes.Equal(h.Token.Owner, t.Owner) && bytes.Equal(h.Token.Commitment, t.Commitment)
}

// own is what a wallet knows of an address of its own: what it signs with, and what
// auditors want to see.
type own struct {
	key   []byte
	audit []audit.Owner
}

func (o *own) encode() ([]byte, error) {
	if len(o.key) > MaxKey {
		return nil, &zkbench.LimitError{What: "bytes of key", Estimate: int64(len(o.key)), Max: MaxKey}
	}
	var b cryptobyte.Builder
	b.AddUint16LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes(o.key) })
	addAudit(&b, o.audit)
	return b.Bytes()
}

func readOwn(f *wire.Fields) (o own) {
	o.key = f.Prefixed("key", 2, 0, MaxKey)
	o.audit = readAudit(f, 255)
	return o
}

// addAudit adds count(1) certificate and proof of each identity, these behind a length of 2 bytes.
func addAudit(b *cryptobyte.Builder, owners []audit.Owner) {
	b.AddUint8(uint8(len(owners)))
	for _, o := range owners {
		for _, data := range [][]byte{o.Certificate, o.Proof} {
			b.AddUint16LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes(data) })
		}
	}
}

func readAudit(f *wire.Fields, most int) (owners []audit.Owner) {
	for range f.Number("audit", 1, 0, most) {
		owners = append(owners, audit.Owner{
			Certificate: f.Prefixed("certificate", 2, 0, audit.MaxCertificate), Proof: f.Prefixed("proof", 2, 0, audit.MaxProof),
		})
	}
	return owners
}

// getOwn returns what the wallet knows of an owner, nil if it is no address of its.
func getOwn(tx *bbolt.Tx, owner []byte) (*own, error) {
	if len(owner) == 0 {
		return nil, nil
	}
	body, err := get(tx, bucketOwners, owner)
	if body == nil || err != nil {
		return nil, err
	}
	f := wire.NewFields(body, "owner", maxRecord)
	o := readOwn(f)
	return &o, damaged(bucketOwners, f.End("owner"))
}

func putOwn(tx *bbolt.Tx, to *Address, key []byte) error {
	body, err := (&own{key, to.Audit}).encode()
	if err != nil {
		return err
	}
	return put(tx, bucketOwners, to.Owner, body)
}
