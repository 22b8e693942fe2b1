package head

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/sys/atomicfile"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
)

var (
	// ErrLocked is returned for a state file that another Signer has open, in this process or in another one. It
	// wraps zkbench.ErrEnv.
	ErrLocked = fmt.Errorf("%w: the signer of heads is open elsewhere", zkbench.ErrEnv)
	// ErrStopped is returned by a Signer that could not store a head: it no longer knows what is in its state
	// file. It wraps zkbench.ErrEnv.
	ErrStopped = fmt.Errorf("%w: the signer of heads has stopped", zkbench.ErrEnv)
)

// KeyError reports a state file that belongs to another key. It wraps zkbench.ErrParams.
type KeyError struct{ Got, Want string } // names of keys with their ids

func (e *KeyError) Error() string {
	return fmt.Sprintf("%v: the state file of the signer of heads belongs to key %s, expected %s", zkbench.ErrParams, e.Got, e.Want)
}

func (e *KeyError) Unwrap() error { return zkbench.ErrParams }

// Signer signs heads of one ledger with one validator's key. It signs only heads that extend the last one that it
// signed, and keeps that one in its state file: a signed head, as Open reads it. The file is replaced as a whole and
// flushed to the disk before Sign returns the signature. So a process that is killed at any moment, or loses
// power, has stored each head whose signature left it. Windows is an exception: it cannot flush the name of a file
// that was replaced. After a loss of power there the file may be the one before, so give the validator a new key.
//
// The state file shows when the ledger went back: a ledger that was restored from a backup, or whose log was
// changed, has no head that extends the last one signed, so Sign refuses it. The Signer cannot notice that the
// state file itself went back. A copy of an older state file, or the key together with a second file, signs
// another history. So never restore a state file. If it is lost, give the validator a new key by an update of
// the policy.
//
// A lock on a file beside the state file, with the suffix ".lock", keeps a second Signer out. The lock ends with the
// process, and the file stays.
//
// A Signer is safe for concurrent use. Calls run one after the other.
type Signer struct {
	path  string
	key   *signingKey
	lock  *fileLock
	store func(path string, signed []byte) error

	mu      sync.Mutex
	head    Head   // the last one signed
	seconds uint64 // its time
	signed  []byte
	stopped error // why all calls are refused
}

// CreateSigner creates the state file of a new key at path. It signs the head first, which must be one that the
// caller trusts: the ledger's genesis, or the last head that the validators have signed when this one joins them.
// CreateSigner returns fs.ErrExist if path exists, and zkbench.ErrParams if key is not an Ed25519 key, or if first or
// now cannot be written.
//
// No function signs without a state file, so that a file that was lost is not taken for a new one.
func CreateSigner(path string, key identity.Signer, first Head, now time.Time) error {
	k, err := newSigningKey(key)
	if err != nil {
		return err
	}
	seconds, err := secondsOf(now)
	if err = cmp.Or(err, first.check()); err != nil {
		return err
	}
	signed, err := k.sign(first, seconds)
	if err != nil {
		return err
	}
	lock, err := lockFile(path + lockSuffix)
	if err != nil {
		return err
	}
	defer lock.Close()
	switch _, err := os.Lstat(path); {
	case err == nil:
		return &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return storeState(path, signed)
}

// OpenSigner opens the state file that CreateSigner created for the key. It returns
//
//   - fs.ErrNotExist if there is none;
//   - ErrLocked if it is open elsewhere;
//   - zkbench.ErrParams if key is not an Ed25519 key, and a *KeyError if the file belongs to another key;
//   - a *LedgerError if it belongs to another ledger;
//   - a *zkbench.DecodeError, a *zkbench.LimitError or zkbench.ErrSignature if it is damaged.
func OpenSigner(path string, key identity.Signer, ledger token.LedgerID) (*Signer, error) {
	k, err := newSigningKey(key)
	if err != nil {
		return nil, err
	}
	if path, err = filepath.EvalSymlinks(path); err != nil { // or another name would have another lock
		return nil, err
	}
	lock, err := lockFile(path + lockSuffix)
	if err != nil {
		return nil, err
	}
	s := &Signer{path: path, key: k, lock: lock, store: storeState}
	if err := s.load(ledger); err != nil {
		return nil, errors.Join(fmt.Errorf("state of the signer of heads: %w", err), lock.Close())
	}
	return s, nil
}

// load reads the state file.
func (s *Signer) load(ledger token.LedgerID) error {
	var err error
	if s.signed, err = os.ReadFile(s.path); err != nil {
		return err
	}
	n, h, err := openNote(s.signed, note.VerifierList(s.key))
	switch {
	case err != nil:
		return err
	case len(n.Sigs) == 0:
		other := n.UnverifiedSigs[0] // a note has at least one signature
		return &KeyError{Got: keyText(other.Name, other.Hash), Want: keyText(s.key.name, s.key.id)}
	case h.Ledger != ledger:
		return &LedgerError{Got: h.Ledger, Want: ledger}
	}
	s.head, s.seconds = h, timestampOf(n.Sigs[0])
	// A process that was killed may have left a file that the system shows and the disk does not have. What Last
	// returns must be stored.
	return flush(s.path)
}

func keyText(name string, id uint32) string { return fmt.Sprintf("%s+%08x", name, id) }

// Last returns the last head that was signed, with the Signer's signature.
func (s *Signer) Last() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.signed)
}

// lastHead returns the last head that was signed.
func (s *Signer) lastHead() Head {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.head
}

// Sign signs the head at the time now, in whole seconds, and returns it with this one signature. When Sign returns, the
// head is in the state file on the disk. The caller must call Sign only when the records of the head are durable.
//
// If the head is larger than the last one, Sign calls prove for the consistency proof between the two sizes. A head that
// was signed before may be signed again with a newer time. The time of a signature is never before the time of the
// previous one: if the clock went back, Sign repeats the previous time until the clock has caught up. So a clock that
// is set back does not stop the ledger. Sign believes a time in the future, and repeats it just as long; a Keeper
// notices if its clock is set forward (ClockError).
//
// Sign returns zkbench.ErrParams if the head or the time cannot be written, a *LedgerError or an *ExtendError if the
// head does not extend the last one, the error of prove, and the error of ctx if it ended before the head was stored.
// After these errors nothing has changed. If the head could not be stored, Sign returns ErrStopped, as it does from
// then on, because the file may hold either head. After Close it returns fs.ErrClosed.
func (s *Signer) Sign(ctx context.Context, h Head, now time.Time, prove func(ctx context.Context, from, to uint64) (tlog.TreeProof, error)) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped != nil {
		return nil, s.stopped
	}
	seconds, err := secondsOf(now)
	if err = cmp.Or(err, h.check()); err != nil {
		return nil, err
	}
	var proof tlog.TreeProof
	if h.Ledger == s.head.Ledger && h.Size > s.head.Size {
		if proof, err = prove(ctx, s.head.Size, h.Size); err != nil {
			return nil, fmt.Errorf("consistency proof from size %d to %d: %w", s.head.Size, h.Size, err)
		}
	}
	if err := h.Extends(s.head, proof); err != nil {
		return nil, err
	}
	seconds = max(seconds, s.seconds)
	signed, err := s.key.sign(h, seconds)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if !s.lock.holds() { // somebody removed the lock's file, so another Signer may have the state file open
		s.stopped = fmt.Errorf("%w: %s was removed or replaced", ErrStopped, s.lock.path)
		return nil, s.stopped
	}
	if err := s.store(s.path, signed); err != nil {
		s.stopped = fmt.Errorf("%w: the head of size %d could not be stored: %w", ErrStopped, h.Size, err)
		return nil, s.stopped
	}
	s.head, s.seconds, s.signed = h, seconds, signed
	return slices.Clone(signed), nil
}

// Close lets others open the state file. A second call returns fs.ErrClosed.
func (s *Signer) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = fmt.Errorf("signer of heads: %w", fs.ErrClosed)
	return s.lock.Close()
}

// storeState replaces the file at path and flushes it.
func storeState(path string, signed []byte) error {
	if err := atomicfile.Write(path, signed); err != nil {
		return err
	}
	return atomicfile.SyncDir(filepath.Dir(path))
}

// flush flushes the file at path, and its name in the folder.
func flush(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0) // Windows flushes only what may be written
	if err != nil {
		return err
	}
	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		return err
	}
	return atomicfile.SyncDir(filepath.Dir(path))
}

// secondsOf returns the time in seconds since 1970.
func secondsOf(t time.Time) (uint64, error) {
	if t.Unix() < 0 || t.Unix() > maxTime {
		return 0, fmt.Errorf("%w: the time of a head is %s, accepted are the years 1970 to 9999", zkbench.ErrParams, t.UTC().Format(time.DateTime))
	}
	return uint64(t.Unix()), nil
}

// signingKey is a validator's key for heads.
type signingKey struct {
	*cosignerKey
	signer identity.Signer
}

func newSigningKey(signer identity.Signer) (*signingKey, error) {
	id := signer.Identity()
	if id.Type() != identity.TypeEd25519 || len(id) != 1+ed25519.PublicKeySize {
		return nil, fmt.Errorf("%w: a key of type %v for heads, accepted is %v", zkbench.ErrParams, id.Type(), identity.TypeEd25519)
	}
	key := [ed25519.PublicKeySize]byte(id[1:])
	return &signingKey{newCosignerKey(KeyName(key), key), signer}, nil
}

// sign returns the signed head.
func (k *signingKey) sign(h Head, seconds uint64) ([]byte, error) {
	return note.Sign(&note.Note{Text: h.Checkpoint()}, timedSigner{k, seconds})
}

// timedSigner implements note.Signer. It signs at a fixed time.
type timedSigner struct {
	*signingKey
	seconds uint64
}

// Sign verifies what it signed: a signature by faulty hardware would make the state file unreadable.
func (s timedSigner) Sign(checkpoint []byte) ([]byte, error) {
	signature, err := s.signer.Sign(cosigned(s.seconds, checkpoint), nil)
	if err != nil {
		return nil, err
	}
	signature = append(binary.BigEndian.AppendUint64(nil, s.seconds), signature...)
	if !s.Verify(checkpoint, signature) {
		return nil, fmt.Errorf("%w: the signature of a head that %s made does not verify", zkbench.ErrSignature, s.name)
	}
	return signature, nil
}
