package zkbench

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/cli/demo"
	"github.com/zkbench/zkbench/internal/cli/keyfile"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/bolt"
	"github.com/zkbench/zkbench/token/ledger/replay"
	"github.com/zkbench/zkbench/token/request"
)

// runDemo runs the demo in dir and returns its output.
func runDemo(t *testing.T, dir string, flags ...string) string {
	t.Helper()
	code, stdout, stderr := call(append([]string{"ledger", "demo", "--bits", "8", "--dir", dir}, flags...)...)
	if code != cli.ExitOK || stderr != "" {
		t.Fatalf("exit code %d, %q", code, stderr)
	}
	return stdout
}

// TestLedgerDemo: the steps in their order with what each must show, whatever the
// times, keys and places of change are.
func TestLedgerDemo(t *testing.T) {
	for _, proof := range token.ProofTypes() {
		t.Run("proof="+proof, func(t *testing.T) {
			dir := t.TempDir()
			out := runDemo(t, dir, "--proof-type", proof, "-v")
			rest := out
			for _, want := range []string{
				`Parameters: BN254, values below 2\^8, range proofs ` + proof + `\n`,
				`generators derived +[0-9.]+ ms\n`,
				`Issue: `, `issuer proves and signs +[0-9.]+ ms\n`,
				`auditor opens all commitments, signs +[0-9.]+ ms\n`, `validator accepts [0-9]+ bytes +[0-9.]+ ms\n`,
				`ledger applies, flushed to the disk +[0-9.]+ ms\n`,
				`the auditor saw: issue USD: 100 of north; issue BOND: 9 of south\n`, `balances: north 100 USD, 0 BOND; south 0 USD, 9 BOND\n`,
				`Transfer: `, `the auditor saw: transfer USD: 100 of north -> .*30 of south`,
				`the ledger shows owners and commitments`, `balances: north 70 USD, 0 BOND; south 30 USD, 9 BOND\n`,
				`Swap: `, `the auditor saw: transfer USD: 70 of north -> .*20 of south.*; transfer BOND: 9 of south -> .*4 of north`,
				`balances: north 50 USD, 4 BOND; south 50 USD, 5 BOND\n`,
				`Redeem: `, `issuer sees the value and signs`, `10 of nobody`, `balances: north 50 USD, 4 BOND; south 40 USD, 5 BOND\n`,
				`Double spend: `, `the ledger applies the first, 50 dollars to south, and refuses the second: action 1: spend 0: token is spent\n`,
				`the validator refuses it from now on: action 0: inputs 0: token is spent\n`, `balances: north 0 USD, 4 BOND; south 90 USD, 5 BOND\n`,
				`Forgery: `, `the validator refuses it, and nothing moves: action 0: owners 0: signature rejected`,
				`Stolen key: .* who issues 5 dollars to north\n`, `policy 1 is on the ledger`, `the auditor refuses: action 0: audit structure: `,
				`the auditor saw: issue USD: 5 of north\n`, `balances: north 5 USD, 4 BOND; south 90 USD, 5 BOND\n`,
				`Lost wallet: `, `a new vault follows the ledger from its start +[0-9.]+ ms\n`, `balances: north 5 USD, 4 BOND; south 90 USD, 5 BOND\n`,
				`Heads: `, `west got 10 dollars under the head of 2 leaves, root [A-Za-z0-9+/]{43}=\n`,
				`a receipt of [0-9]+ bytes, verified with the parameters alone: request 1 is in that log\n`,
				`west got 20 dollars under the head of 3 leaves, root `, `the validator signs no head of it, and the wallet refuses it: .*the log is shorter than it was`,
				`Verify: `, `ok: 7 requests, each valid under the parameters; 11 tokens: 6 unspent, 5 spent; policy 1; times, by the operator: [-0-9]+T[:0-9]+Z to [-0-9]+T[:0-9]+Z; ledger [0-9a-f]{64}, root [A-Za-z0-9+/]{43}=\n`,
				`zkbench ledger verify ` + regexp.QuoteMeta(dir) + ` --params `,
			} {
				at := regexp.MustCompile(want).FindStringIndex(rest)
				if at == nil {
					t.Fatalf("no %q in what follows in\n%s", want, out)
				}
				rest = rest[at[1]:]
			}
			line := out[strings.Index(out, "ok: "):]
			line = line[:strings.IndexByte(line, '\n')+1]
			if _, stdout, _ := verified(t, filepath.Join(dir, replay.FileName), "--params", filepath.Join(dir, demo.ParamsFile)); stdout != line {
				t.Errorf("verified once more: %q, want %q", stdout, line)
			}
		})
	}
}

// TestLedgerDemoIsAScreen: the short form has every step and what was refused.
func TestLedgerDemoIsAScreen(t *testing.T) {
	out := runDemo(t, t.TempDir())
	golden.Within(t, "lines", 15, strings.Count(out, "\n"), 32)
	golden.Contains(t, out, "Parameters: ", "Issue: ", "Transfer: ", "Swap: ", "Redeem: ", "Double spend: ", "Forgery: ", "Stolen key: ", "Lost wallet: ", "Heads: ", "Verify: ",
		"balances: north 70 USD, 0 BOND; south 30 USD, 9 BOND, after ", "refuses the second: ", "the validator refuses it, and nothing moves: ", "ok: 7 requests", "zkbench ledger verify ")
}

// TestLedgerDemoFollows: in the short form every balance follows from the one before and what is said between them.
func TestLedgerDemoFollows(t *testing.T) {
	var seen []string
	for line := range strings.Lines(runDemo(t, t.TempDir())) {
		step, _, _ := strings.Cut(line, ": ")
		switch {
		case !strings.HasPrefix(line, "    "):
			seen = append(seen, step)
		case strings.HasPrefix(line, "    balances: "):
			line, _, _ = strings.Cut(line, ", after ")
			seen = append(seen, strings.TrimPrefix(line, "    balances: "))
		}
	}
	golden.Equal(t, "steps and balances", []string{
		"Parameters",
		"Issue", "north 100 USD, 0 BOND; south 0 USD, 9 BOND",
		"Transfer", "north 70 USD, 0 BOND; south 30 USD, 9 BOND",
		"Swap", "north 50 USD, 4 BOND; south 50 USD, 5 BOND",
		"Redeem", "north 50 USD, 4 BOND; south 40 USD, 5 BOND",
		"Double spend", "north 0 USD, 4 BOND; south 90 USD, 5 BOND", // 50
		"Forgery",
		"Stolen key", "north 5 USD, 4 BOND; south 90 USD, 5 BOND", // the new issuer issues 5
		"Lost wallet", "north 5 USD, 4 BOND; south 90 USD, 5 BOND",
		"Heads",
		"Verify",
	}, seen[:len(seen)-1])
}

// TestLedgerDemoKeys: the keys stay with the files, for nobody but their owner.
func TestLedgerDemoKeys(t *testing.T) {
	dir := t.TempDir()
	out := runDemo(t, dir)
	if strings.Contains(out, "PRIVATE") {
		t.Error("a secret key in the output")
	}
	for _, name := range []string{
		"keys/issuer.pem", "keys/new-issuer.pem", "keys/auditor.pem", "keys/authority.pem", "keys/administrator-1.pem", "keys/administrator-2.pem",
		"keys/administrator-3.pem", "north/keys.pem", "south/keys.pem",
	} {
		path := filepath.Join(dir, name)
		must.Get(keyfile.Read("key", path, "a key"))(t)
		if runtime.GOOS == "windows" {
			continue
		}
		golden.Equal(t, name, os.FileMode(0o600), must.Get(os.Stat(path))(t).Mode())
		golden.Equal(t, "directory of "+name, os.ModeDir|0o700, must.Get(os.Stat(filepath.Dir(path)))(t).Mode())
	}
}

func TestLedgerDemoUsage(t *testing.T) {
	full := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(full, "file"), nil, 0o600))
	for name, test := range map[string]struct {
		args []string
		says string
	}{
		"curve":    {[]string{"--curve", "BN255"}, "curve: \"BN255\" is not accepted; accepted: BN254, "},
		"bits":     {[]string{"--bits", "7"}, "bits: \"7\" is not accepted; accepted: 8 to 64"},
		"proof":    {[]string{"--proof-type", "stark"}, "proof-type: \"stark\" is not accepted"},
		"dir":      {[]string{"--dir", full}, "is not accepted; accepted: the path of a directory that is empty"},
		"dir=file": {[]string{"--dir", filepath.Join(full, "file")}, "dir: "},
		"argument": {[]string{"now"}, "argument of demo: \"now\" is not accepted"},
	} {
		t.Run(name, func(t *testing.T) { refuses(t, test.says, append([]string{"ledger", "demo"}, test.args...)...) })
	}
}

// TestLedgerVerifyParams: ledgers as somebody would write them who has the store's
// code and no keys. Each is in order as far as the store can tell; only validating
// its requests again shows what is wrong, and where.
func TestLedgerVerifyParams(t *testing.T) {
	dir := t.TempDir()
	runDemo(t, dir)
	params := filepath.Join(dir, demo.ParamsFile)
	genesis, honest := entries(t, filepath.Join(dir, replay.FileName))
	other := t.TempDir()
	runDemo(t, other)

	resigned := func(e *ledger.Entry, edit func(*request.Request)) {
		r := must.Get(request.Decode(bytes.Clone(e.Request)))(t)
		edit(r)
		e.Request = must.Get(r.Encode())(t)
	}
	for name, test := range map[string]struct {
		params string
		edit   func(all []ledger.Entry) []ledger.Entry
		says   string // empty: valid
	}{
		"honest":       {params, func(all []ledger.Entry) []ledger.Entry { return all }, ""},
		"first only":   {params, func(all []ledger.Entry) []ledger.Entry { return all[:1] }, ""},
		"other system": {filepath.Join(other, demo.ParamsFile), func(all []ledger.Entry) []ledger.Entry { return all }, "has other parameters"},
		"more is made": {params, func(all []ledger.Entry) []ledger.Entry {
			all[1].Creates = append(all[1].Creates, ledger.Created{ID: token.ID("new"), Token: all[1].Creates[0].Token})
			return all
		}, "request 2: the tokens that it creates are not the request's"},
		"another owner": {params, func(all []ledger.Entry) []ledger.Entry { all[4].Creates[0].Token = all[0].Creates[0].Token; return all }, "request 5: the tokens that it creates are not the request's"},
		"not spent":     {params, func(all []ledger.Entry) []ledger.Entry { all[1].Spends = nil; return all }, "request 2: the tokens that it spends are not the request's"},
		"another anchor": {params, func(all []ledger.Entry) []ledger.Entry {
			all[2].Anchor = []byte("anchor")
			return all
		}, "request 3: its anchor is not the request's"},
		"another digest": {params, func(all []ledger.Entry) []ledger.Entry { all[2].Digest[0] ^= 1; return all }, "request 3: its digest is not the request's"},
		"no request":     {params, func(all []ledger.Entry) []ledger.Entry { all[3].Request = nil; return all }, "request 4: not valid: structure: "},
		"auditor's signature": {params, func(all []ledger.Entry) []ledger.Entry {
			resigned(&all[2], func(r *request.Request) { r.Auditors[0][5] ^= 1 })
			return all
		}, "request 3: not valid: "},
		"owner's signature": {params, func(all []ledger.Entry) []ledger.Entry {
			resigned(&all[4], func(r *request.Request) { r.Actions[0].Spends[0].Signatures[0][5] ^= 1 })
			return all
		}, "request 5: not valid: action 0: owners 0: "},
		"another action": {params, func(all []ledger.Entry) []ledger.Entry {
			resigned(&all[1], func(r *request.Request) { r.Actions[0].Raw[len(r.Actions[0].Raw)-1] ^= 1 })
			return all
		}, "request 2: not valid: "},
		"issued twice": {params, func(all []ledger.Entry) []ledger.Entry {
			again := all[6]
			again.Anchor, again.Creates = []byte("again"), []ledger.Created{{ID: token.ID("again"), Token: all[6].Creates[0].Token}}
			return append(all, again)
		}, "request 8: its anchor is not the request's"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), replay.FileName)
			l := must.Get(bolt.Create(path, genesis))(t)
			edited := test.edit(cloned(honest))
			for i := range edited {
				must.Do(t, l.Apply(t.Context(), edited[i:i+1]))
			}
			must.Do(t, l.Close())
			if code, _, stderr := verified(t, path); code != cli.ExitOK {
				t.Fatalf("without parameters: exit code %d, %s", code, stderr)
			}
			code, stdout, stderr := verified(t, path, "--params", test.params)
			switch {
			case test.says == "":
				if code != cli.ExitOK || !strings.Contains(stdout, ", each valid under the parameters; ") {
					t.Errorf("exit code %d, %q, %q", code, stdout, stderr)
				}
			case code == cli.ExitOK || !strings.Contains(stderr, test.says):
				t.Errorf("exit code %d, %q; want ...%s", code, stderr, test.says)
			}
		})
	}
}

// TestLedgerVerifyTimes: the first and the last time are shown as they are.
func TestLedgerVerifyTimes(t *testing.T) {
	dir := t.TempDir()
	runDemo(t, dir)
	path := filepath.Join(t.TempDir(), replay.FileName)
	genesis, all := entries(t, filepath.Join(dir, replay.FileName))
	l := must.Get(bolt.Create(path, genesis))(t)
	for i, e := range all {
		e.Time = time.Unix([]int64{1e9, 3e9, 3e9, 3e9, 3e9, 3e9, 4e9}[i], 0)
		must.Do(t, l.Apply(t.Context(), []ledger.Entry{e}))
	}
	must.Do(t, l.Close())
	const want = "; times, by the operator: 2001-09-09T01:46:40Z to 2096-10-02T07:06:40Z; "
	for _, flags := range [][]string{nil, {"--params", filepath.Join(dir, demo.ParamsFile)}} {
		if code, stdout, stderr := verified(t, path, flags...); code != cli.ExitOK || !strings.Contains(stdout, want) {
			t.Errorf("%v: exit code %d, %q, %q", flags, code, stdout, stderr)
		}
	}
}

// entries reads a ledger's log.
func entries(t *testing.T, path string) (genesis ledger.Genesis, all []ledger.Entry) {
	t.Helper()
	l := must.Get(bolt.Open(path))(t)
	defer l.Close()
	for r, err := range l.Log(t.Context(), 1) {
		must.Do(t, err)
		all = append(all, r.Entry)
	}
	return l.Genesis(), all
}

func cloned(all []ledger.Entry) []ledger.Entry {
	out := make([]ledger.Entry, len(all))
	for i, e := range all {
		e.Creates = append([]ledger.Created(nil), e.Creates...)
		out[i] = e
	}
	return out
}
