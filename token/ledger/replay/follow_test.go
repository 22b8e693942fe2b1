package replay_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/head"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
	"github.com/zkbench/zkbench/token/ledger/replay"
)

// headOf returns the head of a ledger's log.
func headOf(t *testing.T, l ledger.Store) head.Head {
	t.Helper()
	s := ledgertest.State(t, l)
	return head.Head{Ledger: l.Genesis().ID(), Size: s.Last + 1, Root: s.Root}
}

// TestFollow: a follower validates what is new on a ledger, under the policy that is current then, and stops at the first request that is not valid.
func TestFollow(t *testing.T) {
	params, genesis, honest := demoLog(t)
	first := headOf(t, ledgerOf(t, genesis, nil))
	l := ledgerOf(t, genesis, honest[:2])
	var shown []uint64
	f := must.Get(replay.Follow(t.Context(), l, params, first, "", func(done, total uint64) { shown = append(shown, done, total) }))(t)
	defer f.Close()
	golden.Equal(t, "progress", []uint64{1, 2, 2, 2}, shown)
	golden.Equal(t, "policy", 0, f.Policy().Version)
	for i := 2; i < len(honest); i += 2 {
		must.Do(t, l.Apply(t.Context(), honest[i:min(i+2, len(honest))]))
		s := must.Get(f.Advance(t.Context()))(t)
		golden.Equal(t, "state", ledgertest.State(t, l), s)
		golden.Equal(t, "state when nothing is new", s, must.Get(f.Advance(t.Context()))(t))
		golden.Equal(t, "policy", s.Policy, f.Policy().Version)
	}
	golden.Equal(t, "last policy", 1, f.Policy().Version)

	bad := cloned(honest)
	bad[3].Request = bytes.Clone(bad[3].Request)
	bad[3].Request[len(bad[3].Request)-1] ^= 1 // of a signature
	forged := ledgerOf(t, genesis, bad)
	head4, head5 := headOf(t, ledgerOf(t, genesis, bad[:3])), headOf(t, ledgerOf(t, genesis, bad[:4]))
	for name, test := range map[string]struct {
		l       ledger.Store
		trusted head.Head
		want    string // empty: none
	}{
		"all validated":            {forged, first, "corrupt ledger: request 4: not valid: "},
		"bad one not under a head": {forged, head4, "corrupt ledger: request 4: not valid: "},
		"bad one under a head":     {forged, head5, ""},
		"another log":              {forged, headOf(t, ledgerOf(t, genesis, honest[:4])), head.ErrForked.Error()},
		"a longer log":             {ledgerOf(t, genesis, honest[:2]), head4, head.ErrShorter.Error()},
		"another ledger":           {l, head.Head{Size: 1}, "expected ledger 00"},
		"a head of no leaves":      {l, head.Head{Ledger: genesis.ID()}, head.ErrInconsistent.Error()},
		"another log than told":    {&liar{Store: l, log: ledgerOf(t, genesis, honest[:5])}, first, "corrupt ledger: log: has root "},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := replay.Follow(t.Context(), test.l, params, test.trusted, "", nil)
			if test.want == "" {
				must.Do(t, err)
				must.Do(t, f.Close())
				return
			}
			if err == nil {
				t.Fatal("no error")
			}
			golden.Contains(t, err.Error(), test.want)
		})
	}
	t.Run("other parameters", func(t *testing.T) {
		other := must.Get(token.NewPublicParams("BN254", 8, token.Bulletproof))(t)
		if _, err := replay.Follow(t.Context(), l, other, first, "", nil); err == nil {
			t.Error("no error")
		}
	})
	t.Run("interrupted", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		must.FailGet(replay.Follow(ctx, l, params, first, "", nil))(t, context.Canceled, "interrupted")
	})
}

// TestFollowDir: a follower's ledger is in its directory, and goes with it. What a killed process has left there makes no
// difference, and nothing else is removed.
func TestFollowDir(t *testing.T) {
	params, genesis, honest := demoLog(t)
	l, first := ledgerOf(t, genesis, honest), headOf(t, ledgerOf(t, genesis, nil))
	dir := filepath.Join(t.TempDir(), "[copy*")
	entries := func() (names []string) {
		for _, e := range must.Get(os.ReadDir(dir))(t) {
			names = append(names, e.Name())
		}
		return names
	}
	for range 2 {
		f := must.Get(replay.Follow(t.Context(), l, params, first, dir, nil))(t)
		golden.Equal(t, "files", []string{replay.FileName}, entries())
		must.Do(t, f.Close())
		must.FailGet(os.Stat(dir))(t, fs.ErrNotExist, "closed")
		must.Do(t, os.Mkdir(dir, 0o700))
		for _, left := range []string{replay.FileName, ".new-123"} {
			must.Do(t, os.WriteFile(filepath.Join(dir, left), []byte("killed"), 0o600))
		}
	}
	must.FailGet(replay.Follow(t.Context(), l, params, head.Head{Size: 1}, dir, nil))(t, must.ErrAny, "another ledger's head")
	must.FailGet(os.Stat(dir))(t, fs.ErrNotExist, "after an error")
	must.Do(t, os.Mkdir(dir, 0o700))
	must.Do(t, os.WriteFile(filepath.Join(dir, "other"), nil, 0o600))
	must.Do(t, must.Get(replay.Follow(t.Context(), l, params, first, dir, nil))(t).Close())
	golden.Equal(t, "files", []string{"other"}, entries())
	must.Do(t, os.Remove(filepath.Join(dir, "other")))
	must.Do(t, os.WriteFile(filepath.Join(dir, replay.FileName), nil, 0o600))
	must.Do(t, replay.RemoveCopy(dir))
	must.FailGet(os.Stat(dir))(t, fs.ErrNotExist, "removed")
	must.Do(t, replay.RemoveCopy(dir))
}

// dishonest is a ledger that tells another state, or the nodes of another log's tree.
type dishonest struct {
	ledger.Store
	nodes ledger.Store
	told  func(s *ledger.State)
}

func (d *dishonest) State(ctx context.Context) (ledger.State, error) {
	s, err := d.Store.State(ctx)
	if d.told != nil {
		d.told(&s)
	}
	return s, err
}

func (d *dishonest) Hashes(ctx context.Context, indexes []int64) ([]tlog.Hash, error) {
	if d.nodes == nil {
		return d.Store.Hashes(ctx, indexes)
	}
	return d.nodes.Hashes(ctx, indexes)
}

// TestFollowPolicy: a ledger that tells another policy than its log has is refused.
func TestFollowPolicy(t *testing.T) {
	params, genesis, honest := demoLog(t)
	l := ledgerOf(t, genesis, honest)
	first := headOf(t, ledgerOf(t, genesis, nil))
	for name, told := range map[string]func(s *ledger.State){
		"version": func(s *ledger.State) { s.Policy-- },
		"digest":  func(s *ledger.State) { s.PolicyDigest[0] ^= 1 },
	} {
		_, err := replay.Follow(t.Context(), &dishonest{Store: l, told: told}, params, first, "", nil)
		if _, ok := errors.AsType[*ledger.CorruptError](err); !ok {
			t.Errorf("%s: %v, want a *ledger.CorruptError", name, err)
		}
	}
}

// TestKeeperOfFollower: another validator has proposed a head of a log with a request that is not valid, and the nodes of
// its tree stand in the ledger. A Keeper on the Follower's Store does not sign it, and one on the ledger itself does.
func TestKeeperOfFollower(t *testing.T) {
	params, genesis, honest := demoLog(t)
	bad := cloned(honest)
	bad[3].Request = bytes.Clone(bad[3].Request)
	bad[3].Request[len(bad[3].Request)-1] ^= 1 // of a signature
	evil, first := ledgerOf(t, genesis, bad[:6]), headOf(t, ledgerOf(t, genesis, nil))
	for name, validates := range map[string]bool{"follower": true, "ledger": false} {
		t.Run(name, func(t *testing.T) {
			l := ledgerOf(t, genesis, honest[:7])
			rules := &token.Policy{HeadThreshold: 2, Version: ledgertest.State(t, l).Policy}
			signers := make(map[string]*head.Signer)
			for _, name := range []string{"vera", "victor"} {
				seed := sha256.Sum256([]byte(name))
				key := must.Get(identity.NewEd25519Signer(ed25519.NewKeyFromSeed(seed[:])))(t)
				rules.Validators = append(rules.Validators, token.Validator{HeadKey: [32]byte(key.Identity()[1:])})
				path := filepath.Join(t.TempDir(), name)
				must.Do(t, head.CreateSigner(path, key, first, time.Now()))
				signers[name] = must.Get(head.OpenSigner(path, key, genesis.ID()))(t)
				defer signers[name].Close()
			}
			proposed := must.Get(signers["victor"].Sign(t.Context(), headOf(t, evil), time.Now(), func(ctx context.Context, from, to uint64) (tlog.TreeProof, error) {
				return ledger.Consistency(ctx, evil, from, to)
			}))(t)
			must.Do(t, l.PutHead(t.Context(), 7, proposed, false))
			told := &dishonest{Store: l, nodes: evil}
			f := must.Get(replay.Follow(t.Context(), told, params, first, "", nil))(t)
			defer f.Close()
			keeper := &head.Keeper{Store: told, Signer: signers["vera"], Policy: rules}
			if validates {
				keeper.Store = f.Store()
			}
			_, err := keeper.Sign(t.Context())
			if validates {
				if _, ok := errors.AsType[*head.Contradiction](err); !ok {
					t.Errorf("%v, want a *head.Contradiction", err)
				}
				golden.Equal(t, "last head signed", first, must.Get(head.ParseSigned(signers["vera"].Last()))(t))
				return
			}
			must.Do(t, err)
			golden.Equal(t, "last head signed", headOf(t, evil), must.Get(head.ParseSigned(signers["vera"].Last()))(t))
		})
	}
}

// TestFollowBack: a ledger that goes back, to fewer requests or to others, is refused.
func TestFollowBack(t *testing.T) {
	params, genesis, honest := demoLog(t)
	whole := ledgerOf(t, genesis, honest[:4])
	other := cloned(honest)
	other[3].Time = other[3].Time.Add(1)
	for name, test := range map[string]struct {
		now  ledger.Store
		want error
	}{
		"fewer":  {ledgerOf(t, genesis, honest[:3]), head.ErrShorter},
		"others": {ledgerOf(t, genesis, other[:4]), head.ErrForked},
	} {
		t.Run(name, func(t *testing.T) {
			l := &switched{whole}
			f := must.Get(replay.Follow(t.Context(), l, params, headOf(t, ledgerOf(t, genesis, nil)), "", nil))(t)
			defer f.Close()
			l.Store = test.now
			must.FailGet(f.Advance(t.Context()))(t, test.want, "%s", name)
		})
	}
}

// switched is a ledger in whose place another one can be put.
type switched struct{ ledger.Store }
