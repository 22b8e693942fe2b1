package zkbench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/cli/demo"
	"github.com/zkbench/zkbench/internal/cli/keyfile"
	"github.com/zkbench/zkbench/internal/cli/wallet"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/pgtest"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger/bolt"
	"github.com/zkbench/zkbench/token/ledger/postgres"
	"github.com/zkbench/zkbench/token/ledger/replay"
	"github.com/zkbench/zkbench/token/service"
)

// till is a demo's directory, with wallets of people.
type till struct {
	t   *testing.T
	dir string
}

func newTill(t *testing.T) *till {
	t.Helper()
	w := &till{t, t.TempDir()}
	runDemo(t, w.dir)
	return w
}

func (w *till) path(names ...string) string {
	return filepath.Join(append([]string{w.dir}, names...)...)
}

// walletArgs returns a command of a wallet on the demo's ledger.
func (w *till) walletArgs(name string, args ...string) []string {
	return append(append([]string{"wallet"}, args...), "--dir", w.path(name), "--ledger", w.dir)
}

// signed returns a payment's command, with the auditor's key.
func (w *till) signed(name string, args ...string) []string {
	return append(w.walletArgs(name, args...), "--auditor-key", w.path("keys", "auditor.pem"))
}

// does fails the test unless a command succeeds and all of its output matches the pattern.
func (w *till) does(want string, args ...string) string {
	w.t.Helper()
	code, stdout, stderr := call(args...)
	if code != cli.ExitOK || stderr != "" || !regexp.MustCompile(`^(?:`+want+`)$`).MatchString(stdout) {
		w.t.Fatalf("%q: exit code %d, %q, %q; want %s", args, code, stdout, stderr, want)
	}
	return strings.TrimSpace(stdout)
}

const (
	asOf   = `as of request ([0-9]+) of ledger [0-9a-f]{64}`
	landed = `[-0-9]{10}T[:0-9]{8}Z  landed     `
	anAddr = `zkaddress:[-_0-9A-Za-z]+\n`
	inLog  = `; request ([0-9]+), anchor [0-9a-f]{64}\n`
)

// TestWallet: the commands of a person on the demo's ledger: of a key, and of pseudonyms.
func TestWallet(t *testing.T) {
	w := newTill(t)
	params := []string{"--params", w.path(demo.ParamsFile)}
	said := w.does(`wallet of ed25519:[0-9a-f]{64}, `+asOf+`\nkeep .*keys\.pem: .*\n`, append(w.walletArgs("me", "new"), params...)...)
	me, _, _ := strings.Cut(strings.TrimPrefix(said, "wallet of "), ",")
	w.does(`nothing\n`+asOf+`\n`, w.walletArgs("me", "balance")...)
	w.does(asOf+`\n`, w.walletArgs("me", "history")...)
	to := w.does(anAddr, w.walletArgs("me", "address")...)
	w.does(`paid 20 USD, change 10 USD`+inLog+`balance: 5 BOND in 1 token, 70 USD in 3 tokens\n`, w.signed("south", "pay", "--to", to, "--payee", me, "--value", "20", "--type", "USD", "--until", "1h")...)
	w.does(`20 USD in 1 token\n`+asOf+`\n`, w.walletArgs("me", "balance")...)

	file := w.path("south.address")
	w.does(regexp.QuoteMeta(file)+`: an address of south, enrolled with Ed25519 [0-9a-f]{16}\.\.\., `+asOf+`\n`, w.walletArgs("south", "address", "--out", file)...)
	w.does(`paid 5 USD, change 15 USD`+inLog+`balance: 15 USD in 1 token\n`, w.signed("me", "pay", "--to", file, "--value", "5", "--type", "USD")...)
	w.does(landed+`received 20 USD\n`+landed+`paid 5 USD, change 15 USD\n`+asOf+`\n`, w.walletArgs("me", "history")...)
	w.does(landed+`received 20 USD\n    anchor [0-9a-f]{64}, request 8\n`+landed+`paid 5 USD, change 15 USD\n    anchor [0-9a-f]{64}, request 9\n`+
		`(    output [12]: (5|15) USD to (Ed25519|pseudonym) [0-9a-f]{16}\.\.\., blinding [0-9a-f]{64}\n){2}`+asOf+`\n`, w.walletArgs("me", "history", "-v")...)

	enrolled := append(w.walletArgs("bob", "new", "--enrol", "bob", "--authority-key", w.path("keys", "authority.pem")), params...)
	w.does(`wallet of bob, enrolled with Ed25519 [0-9a-f]{16}\.\.\., `+asOf+`\nkeep .*\n`, enrolled...)
	w.does(`paid 4 USD, change 11 USD`+inLog+`balance: 11 USD in 1 token\n`, w.signed("me", "pay", "--to", w.does(anAddr, w.walletArgs("bob", "address")...), "--value", "4", "--type", "USD")...)
	w.does(`moved 75 USD to oneself`+inLog+`balance: 5 BOND in 1 token, 75 USD in 1 token\n`, w.signed("south", "consolidate", "--type", "USD")...)
	for _, name := range []string{"me", "bob", "north", "south"} {
		w.does(`ok: the wallet agrees with the ledger's 11 requests\n`, w.walletArgs(name, "check")...)
		w.does(`ok: the wallet agrees with the ledger's 11 requests, each valid under the parameters\n`, w.walletArgs(name, "check", "--validate")...)
	}

	signed := w.does(anAddr, w.walletArgs("bob", "address", "--sign-key", w.path("me", wallet.KeysFile))...)
	w.does(`paid 1 USD, change 10 USD`+inLog+`.*\n`, w.signed("me", "pay", "--to", signed, "--payee", me, "--value", "1", "--type", "USD")...)
	must.Do(t, os.Remove(w.path("bob", wallet.VaultFile)))
	refuses(t, "zkbench wallet new --dir "+w.path("bob"), w.walletArgs("bob", "balance")...)
	w.does(`wallet of bob, (.|\n)*`, w.walletArgs("bob", "new")...)
	must.Do(t, errors.Join(os.Remove(w.path("bob", wallet.VaultFile)), os.Remove(w.path("bob", wallet.ParamsFile))))
	refuses(t, `params: "" is not accepted`, w.walletArgs("bob", "new")...)
	w.does(`wallet of bob, (.|\n)*`, append(w.walletArgs("bob", "new"), params...)...)
	w.does(`5 USD in 2 tokens\n`+asOf+`\n`, w.walletArgs("bob", "balance")...)

	fork := w.path("fork.db")
	w.does(`ledger .*\n`, "ledger", "fork", w.dir, fork)
	must.Do(t, os.Mkdir(w.path("forked"), 0o700))
	for _, name := range []string{wallet.KeysFile, wallet.ParamsFile} {
		must.Do(t, os.WriteFile(w.path("forked", name), must.Get(os.ReadFile(w.path("bob", name)))(t), 0o600))
	}
	onFork := []string{"--dir", w.path("forked"), "--ledger", fork}
	w.does(`wallet of bob, (.|\n)*`, append([]string{"wallet", "new"}, onFork...)...)
	w.does(`5 USD in 2 tokens\n`+asOf+`\n`, append([]string{"wallet", "balance"}, onFork...)...)
}

// TestWalletDatabase: a wallet pays on a ledger in PostgreSQL as on one in a file.
func TestWalletDatabase(t *testing.T) {
	var server pgtest.Server
	url := server.URL(t)
	t.Cleanup(server.Stop)
	w := newTill(t)
	genesis, all := entries(t, filepath.Join(w.dir, replay.FileName))
	l := must.Get(postgres.Create(t.Context(), url, genesis))(t)
	for i := range all {
		must.Do(t, l.Apply(t.Context(), all[i:i+1]))
	}
	must.Do(t, l.Close())
	at := []string{"--ledger", url, "--dir"}
	to := w.does(anAddr, append([]string{"wallet", "address"}, append(at, w.path("north"))...)...)
	pay := []string{"wallet", "pay", "--to", to, "--value", "20", "--type", "USD", "--auditor-key", w.path("keys", "auditor.pem")}
	w.does(`paid 20 USD, change 10 USD`+inLog+`.*\n`, append(pay, append(at, w.path("south"))...)...)
	w.does(`4 BOND in 1 token\n25 USD in 2 tokens\n`+asOf+`\n`, append([]string{"wallet", "balance"}, append(at, w.path("north"))...)...)
}

// TestWalletRefuses: bad input is said in a line, and pays nothing.
func TestWalletRefuses(t *testing.T) {
	w, other := newTill(t), newTill(t)
	params := []string{"--params", w.path(demo.ParamsFile)}
	w.does(`(.|\n)*`, append(w.walletArgs("me", "new"), params...)...)
	to, foreign := w.does(anAddr, w.walletArgs("me", "address")...), w.does(anAddr, other.walletArgs("north", "address")...)
	readable := w.path("readable.pem")
	must.Do(t, os.WriteFile(readable, must.Get(os.ReadFile(w.path("keys", "auditor.pem")))(t), 0o644))
	stranger, unsigned := must.Get(keyfile.Read("key", w.path("keys", "issuer.pem"), ""))(t).Self().Identity(), w.does(anAddr, w.walletArgs("north", "address")...)
	payee := fmt.Sprintf("ed25519:%x", []byte(stranger[1:]))
	damaged := to[:40] + strings.ToLower(to[40:60]) + strings.ToUpper(to[60:])
	pay := func(to string, more ...string) []string {
		return w.signed("south", append([]string{"pay", "--type", "USD", "--to", to}, more...)...)
	}
	for name, test := range map[string]struct {
		args []string
		says string
	}{
		"no wallet":             {w.walletArgs("none", "balance"), "accepted: the directory of a wallet, as wallet new makes it"},
		"no ledger":             {[]string{"wallet", "balance", "--dir", w.path("me")}, `ledger: "" is not accepted`},
		"another ledger":        {[]string{"wallet", "balance", "--dir", w.path("me"), "--ledger", other.dir}, "the vault belongs to ledger"},
		"a second wallet":       {append(w.walletArgs("me", "new"), params...), "accepted: a directory that has no wallet"},
		"no parameters":         {w.walletArgs("you", "new"), `params: "" is not accepted`},
		"others' parameters":    {w.walletArgs("you", "new", "--params", other.path(demo.ParamsFile)), "has other parameters"},
		"no authority":          {append(w.walletArgs("you", "new", "--enrol", "you"), params...), "authority-key: "},
		"no name":               {append(w.walletArgs("you", "new", "--authority-key", w.path("keys", "authority.pem")), params...), "enrol: "},
		"enrolled later":        {w.walletArgs("me", "new", "--enrol", "you"), "accepted: a directory that has no keys"},
		"no auditor":            {w.walletArgs("south", "pay", "--to", to, "--value", "1", "--type", "USD"), "auditor-key: \"\" is not accepted; accepted: the secret-key files of all 1 auditors"},
		"a key for all to read": {append(w.walletArgs("south", "pay", "--to", to, "--value", "1", "--type", "USD"), "--auditor-key", readable), "chmod 600 " + readable},
		"no address":            {pay("", "--value", "1"), `to: "" is not accepted`},
		"no file":               {pay(w.path("none"), "--value", "1"), "accepted: an address as wallet address prints it"},
		"a damaged address":     {pay(damaged, "--value", "1"), "to: malformed encoding: address at byte 0: "},
		"half an address":       {pay(to[:len(to)-4], "--value", "1"), "a part is missing"},
		"on another ledger":     {pay(foreign, "--value", "1"), "accepted: an address of this ledger"},
		"another's address":     {pay(to, "--value", "1", "--payee", payee), "accepted: an address that --payee has signed"},
		"nobody's address":      {pay(unsigned, "--value", "1", "--payee", payee), "accepted: an address that --payee has signed"},
		"no payee":              {pay(to, "--value", "1", "--payee", "ed25519:00"), "payee: "},
		"no key to sign":        {w.walletArgs("north", "address", "--sign-key", w.path("north", wallet.KeysFile)), "sign-key: "},
		"no value":              {pay(to), `value: "" is not accepted`},
		"zero":                  {pay(to, "--value", "0"), `value: "0" is not accepted`},
		"too wide":              {pay(to, "--value", "256"), "value of 9 bits, accepted are up to 8"},
		"too much":              {pay(to, "--value", "91"), "insufficient funds: have 90, want 91"},
		"too late":              {pay(to, "--value", "1", "--until", "0s"), "until: "},
		"no type":               {w.signed("south", "pay", "--to", to, "--value", "1"), `type: "" is not accepted`},
		"again and a value":     {pay(to, "--again", "aa"), "accepted: nothing, with --again"},
		"again what":            {w.signed("south", "pay", "--again", "xyz"), `again: "xyz" is not accepted; accepted: the anchor`},
		"again a stranger's":    {w.signed("south", "pay", "--again", "aabb"), "has made no payment aabb"},
		"cancel nothing":        {w.signed("south", "cancel"), "ANCHOR of wallet cancel: \"\" is not accepted"},
		"cancel a stranger's":   {w.signed("south", "cancel", "aabb"), "no submission of this anchor"},
		"consolidate nothing":   {w.signed("south", "consolidate"), `type: "" is not accepted`},
		"consolidate one":       {w.signed("south", "consolidate", "--type", "BOND"), "accepted are 2 or more"},
		"a file for an address": {w.walletArgs("me", "address", "--out", readable), "out: "},
		"no command":            {[]string{"wallet", "spend"}, `command: "spend" is not accepted`},
	} {
		t.Run(name, func(t *testing.T) { refuses(t, test.says, test.args...) })
	}
	must.Do(t, os.Chmod(w.path("me", wallet.KeysFile), 0o640))
	refuses(t, "chmod 600", w.walletArgs("me", "balance")...)
	w.does(`5 BOND in 1 token\n90 USD in 3 tokens\n`+asOf+`\n`, w.walletArgs("south", "balance")...)
	if _, err := os.Stat(w.path("you")); err == nil {
		t.Error("a refused wallet has a directory")
	}
	_, all := entries(t, filepath.Join(w.dir, replay.FileName))
	golden.Equal(t, "requests", 7, len(all))
}

// TestWalletOutcome: what became of a payment that failed, and what to do about it.
func TestWalletOutcome(t *testing.T) {
	anchor, cause := []byte{0xaa, 0xbb}, errors.New("the line is dead")
	for _, test := range []struct {
		err  error
		code int
		says []string
	}{
		{&wallet.UnknownError{Anchor: anchor, Err: cause}, cli.ExitPartial, []string{"not known whether aabb is on the ledger: the line is dead", "zkbench wallet pay --again aabb", "zkbench wallet cancel aabb"}},
		{&wallet.RefusedError{By: "auditor", Anchor: anchor, Err: cause}, cli.ExitFailed, []string{"the auditor refuses: the line is dead; nothing was paid"}},
		{&wallet.RefusedError{By: "validator", Anchor: anchor, Kept: true, Err: cause}, cli.ExitFailed, []string{"the validator refuses: ", "zkbench wallet cancel aabb"}},
		{&zkbench.LimitError{What: "inputs for this payment", Estimate: 5, Max: 4}, cli.ExitUsage, []string{"zkbench wallet consolidate"}},
		{cause, cli.ExitUsage, []string{"the line is dead"}},
	} {
		err := new(payFlags).outcome(t.Context(), test.err)
		golden.Equal(t, "exit code", test.code, cli.CodeOf(err))
		golden.Contains(t, err.Error(), test.says...)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	golden.Equal(t, "exit code", cli.ExitPartial, cli.CodeOf(new(payFlags).outcome(ended, context.Canceled)))
}

// TestWalletShows: without -v the last movements are shown, and how many there were before; a finding is a failure; what others choose
// is quoted.
func TestWalletShows(t *testing.T) {
	w := newTill(t)
	l := must.Get(bolt.Open(filepath.Join(w.dir, replay.FileName)))(t)
	defer l.Close()
	h := &holding{ledger: l, last: 100}
	var out strings.Builder
	must.Do(t, showHistory(&out, h, make([]service.Movement, 100), false))
	golden.Equal(t, "lines", mostMoves+2, strings.Count(out.String(), "\n"))
	golden.Contains(t, out.String(), "80 earlier movements: -v shows all\n")
	out.Reset()
	err := showFindings(&out, h, []service.Finding{{Kind: service.TokenSpent, Token: token.ID("id")}}, true)
	golden.Equal(t, "exit code of a finding", cli.ExitFailed, cli.CodeOf(err))
	golden.Equal(t, "a finding", "token spent: 6964\n", out.String())
	m := service.Movement{Status: service.Landed, Received: []service.UnspentToken{{Type: "\x1b[2J USD", Value: 5}}}
	golden.Equal(t, "a type that another has chosen", `received 5 "\x1b[2J USD"`, described(&m))
	m = service.Movement{Status: service.Pending, Spent: []service.UnspentToken{{Type: "USD", Value: 50}}, Paid: []service.Paid{{Opening: token.Opening{Type: "USD", Value: 35}}, {Opening: token.Opening{Type: "USD", Value: 15}}}}
	golden.Equal(t, "a payment that waits", "50 USD to outputs of 35 USD, 15 USD", described(&m))
}
