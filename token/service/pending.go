package service

import (
	"bytes"
	"fmt"
	"iter"
	"slices"

	"go.etcd.io/bbolt"
	"golang.org/x/crypto/cryptobyte"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/audit"
	"github.com/zkbench/zkbench/token/internal/boltfile"
	"github.com/zkbench/zkbench/token/internal/wire"
	"github.com/zkbench/zkbench/token/request"
)

// maxInputs is the maximum number of tokens in a submission's record: those of a request, and those of the
// proposal that it was signed for, which other parties may have left out.
const maxInputs = 2 * request.MaxActions * token.MaxTokens

// pendingRecord is the record of a submission that waits for the ledger.
type pendingRecord struct {
	released    bool     // its tokens are free again
	digest      [32]byte // of the request, as the ledger stores it
	inputs      []token.ID
	request     []byte
	information []byte

	// The fields below are not part of the record.
	drawn bool   // the anchor was drawn
	paid  []Paid // for the history
}

// newPending encodes a submission.
func newPending(sub *Submission, digest [32]byte, inputs []token.ID) (_ *pendingRecord, err error) {
	k := &pendingRecord{digest: digest, inputs: inputs, drawn: sub.drawn, paid: sub.paid}
	if k.request, err = sub.Request.Encode(); err != nil {
		return nil, err
	}
	k.information, err = sub.Information.Encode()
	return k, err
}

// encode returns released(1) digest(32) count(2) inputs request information. An input follows a length of 1
// byte, the others follow a length of 4.
func (k *pendingRecord) encode() ([]byte, error) {
	var b cryptobyte.Builder
	b.AddUint8(bit(k.released))
	b.AddBytes(k.digest[:])
	b.AddUint16(uint16(len(k.inputs)))
	for _, in := range k.inputs {
		b.AddUint8LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes(in) })
	}
	for _, data := range [][]byte{k.request, k.information} {
		b.AddUint32(uint32(len(data))) // at most token.MaxRequest
		b.AddBytes(data)
	}
	return b.Bytes()
}

// getPending returns the submission with an anchor, or nil if there is none.
func getPending(tx *bbolt.Tx, anchor []byte) (*pendingRecord, error) {
	body, err := get(tx, bucketSubmissions, anchor)
	if body == nil || err != nil {
		return nil, err
	}
	f := wire.NewFields(body, "submission", maxRecord)
	k := &pendingRecord{released: f.Number("released", 1, 0, 1) == 1}
	copy(k.digest[:], f.Bytes("digest", len(k.digest)))
	for range f.Number("inputs", 2, 0, maxInputs) {
		k.inputs = append(k.inputs, f.Prefixed("inputs", 1, 1, token.MaxID))
	}
	k.request = f.Prefixed("request", 4, 1, token.MaxRequest)
	k.information = f.Prefixed("information", 4, 1, audit.MaxInformation)
	return k, damaged(bucketSubmissions, f.End("submission"))
}

// unused returns ErrAnchorConflict if the vault has a submission with the anchor.
func unused(tx *bbolt.Tx, anchor []byte) error {
	if tx.Bucket([]byte(bucketSubmissions)).Get(anchor) != nil {
		return fmt.Errorf("%w: in this vault", zkbench.ErrAnchorConflict)
	}
	return nil
}

// addPending writes a new submission. Unless its anchor was drawn, the ledger may already have a request with
// that anchor, and is asked once (Vault.lookUpFresh).
func addPending(tx *bbolt.Tx, anchor []byte, k *pendingRecord) error {
	if err := unused(tx, anchor); err != nil {
		return err
	}
	for _, id := range k.inputs {
		if err := put(tx, bucketInputs, inputKey(id, anchor), nil); err != nil {
			return err
		}
	}
	if !k.drawn {
		if err := put(tx, bucketFresh, anchor, nil); err != nil {
			return err
		}
	}
	if err := noteMade(tx, anchor, k); err != nil {
		return err
	}
	return putPending(tx, anchor, k)
}

func putPending(tx *bbolt.Tx, anchor []byte, k *pendingRecord) error {
	body, err := k.encode()
	if err != nil {
		return err
	}
	return put(tx, bucketSubmissions, anchor, body)
}

func removePending(tx *bbolt.Tx, anchor []byte, k *pendingRecord) error {
	for _, id := range k.inputs {
		if err := remove(tx, bucketInputs, inputKey(id, anchor)); err != nil {
			return err
		}
	}
	if err := remove(tx, bucketFresh, anchor); err != nil {
		return err
	}
	return remove(tx, bucketSubmissions, anchor)
}

// inputKey returns a key in the bucket inputs: an id, after a length of 1 byte, and the anchor of a submission
// that spends it.
func inputKey(id token.ID, anchor []byte) []byte { return append(idKey(id), anchor...) }

func idKey(id token.ID) []byte { return append([]byte{byte(len(id))}, id...) }

// spenders returns the anchors of the submissions, or of the signed requests (bucketAudited), that spend a
// token.
func spenders(tx *bbolt.Tx, bucket string, id token.ID) (anchors [][]byte, err error) {
	prefix := idKey(id)
	c := tx.Bucket([]byte(bucket)).Cursor()
	for key, value := c.Seek(prefix); bytes.HasPrefix(key, prefix); key, value = c.Next() {
		if _, err := boltfile.Unseal(bucket, key, value, 0); err != nil {
			return nil, err
		}
		anchors = append(anchors, bytes.Clone(key[len(prefix):]))
	}
	return anchors, nil
}

// PendingSubmission is a submission that waits for the ledger.
type PendingSubmission struct {
	Submission
	Released bool // whether its tokens are free again; it may still be recorded on the ledger
}

// Submissions yields the vault's pending submissions, in the order of their anchors. After a crash, submit all
// of them again. If a submission is damaged, Submissions yields an error that names its anchor, and continues.
// Submissions holds no lock between two submissions, so it may or may not show changes that are made while it
// runs.
func (v *Vault) Submissions() iter.Seq2[PendingSubmission, error] {
	return func(yield func(PendingSubmission, error) bool) {
		for anchor, err := range v.keys(bucketSubmissions, nil, nil) {
			var k *pendingRecord
			if err == nil {
				k, err = lookUp(v, anchor, getPending)
			}
			if err == nil && k == nil {
				continue // settled meanwhile
			}
			var out PendingSubmission
			if err == nil {
				out, err = k.decode(anchor)
			}
			if err != nil && anchor != nil {
				err = fmt.Errorf("submission %x: %w", anchor, err)
			}
			if !yield(out, err) {
				return
			}
		}
	}
}

func (k *pendingRecord) decode(anchor []byte) (out PendingSubmission, err error) {
	out.Released = k.released
	if out.Request, err = request.Decode(k.request); err != nil {
		return PendingSubmission{}, damaged(bucketSubmissions, err)
	}
	if !bytes.Equal(out.Request.Anchor, anchor) {
		return PendingSubmission{}, damaged(bucketSubmissions, deny("another anchor's"))
	}
	if out.Information, err = audit.Decode(k.information); err != nil {
		return PendingSubmission{}, damaged(bucketSubmissions, err)
	}
	return out, nil
}

// isPartOf reports whether a request has all actions of the submission.
func (k *pendingRecord) isPartOf(r *request.Request) (bool, error) {
	mine, err := request.Decode(k.request)
	if err != nil || r == nil {
		return false, damaged(bucketSubmissions, err)
	}
	for i := range mine.Actions {
		if !slices.ContainsFunc(r.Actions, func(a request.Action) bool { return bytes.Equal(a.Raw, mine.Actions[i].Raw) }) {
			return false, nil
		}
	}
	return true, nil
}

// lookUp returns what get finds under a key, in a transaction of its own.
func lookUp[K ~[]byte, T any](v *Vault, key K, get func(*bbolt.Tx, K) (*T, error)) (found *T, err error) {
	err = v.view(func(tx *bbolt.Tx) (err error) {
		found, err = get(tx, key)
		return err
	})
	return found, err
}

// chunk is the number of keys that a walk over a bucket reads at a time.
const chunk = 256

// keys yields the keys of a bucket in order, from one (nil: the first) to before another (nil: the end). A key
// whose value has a wrong checksum comes with its error. An error without a key comes from the vault and ends
// the walk. No transaction is held between two keys, so changes made meanwhile may or may not be seen.
func (v *Vault) keys(bucket string, from, to []byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for {
			var keys [][]byte
			var errs []error
			err := v.view(func(tx *bbolt.Tx) error {
				c := tx.Bucket([]byte(bucket)).Cursor()
				for key, value := c.Seek(from); key != nil && len(keys) < chunk; key, value = c.Next() {
					if to != nil && bytes.Compare(key, to) >= 0 {
						break
					}
					_, err := boltfile.Unseal(bucket, key, value, 0)
					keys, errs = append(keys, bytes.Clone(key)), append(errs, err)
				}
				return nil
			})
			for i, key := range keys {
				if !yield(key, withName(errs[i])) {
					return
				}
			}
			if err != nil {
				yield(nil, err)
			}
			if err != nil || len(keys) < chunk {
				return
			}
			from = append(keys[len(keys)-1], 0) // the least key after the last
		}
	}
}
