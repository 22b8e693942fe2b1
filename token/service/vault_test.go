package service_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/service"
)

func TestVaultFile(t *testing.T) {
	w := newWorld(t, nil)
	path := w.path()
	must.FailGet(service.OpenVault(path, w.genesis))(t, fs.ErrNotExist, "opened what is not there")
	v := must.Get(service.CreateVault(path, w.genesis))(t)
	info := must.Get(os.Stat(path))(t)
	golden.Equal(t, "mode", 0o600, info.Mode().Perm())
	must.FailGet(service.CreateVault(path, w.genesis))(t, fs.ErrExist, "created twice")
	must.FailGet(service.OpenVault(path, w.genesis))(t, ledger.ErrLocked, "opened twice")
	must.Do(t, v.Close())
	must.Fail(t, v.Close(), fs.ErrClosed, "closed twice")
	must.Fail(t, v.Release(t.Context(), []byte("x")), fs.ErrClosed, "used after closing")
	must.FailGet(v.Holdings(usd))(t, fs.ErrClosed, "read after closing")
	other := w.genesis
	other.Nonce[0]++
	must.FailGet(service.OpenVault(path, other))(t, zkbench.ErrParams, "opened for another ledger of the same parameters")
	// Another version.
	editFile(t, path, func(tx *bbolt.Tx) error {
		return tx.Bucket([]byte("meta")).Put([]byte("format"), service.Seal("meta", []byte("format"), []byte{1}))
	})
	if _, err := service.OpenVault(path, w.genesis); !errors.Is(err, zkbench.ErrMalformed) || !strings.Contains(err.Error(), "version 1, only 5 is known") {
		t.Errorf("opened another version: %v", err)
	}
	editFile(t, path, func(tx *bbolt.Tx) error { return tx.DeleteBucket([]byte("meta")) })
	if _, err := service.OpenVault(path, w.genesis); !isCorrupt(err) {
		t.Errorf("opened what is no vault: %v", err)
	}
}

// editFile changes the file of a vault that is closed.
func editFile(t *testing.T, path string, edit func(tx *bbolt.Tx) error) {
	t.Helper()
	db := must.Get(bbolt.Open(path, 0o600, nil))(t)
	must.Do(t, errors.Join(db.Update(edit), db.Close()))
}

func isCorrupt(err error) bool {
	_, ok := errors.AsType[*ledger.CorruptError](err)
	return ok
}

// damagedVault returns a vault in use, as bytes, and the secrets in it.
func damagedVault(t *testing.T, w *world) (alice *party, data []byte, secrets []string) {
	t.Helper()
	alice = w.party(t, w.pseudonyms(t, "Alice"))
	w.fund(t, alice, 1, 2, 3, 4, 5, 6, 7, 8)
	for _, value := range []uint64{4, 8, 5} {
		sub := must.Get(alice.pay.Transfer(t.Context(), paying(alice.address(t), value)))(t)
		for _, item := range append(sub.Information.Actions[0].Inputs, sub.Information.Actions[0].Outputs...) {
			secrets = append(secrets, hex.EncodeToString(item.Opening.Blinding), fmt.Sprint(item.Opening.Blinding))
		}
	}
	must.Do(t, alice.Close())
	data = must.Get(os.ReadFile(alice.path))(t)
	return alice, data, secrets
}

// TestCorruptedVault: a byte changed anywhere, and a file cut anywhere, is a typed
// error or makes no difference, and never a panic; no error shows a secret.
func TestCorruptedVault(t *testing.T) {
	w := newWorld(t, nil)
	alice, data, secrets := damagedVault(t, w)
	path := w.path()
	use := func(data []byte) (found int, err error) {
		must.Do(t, os.WriteFile(path, data, 0o600))
		v, err := service.OpenVault(path, w.genesis)
		if err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, v.Close()) }()
		p := &party{path: path, keys: alice.keys}
		if p.Wallet, err = w.wallet.With(v, p.keys); err != nil {
			return 0, err
		}
		p.pay = w.transfer.With(p.Wallet)
		for h, err := range v.Unspent() {
			if err != nil {
				return found, err
			}
			found += int(h.Value)
		}
		for _, err := range v.Submissions() {
			if err != nil {
				return found, err
			}
		}
		if err := p.Sync(t.Context(), w.ledger); err != nil {
			return found, err
		}
		_, err = p.pay.Transfer(t.Context(), paying(service.Address{}, 36))
		if errors.Is(err, zkbench.ErrPolicy) {
			err = nil // insufficient funds, as it should be
		}
		return found, err
	}
	want := must.Get(use(data))(t)
	rng := rand.New(rand.NewPCG(1, 2))
	noticed := 0
	for i := range 400 {
		bad := bytes.Clone(data)
		if i%8 == 0 {
			bad = bad[:rng.IntN(len(bad))]
		} else {
			at := rng.IntN(len(bad))
			for bad[at] == 0 { // most of a file is
				at = rng.IntN(len(bad))
			}
			bad[at] ^= 1 << rng.IntN(8)
		}
		found, err := use(bad)
		if err == nil {
			golden.Equal(t, fmt.Sprintf("case %d: unnoticed, and found", i), want, found)
			continue
		}
		noticed++
		if !isCorrupt(err) && !errors.Is(err, zkbench.ErrMalformed) {
			t.Errorf("case %d: %v", i, err)
		}
		for _, s := range secrets {
			if strings.Contains(err.Error(), s) {
				t.Errorf("case %d: a secret in %q", i, err)
			}
		}
	}
	if noticed < 100 {
		t.Errorf("%d of 400 damaged files noticed: the test damages nothing that matters", noticed)
	}
}

// TestStrangeKeys: what stands in a vault under a right checksum and is not a vault's.
func TestStrangeKeys(t *testing.T) {
	w := newWorld(t, nil)
	for name, edit := range map[string]func(tx *bbolt.Tx) error{
		"free=short": func(tx *bbolt.Tx) error {
			return tx.Bucket([]byte("free")).Put([]byte{0, 3}, service.Seal("free", []byte{0, 3}, nil))
		},
		"free=no token": func(tx *bbolt.Tx) error {
			ghost := freeKey(usd, 100, "ghost")
			return tx.Bucket([]byte("free")).Put(ghost, service.Seal("free", ghost, nil))
		},
		"free=unsealed": func(tx *bbolt.Tx) error { return tx.Bucket([]byte("free")).Put(freeKey(usd, 100, "ghost"), nil) },
	} {
		t.Run(name, func(t *testing.T) {
			alice := w.party(t, w.key(t, "alice"))
			must.Do(t, alice.Close())
			editFile(t, alice.path, edit)
			alice.open(t, w)
			defer alice.Close()
			_, err := alice.pay.Transfer(t.Context(), paying(service.Address{}, 50))
			unspentErr := error(nil)
			for _, err := range alice.Unspent() {
				unspentErr = err
			}
			if !isCorrupt(err) && !isCorrupt(unspentErr) {
				t.Errorf("%v, %v", err, unspentErr)
			}
		})
	}
}

func freeKey(typ string, value uint64, id string) []byte {
	key := append(binary.BigEndian.AppendUint16(nil, uint16(len(typ))), typ...)
	return append(binary.BigEndian.AppendUint64(key, value), id...)
}

// TestDamagedRecord: one damaged record is an error that names it, and keeps nobody from the submissions beside it. What is
// on the ledger, another vault finds again.
func TestDamagedRecord(t *testing.T) {
	w := newWorld(t, nil)
	alice := w.funded(t, "alice", 10, 10, 10)
	for _, anchor := range []string{"a", "b", "c"} {
		w.land(t, must.Get(alice.pay.Transfer(t.Context(), anchored(anchor, paying(service.Address{}, 6))))(t))
	}
	must.Do(t, alice.Close())
	editFile(t, alice.path, func(tx *bbolt.Tx) error {
		b := tx.Bucket([]byte("submissions"))
		value := bytes.Clone(b.Get([]byte("b")))
		value[40] ^= 1
		return b.Put([]byte("b"), value)
	})
	alice.open(t, w)
	if err := alice.Sync(t.Context(), w.ledger); !isCorrupt(err) {
		t.Errorf("%v, want a damaged record", err)
	}
	var anchors []string
	for k, err := range alice.Submissions() {
		if err == nil {
			anchors = append(anchors, string(k.Request.Anchor))
			continue
		}
		if !isCorrupt(err) || !strings.Contains(err.Error(), "submission 62") {
			t.Errorf("%v, want a damaged submission of anchor 62", err)
		}
		anchors = append(anchors, "damaged")
	}
	golden.Equal(t, "submissions, of which the first has landed", []string{"damaged", "c"}, anchors)
	alice.lose(t, w)
	defer alice.Close()
	must.Do(t, alice.Sync(t.Context(), w.ledger))
	alice.has(t, 12, "the change of all three")
}

// TestCloseBeside: whatever runs while a vault is closed ends well or with fs.ErrClosed.
func TestCloseBeside(t *testing.T) {
	w := newWorld(t, nil)
	alice := w.funded(t, "alice", 10, 10, 10, 10)
	ctx := context.Background()
	calls := []func() error{
		func() error { _, err := alice.Holdings(usd); return err },
		func() error { _, err := alice.Followed(); return err },
		func() error { return alice.Sync(ctx, w.ledger) },
		func() error {
			for _, err := range alice.Unspent() {
				if err != nil {
					return err
				}
			}
			return nil
		},
		func() error {
			for _, err := range alice.Submissions() {
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
	var wg, begun sync.WaitGroup
	for _, call := range calls {
		for range 2 {
			begun.Add(1)
			wg.Go(func() {
				err := call()
				for begun.Done(); err == nil; {
					err = call()
				}
				if !errors.Is(err, fs.ErrClosed) {
					t.Errorf("%v, want %v", err, fs.ErrClosed)
				}
			})
		}
	}
	begun.Wait()
	must.Do(t, alice.Close())
	wg.Wait()
}

// TestKnownSourceIsNotEnough: who knows an order, what its Rand gave and all openings,
// makes the same commitments only with the secret of the issuer, or of the owner of
// the first input.
func TestKnownSourceIsNotEnough(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	alice := w.party(t, w.key(t, "alice"))
	pp := must.Get(w.params.Crypto(token.CSP, smallTables))(t)
	known := func(anchor string, to service.Address) service.Order {
		o := anchored(anchor, paying(to, 100))
		o.Rand = bytes.NewReader(make([]byte, 32))
		return o
	}
	spec := func(anchor string, to service.Address, signer string) action.Spec {
		s := action.Spec{Outputs: []action.Output{{Owner: to.Owner, Value: 100}}, Anchor: request.ActionAnchor(w.genesis.ID(), []byte(anchor), 0), Rand: bytes.NewReader(make([]byte, 32))}
		if signer != "" {
			s.Key = must.Get(service.SignerSecret(key(t, signer)))(t)
			if signer == "alice" {
				s.Key = service.KeysSecret(alice.keys)
			}
		}
		return s
	}
	same := func(d *action.Draft, sub *service.Submission) bool {
		a := must.Get(action.Parse(32, sub.Request.Actions[0].Kind, sub.Request.Actions[0].Raw))(t)
		return bytes.Equal(d.Outputs[0].Commitment, a.Outputs[0].Commitment)
	}
	to := alice.address(t)
	issued := must.Get(w.issuer.Issue(t.Context(), known("issue", to)))(t)
	for signer, want := range map[string]bool{"": false, "alice": false, "issuer": true} {
		d := must.Get(action.NewIssue(t.Context(), executor.Serial(), pp, usd, spec("issue", to, signer)))(t)
		golden.Equal(t, fmt.Sprintf("issue, with the secret of %q: same commitments", signer), want, same(d, issued))
	}
	w.land(t, issued)
	must.Do(t, alice.Sync(t.Context(), w.ledger))

	bob := w.party(t, w.key(t, "bob")).address(t)
	paid := must.Get(alice.pay.Transfer(t.Context(), known("pay", bob)))(t)
	in := inputsOf(t, paid)[0]
	opening := paid.Information.Actions[0].Inputs[0].Opening
	for signer, want := range map[string]bool{"": false, "issuer": false, "alice": true} {
		sender := must.Get(action.NewSender(t.Context(), executor.Serial(), pp, []action.Owned{{Input: in, Opening: opening}}))(t)
		d := must.Get(sender.Transfer(t.Context(), spec("pay", bob, signer)))(t)
		golden.Equal(t, fmt.Sprintf("transfer, with the secret of %q: same commitments", signer), want, same(d, paid))
	}
}

// TestReplacedVault exchanges a vault's file for an older copy while the vault is open. Nothing is written to either file from then on.
func TestReplacedVault(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	alice := w.funded(t, "alice", 10)
	path := w.path()
	v := must.Get(service.CreateVault(path, w.genesis))(t)
	older := must.Get(os.ReadFile(path))(t)
	again := must.Get(service.NewWallet(w.params, v, w.key(t, "alice")))(t)
	must.Do(t, again.Sync(ctx, w.ledger))
	must.Do(t, os.WriteFile(path+".copy", older, 0o600))
	must.Do(t, os.Rename(path+".copy", path))
	w.land(t, must.Get(w.issuer.Issue(ctx, paying(alice.address(t), 5)))(t))
	for range 2 {
		err := again.Sync(ctx, w.ledger)
		if replaced, ok := errors.AsType[*ledger.ReplacedError](err); !ok || replaced.Path != path || !errors.Is(err, zkbench.ErrEnv) {
			t.Error(err)
		}
	}
	must.Do(t, v.Close())
	if now := must.Get(os.ReadFile(path))(t); !bytes.Equal(now, older) {
		t.Error("the copy was written")
	}
}
