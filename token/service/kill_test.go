package service_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/token"
	ledgers "github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
	"github.com/zkbench/zkbench/token/service"
)

const (
	killFile = "ZKBENCH_VAULT_KILL"     // the child's vault
	killLog  = "ZKBENCH_VAULT_KILL_LOG" // the log that the child of TestKillReconcile reads
)

// The acknowledgements of a child, each on a line with the anchor.
const (
	paid  = "paid" // with the SHA-256 of the request: Transfer has returned
	drops = "drops"
	gone  = "gone" // Discard has returned
)

// killable returns the system of both processes.
func killable(t *testing.T) *world {
	return newWorld(t, func(p *token.PublicParams) { p.Policy.Limits.Outputs = 64 })
}

func requestSum(t must.TB, sub *service.Submission) string {
	raw := must.Get(sub.Request.Encode())(t)
	return fmt.Sprintf("%x", sha256.Sum256(raw))
}

// TestKillChild is the child of TestKill: it pays on some goroutines, discards three
// payments of four, and acknowledges each step on its standard output, until it is
// killed.
func TestKillChild(t *testing.T) {
	path := os.Getenv(killFile)
	if path == "" {
		t.Skip("runs as the child of TestKill")
	}
	w := killable(t)
	alice := &party{path: path, keys: w.key(t, "alice")}
	alice.open(t, w)
	to := must.Get(w.key(t, "bob").Address(&w.params.Policy, nil))(t)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for k := 0; ; k++ {
				sub, err := alice.pay.Transfer(context.Background(), paying(to, 3))
				if err != nil {
					t.Error(err)
					return
				}
				anchor := sub.Request.Anchor
				fmt.Printf("%s %x %s\n", paid, anchor, requestSum(t, sub))
				if k%4 == 0 {
					continue
				}
				fmt.Printf("%s %x\n", drops, anchor)
				if err := alice.Discard(context.Background(), anchor); err != nil {
					t.Error(err)
					return
				}
				fmt.Printf("%s %x\n", gone, anchor)
			}
		})
	}
	wg.Wait()
}

// payment is what a child has said of one.
type payment struct{ said, sum string }

// live starts a child, kills it some time after its first acknowledgement, and notes what
// it said.
func live(t *testing.T, path string, after time.Duration, said map[string]payment) (lines int) {
	t.Helper()
	cmd := exec.Command(must.Get(os.Executable())(t), "-test.run=^TestKillChild$")
	cmd.Env = append(os.Environ(), killFile+"="+path)
	return ledgertest.KillAfter(t, cmd, after, func(line string) bool {
		switch words := strings.Fields(line); {
		case len(words) == 3 && words[0] == paid && len(words[2]) == 2*sha256.Size:
			said[words[1]] = payment{paid, words[2]}
		case len(words) == 2 && (words[0] == drops || words[0] == gone) && len(words[1]) == 2*service.AnchorLen:
			said[words[1]] = payment{words[0], said[words[1]].sum}
		default:
			return false
		}
		return true
	})
}

// TestKill kills a process that pays, at random points. The vault opens; every payment
// that was acknowledged is there, with its inputs reserved, and
// none that was acknowledged as discarded; every token is free, or held by one submission.
func TestKill(t *testing.T) {
	kills, perVault := testsize.Pick(10, 10, 200), 10
	const tokens, value = 400, 10
	rng := rand.New(rand.NewPCG(rand.Uint64(), 1))
	w := killable(t)
	var alice *party
	var said map[string]payment
	total := 0
	for i := range kills {
		if i%perVault == 0 {
			alice, said = w.funded(t, "alice", slices.Repeat([]uint64{value}, tokens)...), map[string]payment{}
		}
		must.Do(t, alice.Close())
		total += live(t, alice.path, time.Duration(rng.IntN(60_000))*time.Microsecond, said)
		alice.open(t, w)
		survived(t, alice, tokens, said)
		if i%perVault == perVault-1 {
			landAll(t, w, alice, tokens*value)
			must.Do(t, alice.Close())
		}
	}
	if total < kills {
		t.Errorf("only %d acknowledgements in %d lives", total, kills)
	}
}

// survived checks a vault after a kill.
func survived(t *testing.T, p *party, tokens int, said map[string]payment) {
	t.Helper()
	free := map[string]bool{}
	for h, err := range p.Unspent() {
		must.Do(t, err)
		free[string(h.ID)] = true
	}
	all := kept(t, p.Vault)
	held := map[string]bool{}
	for anchor, k := range all {
		name := fmt.Sprintf("%x", anchor)
		if s := said[name]; s.said == gone || s.sum != "" && s.sum != requestSum(t, &k.Submission) {
			t.Errorf("submission %s is there, of which was said: %s", name, s.said)
		}
		for _, in := range inputsOf(t, &k.Submission) {
			if free[string(in.ID)] || held[string(in.ID)] {
				t.Errorf("submission %s: an input is free, or another's", name)
			}
			held[string(in.ID)] = true
		}
	}
	for name, s := range said {
		var anchor []byte
		must.Get(fmt.Sscanf(name, "%x", &anchor))(t)
		if _, there := all[string(anchor)]; s.said == paid && !there {
			t.Errorf("submission %s was acknowledged, and is lost", name)
		}
	}
	golden.Equal(t, "tokens free and held", tokens, len(free)+len(held))
}

// landAll lands what a vault has kept: the change of all of it counts.
func landAll(t *testing.T, w *world, p *party, funds uint64) {
	t.Helper()
	all := kept(t, p.Vault)
	for _, k := range all {
		w.land(t, &k.Submission)
	}
	must.Do(t, p.Sync(t.Context(), w.ledger))
	golden.Equal(t, fmt.Sprintf("balance after %d payments of 3", len(all)), funds-3*uint64(len(all)), p.balance(t))
}

// TestKillReconcileChild is the child of TestKillReconcile: it takes two strays, and is killed while it is told of the third.
func TestKillReconcileChild(t *testing.T) {
	path, logFile := os.Getenv(killFile), os.Getenv(killLog)
	if logFile == "" {
		t.Skip("runs as the child of TestKillReconcile")
	}
	w := killable(t)
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile(logFile))(t), &w.ledger.log))
	vault := must.Get(service.OpenVault(path, w.genesis))(t)
	auditor := must.Get(service.NewAuditorService(w.params, smallTables, serial, vault, w.audits(t, service.SignAll{})))(t)
	_, err := auditor.Reconcile(t.Context(), w.ledger, func(r ledgers.Record) error {
		fmt.Printf("told %d\n", r.Seq)
		if r.Seq == 3 {
			select {}
		}
		return nil
	})
	t.Error("not killed", err)
}

// TestKillReconcile kills an auditor's process while it is told of a stray: the next one is told of it again, and of all behind it.
func TestKillReconcile(t *testing.T) {
	w := killable(t)
	alice := w.party(t, w.key(t, "alice"))
	for range 5 {
		w.land(t, must.Get(w.issuer.Issue(t.Context(), paying(alice.address(t), 1)))(t))
	}
	logFile, path := w.path(), w.path()
	must.Do(t, os.WriteFile(logFile, must.Get(json.Marshal(w.ledger.log))(t), 0o600))
	must.Do(t, must.Get(service.CreateVault(path, w.genesis))(t).Close())
	cmd := exec.Command(must.Get(os.Executable())(t), "-test.run=^TestKillReconcileChild$")
	cmd.Env = append(os.Environ(), killFile+"="+path, killLog+"="+logFile)
	ledgertest.KillAfter(t, cmd, 0, func(line string) bool { return line == "told 3" })

	vault := must.Get(service.OpenVault(path, w.genesis))(t)
	defer vault.Close()
	auditor := must.Get(service.NewAuditorService(w.params, smallTables, serial, vault, w.audits(t, service.SignAll{})))(t)
	var told []uint64
	tell := func(r ledgers.Record) error { told = append(told, r.Seq); return nil }
	must.Get(auditor.Reconcile(t.Context(), w.ledger, tell))(t)
	if n := len(told); n < 3 || !slices.Equal(told[n-3:], []uint64{3, 4, 5}) {
		t.Errorf("told of %v, want 3, 4, 5 at least", told)
	}
	told = nil
	must.Get(auditor.Reconcile(t.Context(), w.ledger, tell))(t)
	golden.Equal(t, "told of what was taken", nil, told)
}
