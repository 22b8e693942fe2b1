package zkbench

import (
	"crypto/ed25519"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/cli/wallet"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/bolt"
	"github.com/zkbench/zkbench/token/ledger/head"
	"github.com/zkbench/zkbench/token/ledger/replay"
	"github.com/zkbench/zkbench/token/policy"
	"github.com/zkbench/zkbench/token/validator"
)

// TestLedgerEvidence: a validator signs two roots of one size. The wallet that sees both keeps them, and the command prints them, also when the ledger is
// gone.
func TestLedgerEvidence(t *testing.T) {
	dir := t.TempDir()
	ctx := t.Context()
	admin := must.Get(identity.NewEd25519Signer(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))))(t)
	params := must.Get(token.NewPublicParams("BN254", 8, token.Bulletproof))(t)
	params.Policy.Administrators = token.Administrators{Identities: [][]byte{admin.Identity()}, Threshold: 1}
	params.Policy.Validators, params.Policy.HeadThreshold = []token.Validator{{HeadKey: [32]byte(admin.Identity()[1:])}}, 1
	genesis := must.Get(ledger.NewGenesis(params))(t)
	path, me := filepath.Join(dir, replay.FileName), filepath.Join(dir, "me")
	l := must.Get(bolt.Create(path, genesis))(t)

	// The log's only record is an update of the policy.
	next := params.Policy.Clone()
	next.Limits.Metadata = 1
	u := must.Get(policy.New(genesis.ID(), &params.Policy, next))(t)
	must.Do(t, u.Sign(&params.Policy, admin))
	check := must.Get(validator.New(params, genesis, executor.Serial(), token.Tuning{}, 8))(t)
	valid := must.Get(check.Validate(ctx, l, must.Get(u.Encode())(t), time.Now()))(t)
	must.Do(t, l.Apply(ctx, []ledger.Entry{valid.Entry()}))
	state := must.Get(l.State(ctx))(t)
	sign := func(root [32]byte) []byte {
		file := filepath.Join(t.TempDir(), "signer") // another one for each head: a signer signs one history
		h := head.Head{Ledger: genesis.ID(), Size: state.Last + 1, Root: root}
		must.Do(t, head.CreateSigner(file, admin, h, time.Now()))
		return must.Get(os.ReadFile(file))(t)
	}
	honest, forked := sign(state.Root), sign([32]byte{1})

	must.Do(t, l.PutHead(ctx, 2, honest, true))
	purse := must.Get(wallet.Create(me, params, genesis, must.Get(wallet.NewKey())(t)))(t)
	golden.Equal(t, "followed", 1, must.Get(purse.Refresh(ctx, l))(t))
	must.Do(t, purse.Close())
	code, stdout, _ := call("ledger", "evidence", me)
	golden.Equal(t, "exit code", cli.ExitOK, code)
	golden.Contains(t, stdout, "0 contradictions on ledger ")

	must.Do(t, l.PutHead(ctx, 2, forked, true))
	must.Do(t, l.Close())
	code, _, stderr := call("wallet", "balance", "--dir", me, "--ledger", path)
	golden.Equal(t, "exit code of a forked ledger", cli.ExitFailed, code)
	golden.Contains(t, stderr, "another root at the same size", "kept size 2", "told size 2")
	must.Do(t, os.Remove(path))
	for _, vault := range []string{me, filepath.Join(me, wallet.VaultFile)} {
		code, stdout, stderr := call("ledger", "evidence", vault)
		golden.Equal(t, "exit code", cli.ExitOK, code)
		golden.Equal(t, "output", "a signed head of 2 leaves contradicts the signed head of 2 leaves that was kept\n"+
			"1 contradiction on ledger "+fmt.Sprintf("%x", genesis.ID())+"; -v prints all heads and records in full\n", stdout)
		golden.Equal(t, "messages", "", stderr)
	}
	_, stdout, _ = call("ledger", "evidence", me, "-v")
	golden.Contains(t, stdout, "contradiction 1: ", string(honest), string(forked))

	for _, args := range [][]string{{}, {""}, {"a", "b"}, {filepath.Join(dir, "none")}} {
		code, stdout, stderr := call(append([]string{"ledger", "evidence"}, args...)...)
		if code != cli.ExitUsage || stdout != "" || stderr == "" {
			t.Errorf("%q: exit code %d, %q, %q", args, code, stdout, stderr)
		}
	}
}
