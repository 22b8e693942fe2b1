package head_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/bolt"
	"github.com/zkbench/zkbench/token/ledger/head"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
)

// keeps is a ledger in a file, with validators who keep its heads.
type keeps struct {
	*bolt.Ledger
	t    testing.TB
	path string
	now  time.Time

	forked string // what fork has stored
}

func newKeeps(t testing.TB) *keeps { return newKeepsOf(t, ledger.Genesis{Nonce: [32]byte{7}}) }

func newKeepsOf(t testing.TB, genesis ledger.Genesis) *keeps {
	path := filepath.Join(t.TempDir(), "ledger.db")
	k := &keeps{must.Get(bolt.Create(path, genesis))(t), t, path, noon, ""}
	t.Cleanup(func() { _ = k.Close() })
	return k
}

// keeper returns a keeper of the named validator, with a new state file.
func (k *keeps) keeper(name string, policy *token.Policy) *head.Keeper {
	k.t.Helper()
	return k.opened(k.state(name), name, policy)
}

// state creates a state file of the named validator, who has signed the ledger's genesis.
func (k *keeps) state(name string) (path string) {
	k.t.Helper()
	path = filepath.Join(k.t.TempDir(), name)
	genesis := ledger.NewEdge(k.Genesis())
	must.Do(k.t, head.CreateSigner(path, signerOf(k.t, name), head.Head{Ledger: k.Genesis().ID(), Size: 1, Root: genesis.Root()}, k.now))
	return path
}

func (k *keeps) opened(path, name string, policy *token.Policy) *head.Keeper {
	s := must.Get(head.OpenSigner(path, signerOf(k.t, name), k.Genesis().ID()))(k.t)
	k.t.Cleanup(func() { _ = s.Close() })
	return &head.Keeper{Store: k, Signer: s, Policy: policy, Clock: func() time.Time { return k.now }}
}

// open opens the stored head that counts.
func (k *keeps) open(policy *token.Policy) head.Opened {
	k.t.Helper()
	return must.Get(head.Open(must.Get(k.Head(k.t.Context()))(k.t), k.Genesis().ID(), policy))(k.t)
}

// fork stores a head of another log, signed by a validator.
func (k *keeps) fork(name string, size uint64, counts bool) {
	k.t.Helper()
	other := head.Head{Ledger: k.Genesis().ID(), Size: size, Root: [32]byte{1}}
	k.forked = string(signedBy(other.Checkpoint(), validator(name, noon)))
	must.Do(k.t, k.PutHead(k.t.Context(), size, []byte(k.forked), counts))
}

// restored has a keeper sign the head of one record more, and then puts the file back that the ledger had before it.
func (k *keeps) restored(keeper *head.Keeper) {
	k.t.Helper()
	must.Do(k.t, k.Close())
	backup := must.Get(os.ReadFile(k.path))(k.t)
	k.Ledger = must.Get(bolt.Open(k.path))(k.t)
	ledgertest.Apply(k.t, k, ledgertest.Issue("lost", 1))
	must.Get(keeper.Sign(k.t.Context()))(k.t)
	must.Do(k.t, k.Close())
	must.Do(k.t, os.WriteFile(k.path, backup, 0o600))
	k.Ledger = must.Get(bolt.Open(k.path))(k.t)
}

// TestKeeper: a head is made when the log has grown, and anew after a while.
func TestKeeper(t *testing.T) {
	k := newKeeps(t)
	policy := policyOf(1, "anna")
	keeper := k.keeper("anna", policy)
	sign := func(due bool, records int, at time.Time) {
		t.Helper()
		golden.Equal(t, "due", due, must.Get(keeper.Sign(t.Context()))(t))
		h, s := k.open(policy), ledgertest.State(t, k)
		golden.Equal(t, "size", uint64(records+1), h.Size)
		golden.Equal(t, "root", s.Root, [32]byte(h.Root))
		golden.Equal(t, "time", at, h.Time)
	}
	sign(true, 0, noon)
	sign(false, 0, noon)
	ledgertest.Apply(t, k, ledgertest.Issue("a", 1), ledgertest.Issue("b", 1))
	k.now = noon.Add(time.Second)
	sign(true, 2, k.now)
	k.now = noon.Add(head.DefaultAgain)
	sign(false, 2, noon.Add(time.Second))
	k.now = noon.Add(head.DefaultAgain + time.Second)
	sign(true, 2, k.now)
}

// TestKeepers: each validator adds its signature to the head of another, and a new one is made when the log has grown.
func TestKeepers(t *testing.T) {
	k := newKeeps(t)
	policy := policyOf(2, "anna", "ben", "carl")
	anna, ben, carl := k.keeper("anna", policy), k.keeper("ben", policy), k.keeper("carl", policy)
	ledgertest.Apply(t, k, ledgertest.Issue("a", 1))
	must.Get(anna.Sign(t.Context()))(t)
	ledgertest.CheckHeads(t, k, "", string(anna.Signer.Last()))
	ledgertest.Apply(t, k, ledgertest.Issue("b", 1), ledgertest.Issue("c", 1)) // which Ben's signature does not wait for
	must.Get(ben.Sign(t.Context()))(t)
	golden.Equal(t, "size, when Anna has signed it", 2, k.open(policy).Size)
	before := string(must.Get(k.Head(t.Context()))(t))
	must.Get(ben.Sign(t.Context()))(t)
	ledgertest.CheckHeads(t, k, before, string(ben.Signer.Last()))
	must.Get(carl.Sign(t.Context()))(t)
	golden.Equal(t, "size of Ben's own", 4, k.open(policy).Size)
	must.Get(anna.Sign(t.Context()))(t)
	golden.Equal(t, "validators", 3, len(k.open(policy).Validators))

	// A head that is smaller than one that the validator has signed is passed over.
	other := policyOf(1, "ben")
	small := newKeeps(t)
	two := small.keeper("ben", other)
	ledgertest.Apply(t, small, ledgertest.Issue("a", 1), ledgertest.Issue("b", 1))
	state := ledgertest.State(t, small)
	must.Get(two.Signer.Sign(t.Context(), head.Head{Ledger: small.Genesis().ID(), Size: 3, Root: state.Root}, noon, proving(small)))(t) // and is not stored
	edge := ledger.NewEdge(small.Genesis())
	first := head.Head{Ledger: small.Genesis().ID(), Size: 1, Root: edge.Root()}
	must.Do(t, small.PutHead(t.Context(), 1, signedBy(first.Checkpoint(), validator("anna", noon)), false))
	must.Get(two.Sign(t.Context()))(t)
	golden.Equal(t, "size", 3, small.open(other).Size)
}

// proving returns consistency proofs of a ledger.
func proving(l ledger.Reader) func(context.Context, uint64, uint64) (tlog.TreeProof, error) {
	return func(ctx context.Context, from, to uint64) (tlog.TreeProof, error) {
		return ledger.Consistency(ctx, l, from, to)
	}
}

// TestKeeperRefuses: nothing is signed that contradicts what is signed, and no root is signed beside another of its size.
func TestKeeperRefuses(t *testing.T) {
	policy := policyOf(1, "anna", "ben")
	for name, c := range map[string]struct {
		bend func(k *keeps) *head.Keeper // of Anna
		want error
	}{
		"a backup": {func(k *keeps) *head.Keeper {
			anna := k.keeper("anna", policy)
			k.restored(anna)
			return anna
		}, head.ErrShorter},
		"a backup with its head": {func(k *keeps) *head.Keeper { // where none is due
			anna := k.keeper("anna", policy)
			must.Get(anna.Sign(t.Context()))(t)
			k.restored(anna)
			return anna
		}, head.ErrShorter},
		"a backup that went on": {func(k *keeps) *head.Keeper {
			anna := k.keeper("anna", policy)
			k.restored(anna)
			ledgertest.Apply(t, k, ledgertest.Issue("another", 1), ledgertest.Issue("more", 1))
			return anna
		}, head.ErrInconsistent},
		"another's head of another log": {func(k *keeps) *head.Keeper {
			k.fork("ben", 3, false)
			return k.keeper("anna", policy)
		}, head.ErrForked},
		"another's earlier head of another log": {func(k *keeps) *head.Keeper {
			k.fork("ben", 2, false)
			return k.keeper("anna", policy)
		}, head.ErrForked},
		"its own head of another log": {func(k *keeps) *head.Keeper { // log and state file went back, and the heads did not
			k.fork("anna", 2, false)
			return k.keeper("anna", policy)
		}, head.ErrForked},
		"another's head of another log, below its own": {func(k *keeps) *head.Keeper {
			anna := k.keeper("anna", policy)
			anna.Store = &failing{k, nil}
			must.Get(anna.Sign(t.Context()))(t)
			anna.Store = k
			k.fork("ben", 2, false)
			return anna
		}, head.ErrForked},
		"another root beside a head that counts": {func(k *keeps) *head.Keeper {
			anna := k.keeper("anna", policy)
			must.Get(anna.Sign(t.Context()))(t)
			k.fork("ben", 3, false)
			return anna
		}, head.ErrForked},
		"another root in place of a head that counts": {func(k *keeps) *head.Keeper {
			anna := k.keeper("anna", policy)
			must.Get(anna.Sign(t.Context()))(t)
			k.fork("ben", 3, true)
			return anna
		}, head.ErrForked},
		"a head of another log that counts, below a proposal": {func(k *keeps) *head.Keeper {
			k.fork("ben", 2, true)
			state := ledgertest.State(t, k)
			own := head.Head{Ledger: k.Genesis().ID(), Size: 3, Root: state.Root}
			must.Do(t, k.PutHead(t.Context(), 3, signedBy(own.Checkpoint(), validator("ben", noon)), false))
			return k.keeper("anna", policy)
		}, head.ErrForked},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKeeps(t)
			ledgertest.Apply(t, k, ledgertest.Issue("a", 1), ledgertest.Issue("b", 1))
			anna := c.bend(k)
			last := string(anna.Signer.Last())
			counts, proposed := string(must.Get(k.Head(t.Context()))(t)), string(must.Get(k.Proposed(t.Context()))(t))
			_, err := anna.Sign(t.Context())
			must.Fail(t, err, c.want, "%s", name)
			golden.Equal(t, "last signed", last, string(anna.Signer.Last()))
			ledgertest.CheckHeads(t, k, counts, proposed)
			if e, ok := errors.AsType[*head.Contradiction](err); ok {
				golden.Equal(t, "evidence", k.forked, string(e.Kept))
				if h := must.Get(head.ParseSigned(anna.Signer.Last()))(t); strings.HasPrefix(string(e.Told), h.Checkpoint()) {
					golden.Equal(t, "the log's head, as Anna has signed it", last, string(e.Told))
				}
			} else if k.forked != "" {
				t.Errorf("no evidence: %v", err)
			}
		})
	}
}

// TestKeeperPassesOver: what no validator has signed, and what is damaged, is passed over, and does not stop a keeper.
func TestKeeperPassesOver(t *testing.T) {
	policy := policyOf(1, "anna", "ben")
	for name, put := range map[string]func(k *keeps, own head.Head){
		"nothing": func(*keeps, head.Head) {},
		"nonsense": func(k *keeps, own head.Head) {
			must.Do(t, k.PutHead(t.Context(), own.Size, []byte("nonsense"), false))
		},
		"another root, signed by no validator": func(k *keeps, own head.Head) {
			own.Root[0]++
			must.Do(t, k.PutHead(t.Context(), own.Size, signedBy(own.Checkpoint(), validator("carl", noon)), false))
		},
		"a size of 2^48, signed by no validator": func(k *keeps, own head.Head) {
			long := own
			long.Size = 1 << 48
			must.Do(t, k.PutHead(t.Context(), own.Size, signedBy(long.Checkpoint(), validator("carl", noon)), false))
		},
		"a signature that does not hold": func(k *keeps, own head.Head) {
			signed := signedBy(own.Checkpoint(), validator("ben", noon))
			signed[len(signed)-10] ^= 1 // of the base64 of the signature
			must.Do(t, k.PutHead(t.Context(), own.Size, signed, false))
		},
		"a head of another ledger": func(k *keeps, own head.Head) {
			own.Ledger[0]++
			must.Do(t, k.PutHead(t.Context(), own.Size, signedBy(own.Checkpoint(), validator("ben", noon)), false))
		},
		"no room for more signatures": func(k *keeps, own head.Head) {
			all := []cosigner{validator("ben", noon)}
			for i := range head.MaxSignatures - 1 {
				all = append(all, validator(fmt.Sprint("witness ", i), noon))
			}
			must.Do(t, k.PutHead(t.Context(), own.Size, signedBy(own.Checkpoint(), all...), false))
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKeeps(t)
			ledgertest.Apply(t, k, ledgertest.Issue("a", 1))
			state := ledgertest.State(t, k)
			put(k, head.Head{Ledger: k.Genesis().ID(), Size: state.Last + 1, Root: state.Root})
			golden.Equal(t, "due", true, must.Get(k.keeper("anna", policy).Sign(t.Context()))(t))
			h := k.open(policy)
			golden.Equal(t, "root", state.Root, [32]byte(h.Root))
			golden.Equal(t, "signed by Anna", true, slices.ContainsFunc(h.Validators, func(c head.Cosignature) bool { return c.Key == publicKey("anna") }))
		})
	}
}

// failing is a store whose PutHead fails.
type failing struct {
	*keeps
	err error
}

func (f *failing) PutHead(context.Context, uint64, []byte, bool) error { return f.err }

// TestKeeperKilled: between the signature and the stored head the process ends; the next one stores a head of the same log.
func TestKeeperKilled(t *testing.T) {
	k := newKeeps(t)
	policy := policyOf(1, "anna")
	path := filepath.Join(t.TempDir(), "state")
	edge := ledger.NewEdge(k.Genesis())
	must.Do(t, head.CreateSigner(path, signerOf(t, "anna"), head.Head{Ledger: k.Genesis().ID(), Size: 1, Root: edge.Root()}, noon))
	ledgertest.Apply(t, k, ledgertest.Issue("a", 1))
	anna := k.opened(path, "anna", policy)
	killed := errors.New("killed")
	anna.Store = &failing{k, killed}
	must.FailGet(anna.Sign(t.Context()))(t, killed, "before the head is stored")
	must.Do(t, anna.Signer.Close())
	ledgertest.Apply(t, k, ledgertest.Issue("b", 1))
	again := k.opened(path, "anna", policy)
	golden.Equal(t, "due", true, must.Get(again.Sign(t.Context()))(t))
	golden.Equal(t, "size", 3, k.open(policy).Size)
}

// TestKeeperRuns: heads come at intervals until the context ends, or one fails.
func TestKeeperRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKeeps(t)
		k.now = time.Now()
		policy := policyOf(1, "anna")
		anna := k.keeper("anna", policy)
		anna.Clock = nil
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- anna.Run(ctx) }()
		time.Sleep(head.DefaultInterval / 2)
		for i := range 3 {
			ledgertest.Apply(t, k, ledgertest.Issue(string(rune('a'+i)), 1))
			time.Sleep(head.DefaultInterval)
			golden.Equal(t, "size", uint64(i+2), k.open(policy).Size)
		}
		before := k.open(policy).Time
		time.Sleep(head.DefaultAgain)
		if after := k.open(policy).Time; !after.After(before) {
			t.Errorf("head of %v, %v later", after, head.DefaultAgain)
		}
		cancel()
		must.Fail(t, <-done, context.Canceled, "ended")
		broken := errors.New("broken")
		anna.Store = &failing{k, broken}
		anna.Again = 1
		must.Fail(t, anna.Run(t.Context()), broken, "a store that fails")
	})
}
