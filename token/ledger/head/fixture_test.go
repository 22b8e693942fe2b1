package head_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/ledger/head"
)

var home = token.LedgerID{0xab, 1: 0xcd, 31: 0xef}

// noon is the time of most heads.
var noon = time.Unix(1_800_000_000, 0).UTC()

// privateKey returns the key of a validator or a witness with a name.
func privateKey(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte(name))
	return ed25519.NewKeyFromSeed(seed[:])
}

func publicKey(name string) [ed25519.PublicKeySize]byte {
	return [ed25519.PublicKeySize]byte(privateKey(name).Public().(ed25519.PublicKey))
}

func signerOf(t testing.TB, name string) identity.Signer {
	t.Helper()
	return must.Get(identity.NewEd25519Signer(privateKey(name)))(t)
}

// policyOf returns a policy in which threshold of the named validators must sign a head.
func policyOf(threshold int, names ...string) *token.Policy {
	p := &token.Policy{HeadThreshold: threshold}
	for _, name := range names {
		p.Validators = append(p.Validators, token.Validator{HeadKey: publicKey(name)})
	}
	slices.SortFunc(p.Validators, func(a, b token.Validator) int { return bytes.Compare(a.HeadKey[:], b.HeadKey[:]) })
	return p
}

// cosigner signs a checkpoint as C2SP tlog-cosignature says, without the package under test.
type cosigner struct {
	name    string // of the note's key
	key     ed25519.PrivateKey
	seconds int64
}

// validator is a cosigner named after its key.
func validator(name string, at time.Time) cosigner {
	return cosigner{fmt.Sprintf("zkbench/validator/%x", publicKey(name)), privateKey(name), at.Unix()}
}

// line returns the signature line.
func (c cosigner) line(checkpoint string) string {
	public := c.key.Public().(ed25519.PublicKey)
	id := sha256.Sum256([]byte(c.name + "\n\x04" + string(public)))
	blob := binary.BigEndian.AppendUint64(id[:4:4], uint64(c.seconds))
	blob = append(blob, ed25519.Sign(c.key, fmt.Appendf(nil, "cosignature/v1\ntime %d\n%s", uint64(c.seconds), checkpoint))...)
	return "— " + c.name + " " + base64.StdEncoding.EncodeToString(blob) + "\n"
}

// signedBy returns a checkpoint with the signatures of cosigners.
func signedBy(checkpoint string, cosigners ...cosigner) []byte {
	signed := checkpoint + "\n"
	for _, c := range cosigners {
		signed += c.line(checkpoint)
	}
	return []byte(signed)
}

// history is a log whose leaves are texts.
type history struct {
	leaves int64
	hashes []tlog.Hash
}

func (l *history) ReadHashes(indexes []int64) (read []tlog.Hash, err error) {
	for _, i := range indexes {
		read = append(read, l.hashes[i])
	}
	return read, nil
}

// logOf returns a log with the given leaves, each a letter.
func logOf(t testing.TB, leaves string) *history {
	t.Helper()
	l := new(history)
	for _, leaf := range strings.Split(leaves, "") {
		l.add(t, []byte(leaf))
	}
	return l
}

func (l *history) add(t testing.TB, leaf []byte) {
	t.Helper()
	l.hashes = append(l.hashes, must.Get(tlog.StoredHashes(l.leaves, leaf, l))(t)...)
	l.leaves++
}

// head returns the head of the first n leaves, or of all if n is 0.
func (l *history) head(t testing.TB, n int64) head.Head {
	t.Helper()
	if n == 0 {
		n = l.leaves
	}
	return head.Head{Ledger: home, Size: uint64(n), Root: must.Get(tlog.TreeHash(n, l))(t)}
}

func (l *history) prove(_ context.Context, from, to uint64) (tlog.TreeProof, error) {
	return tlog.ProveTree(int64(to), int64(from), l)
}

// unproved fails the test if it is called.
func unproved(t testing.TB) func(context.Context, uint64, uint64) (tlog.TreeProof, error) {
	return func(_ context.Context, from, to uint64) (tlog.TreeProof, error) {
		t.Errorf("asked for a proof from %d to %d", from, to)
		return nil, errors.New("no proof")
	}
}

// newSigner creates the state file of validator v with the first head, and opens it.
func newSigner(t testing.TB, first head.Head) (s *head.Signer, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "heads")
	must.Do(t, head.CreateSigner(path, signerOf(t, "v"), first, noon))
	return openSigner(t, path), path
}

func openSigner(t testing.TB, path string) *head.Signer {
	t.Helper()
	s := must.Get(head.OpenSigner(path, signerOf(t, "v"), home))(t)
	t.Cleanup(func() { _ = s.Close() })
	return s
}
