package replay_test

import (
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"testing"

	"github.com/zkbench/zkbench/internal/cli/demo"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/bolt"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
	"github.com/zkbench/zkbench/token/ledger/replay"
)

// liar is a store that shows the log of another.
type liar struct {
	replay.Store
	log ledger.Store
}

func (l *liar) Log(ctx context.Context, from uint64) iter.Seq2[ledger.Record, error] {
	return l.log.Log(ctx, from)
}

// TestVerify: what is validated is what was verified, and neither more nor less.
func TestVerify(t *testing.T) {
	params, genesis, honest := demoLog(t)
	made := func(all []ledger.Entry) *bolt.Ledger { return ledgerOf(t, genesis, all) }
	good := made(honest)
	forged := func(edit func(all []ledger.Entry) []ledger.Entry) *bolt.Ledger { return made(edit(cloned(honest))) }
	for name, test := range map[string]struct {
		verified replay.Store
		log      ledger.Store
		says     string // empty: in order
	}{
		"same":           {good, good, ""},
		"log is longer":  {forged(func(all []ledger.Entry) []ledger.Entry { return all[:4] }), good, ""}, // as one that grows
		"log is shorter": {good, forged(func(all []ledger.Entry) []ledger.Entry { return all[:4] }), "request 5: missing from the log that clients read"},
		"times":          {forged(func(all []ledger.Entry) []ledger.Entry { all[6].Time = all[6].Time.Add(1); return all }), good, "log: clients read another log than the verified one"},
		"tokens": {
			forged(func(all []ledger.Entry) []ledger.Entry { all[1].Creates[0].ID = token.ID("other"); return all[:2] }), good,
			"log: clients read another log than the verified one",
		},
	} {
		for _, p := range []*token.PublicParams{nil, params} {
			t.Run(fmt.Sprintf("%s/validated=%v", name, p != nil), func(t *testing.T) {
				tl, err := replay.Verify(t.Context(), &liar{Store: test.verified, log: test.log}, p, silent)
				switch {
				case test.says == "":
					if err != nil || tl.Edge.Last() == 0 {
						t.Errorf("%v", err)
					}
				case tl != nil || err == nil || err.Error() != "corrupt ledger: "+test.says:
					t.Errorf("%v, want %s", err, test.says)
				}
			})
		}
	}
	t.Run("interrupted", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		must.FailGet(replay.Verify(ctx, good, params, silent))(t, context.Canceled, "interrupted")
	})
	t.Run("validation interrupted", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		must.Fail(t, replay.Interrupted(ctx, cancel, params, genesis, ledger.Record{Seq: 1, Entry: honest[0]}), context.Canceled, "interrupted")
	})
}

// TestIsDatabase: a path is taken for a connection string only if it has the form of one and there is no such file.
func TestIsDatabase(t *testing.T) {
	t.Chdir(t.TempDir())
	for arg, want := range map[string]bool{
		"postgres://user@host:1/database":        true,
		"POSTGRESQL://host/database":             true,
		"postgres:/user:password@host/database":  true, // damaged, as are the next four
		"mysql://host/database":                  true,
		"user:password@host/database":            true,
		"user:pass/word@host/database":           true,
		"hots=127.0.0.1 password = 'word'":       true,
		"host=/var/run/postgresql dbname=ledger": true,
		"DBNAME = ledger":                        true,
		"user=zkbench":                           true,
		"service=ledgers":                        true,
		"ledger.db":                              false,
		"curve=BN254/ledger.db":                  false,
		"/tmp/curve=BN254/bits=8/ledger.db":      false,
		"/home/user:1/me@home/ledger.db":         false,
		"/tmp/a ledger/host=1/ledger.db":         false,
		"me@home/ledger.db":                      false,
		"./host=a":                               false,
		"../user:password@host":                  false,
		"ghost=1/ledger.db":                      false,
		"":                                       false,
	} {
		golden.Equal(t, arg, want, replay.IsDatabase(arg))
	}
	must.Do(t, os.WriteFile("host=a", nil, 0o600))
	golden.Equal(t, "the name of a file", false, replay.IsDatabase("host=a"))

	path := filepath.Join(t.TempDir(), "curve=BN254")
	made := must.Get(replay.Create(t.Context(), path, ledger.Genesis{}))(t)
	must.Do(t, made.Close())
	must.Get(os.Stat(path))(t)
}

// demoLog returns the parameters, the genesis and the log of a demo.
func demoLog(t *testing.T) (params *token.PublicParams, genesis ledger.Genesis, all []ledger.Entry) {
	t.Helper()
	dir := t.TempDir()
	must.Do(t, demo.Run(t.Context(), io.Discard, demo.Options{Dir: dir, Curve: "BN254", Bits: 8, ProofType: token.CSP}))
	params = must.Get(token.DecodePublicParams(must.Get(os.ReadFile(filepath.Join(dir, demo.ParamsFile)))(t)))(t)
	genesis, all = entries(t, filepath.Join(dir, replay.FileName))
	return params, genesis, all
}

// ledgerOf returns a ledger with these entries.
func ledgerOf(t *testing.T, genesis ledger.Genesis, all []ledger.Entry) *bolt.Ledger {
	t.Helper()
	l := must.Get(bolt.Create(filepath.Join(t.TempDir(), replay.FileName), genesis))(t)
	t.Cleanup(func() { _ = l.Close() })
	for i := range all {
		must.Do(t, l.Apply(t.Context(), all[i:i+1]))
	}
	return l
}

// silent ignores progress.
func silent(uint64, uint64) {}

// entries returns a ledger's genesis and log.
func entries(t *testing.T, path string) (genesis ledger.Genesis, all []ledger.Entry) {
	t.Helper()
	l := must.Get(bolt.Open(path))(t)
	defer l.Close()
	for _, r := range ledgertest.Records(t, l, 1) {
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
