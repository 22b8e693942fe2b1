package service

import (
	"bytes"
	"fmt"
	"iter"

	"go.etcd.io/bbolt"
	"golang.org/x/crypto/cryptobyte"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/audit"
	"github.com/zkbench/zkbench/token/internal/boltfile"
	"github.com/zkbench/zkbench/token/internal/wire"
	"github.com/zkbench/zkbench/token/request"
)

// The flags of a submission in a vault; the numbers are those of the format.
const (
	flagReleased  = 1 << iota // its tokens are free again
	flagLanded                // the ledger has it
	flagDelivered             // its payees have their deliveries
)

// kept is a submission's record.
type kept struct {
	flags       int
	digest      [32]byte // of the request, as the ledger stores it
	change      []byte   // the key in waiting of the output that comes back; empty where none does
	inputs      []token.ID
	request     []byte
	information []byte
	deliveries  [][]byte
}

// newKept encodes a submission.
func newKept(sub *Submission, digest [32]byte, change []byte, inputs []token.ID) (_ *kept, err error) {
	k := &kept{digest: digest, change: change, inputs: inputs}
	if k.request, err = sub.Request.Encode(); err != nil {
		return nil, err
	}
	if k.information, err = sub.Information.Encode(); err != nil {
		return nil, err
	}
	for i := range sub.Deliveries {
		d, err := sub.Deliveries[i].Encode()
		if err != nil {
			return nil, err
		}
		k.deliveries = append(k.deliveries, d)
	}
	return k, nil
}

// encode returns flags(1) digest(32) change count(1) inputs request information
// count(1) deliveries; change and inputs stand behind a length of 1 byte, deliveries
// of 2, the others of 4.
func (k *kept) encode() ([]byte, error) {
	var b cryptobyte.Builder
	short := func(key []byte) { b.AddUint8LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes(key) }) }
	long := func(data []byte) {
		b.AddUint32(uint32(len(data))) // at most token.MaxRequest
		b.AddBytes(data)
	}
	b.AddUint8(uint8(k.flags))
	b.AddBytes(k.digest[:])
	short(k.change)
	b.AddUint8(uint8(len(k.inputs)))
	for _, in := range k.inputs {
		short(in)
	}
	long(k.request)
	long(k.information)
	b.AddUint8(uint8(len(k.deliveries)))
	for _, d := range k.deliveries {
		b.AddUint16LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes(d) })
	}
	return b.Bytes()
}

// getKept returns the submission of an anchor, nil where there is none.
func getKept(tx *bbolt.Tx, anchor []byte) (*kept, error) {
	body, err := get(tx, bucketSubmissions, anchor)
	if body == nil || err != nil {
		return nil, err
	}
	f := wire.NewFields(body, "submission", maxRecord)
	k := &kept{flags: f.Number("flags", 1, 0, flagReleased|flagLanded|flagDelivered)}
	copy(k.digest[:], f.Bytes("digest", len(k.digest)))
	k.change = f.Prefixed("change", 1, 0, maxWaitKey)
	for range f.Number("inputs", 1, 0, token.MaxTokens) {
		k.inputs = append(k.inputs, f.Prefixed("inputs", 1, 1, token.MaxID))
	}
	k.request = f.Prefixed("request", 4, 1, token.MaxRequest)
	k.information = f.Prefixed("information", 4, 1, audit.MaxInformation)
	for range f.Number("deliveries", 1, 0, token.MaxTokens) {
		k.deliveries = append(k.deliveries, f.Prefixed("deliveries", 2, 1, MaxDelivery))
	}
	return k, damaged(bucketSubmissions, f.End("submission"))
}

// unused refuses the anchor of a submission that the vault has.
func unused(tx *bbolt.Tx, anchor []byte) error {
	if tx.Bucket([]byte(bucketSubmissions)).Get(anchor) != nil {
		return fmt.Errorf("%w: in this vault", zkbench.ErrAnchorConflict)
	}
	return nil
}

// putKept writes a submission. It is open until it has landed.
func putKept(tx *bbolt.Tx, anchor []byte, k *kept) error {
	body, err := k.encode()
	if err != nil {
		return err
	}
	if err := put(tx, bucketSubmissions, anchor, body); err != nil {
		return err
	}
	if k.flags&flagLanded == 0 {
		return put(tx, bucketOpen, anchor, nil)
	}
	return remove(tx, bucketOpen, anchor)
}

func dropKept(tx *bbolt.Tx, anchor []byte) error {
	if err := remove(tx, bucketOpen, anchor); err != nil {
		return err
	}
	return remove(tx, bucketSubmissions, anchor)
}

// Kept is a submission in a vault.
type Kept struct {
	Submission
	Released  bool // its tokens are free again; it may land all the same
	Landed    bool // Sync has found it on the ledger
	Delivered bool
}

// Submissions yields the submissions that the vault keeps, in the order of their
// anchors: after a crash, what is to be submitted again, and what is still to be
// delivered. One that is damaged is an error in its place that names the anchor, and
// the others come all the same. Between two no lock is held: what changes meanwhile may
// or may not be seen.
func (v *Vault) Submissions() iter.Seq2[Kept, error] {
	return func(yield func(Kept, error) bool) {
		for anchor, err := range v.keys(bucketSubmissions, nil, nil) {
			var k *kept
			if err == nil {
				k, err = lookUp(v, anchor, getKept)
			}
			if err == nil && k == nil {
				continue // settled meanwhile
			}
			var out Kept
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

// outputs are the ids of the tokens that a submission makes for somebody.
func (k *kept) outputs() (ids []token.ID, err error) {
	if len(k.change) > 0 {
		id, err := parseWaitKey(k.change)
		if err != nil {
			return nil, damaged(bucketSubmissions, err)
		}
		ids = append(ids, id)
	}
	for _, raw := range k.deliveries {
		d, err := DecodeDelivery(raw)
		if err != nil {
			return nil, damaged(bucketSubmissions, err)
		}
		if len(d.Token.Owner) > 0 {
			ids = append(ids, d.ID)
		}
	}
	return ids, nil
}

func (k *kept) decode(anchor []byte) (out Kept, err error) {
	out = Kept{Released: k.flags&flagReleased != 0, Landed: k.flags&flagLanded != 0, Delivered: k.flags&flagDelivered != 0}
	if out.Request, err = request.Decode(k.request); err != nil {
		return Kept{}, damaged(bucketSubmissions, err)
	}
	if !bytes.Equal(out.Request.Anchor, anchor) {
		return Kept{}, damaged(bucketSubmissions, policy("another anchor's"))
	}
	if out.Information, err = audit.Decode(k.information); err != nil {
		return Kept{}, damaged(bucketSubmissions, err)
	}
	for _, raw := range k.deliveries {
		d, err := DecodeDelivery(raw)
		if err != nil {
			return Kept{}, damaged(bucketSubmissions, err)
		}
		out.Deliveries = append(out.Deliveries, d)
	}
	return out, nil
}

// lookUp is what get finds under a key, in a transaction of its own.
func lookUp[K ~[]byte, T any](v *Vault, key K, get func(*bbolt.Tx, K) (*T, error)) (found *T, err error) {
	err = v.view(func(tx *bbolt.Tx) (err error) {
		found, err = get(tx, key)
		return err
	})
	return found, err
}

// chunk is how many keys a walk over a bucket takes at a time.
const chunk = 256

// keys yields the keys of a bucket in order, from one (nil: the first) to before another
// (nil: the last). One whose checksum is wrong comes with its error; an error without a
// key is the vault's, and the end. Between two keys no transaction is held: what changes
// meanwhile may or may not be seen.
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
			from = append(keys[len(keys)-1], 0) // the least key behind the last
		}
	}
}
