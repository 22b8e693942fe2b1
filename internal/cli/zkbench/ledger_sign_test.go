package zkbench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/pgtest"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/bolt"
	"github.com/zkbench/zkbench/token/ledger/head"
	"github.com/zkbench/zkbench/token/ledger/replay"
)

// newVotes returns an office whose policy names the validators vera and victor, of whom one must sign, and one administrator.
func newVotes(t *testing.T) *office {
	t.Helper()
	o := &office{t: t, dir: t.TempDir()}
	o.does("params", "new", "--out", o.path("params"), "--bits", "8", "--proof-type", "csp", "--administrator", o.ed25519Key("anna"), "--threshold", "1",
		"--validator", o.ed25519Key("vera")+","+o.ed25519Key("victor"), "--head-threshold", "1")
	return o
}

// updates puts an update of the policy on a ledger.
func (o *office) updates(place string, flags ...string) {
	o.t.Helper()
	source := []string{"--params", o.path("params"), "--ledger", place}
	update := filepath.Join(o.t.TempDir(), "update")
	o.does(append(append([]string{"policy", "new", "--out", update}, source...), flags...)...)
	o.signs(update, "anna.key", source)
	o.does(append([]string{"policy", "apply", update}, source...)...)
}

// signFlags returns the flags with which a validator signs.
func (o *office) signFlags(name string) []string {
	return []string{"--params", o.path("params"), "--key", o.path(name + ".key"), "--state", o.path(name + ".head")}
}

// TestLedgerSignInvalid: a validator does not sign a log with a request that is not valid, and asks again only for those after its last head.
func TestLedgerSignInvalid(t *testing.T) {
	o := newVotes(t)
	path := o.path(replay.FileName)
	o.does("ledger", "new", path, "--params", o.path("params"))
	o.does(append([]string{"ledger", "sign", path, "--new"}, o.signFlags("vera")...)...)
	l := must.Get(bolt.Open(path))(t)
	rules := must.Get(loadParams(o.path("params")))(t).Policy
	junk := ledger.Entry{Anchor: []byte("junk"), Time: time.Unix(1e9, 0), Request: []byte("junk"), PolicyDigest: must.Get(rules.Digest())(t)}
	must.Do(t, errors.Join(l.Apply(t.Context(), []ledger.Entry{junk}), l.Close()))
	for _, args := range [][]string{o.signFlags("vera"), append(o.signFlags("victor"), "--new")} {
		code, _, stderr := call(append([]string{"ledger", "sign", path}, args...)...)
		golden.Equal(t, "exit code", cli.ExitFailed, code)
		golden.Contains(t, stderr, "corrupt ledger: request 1: not valid: ")
	}
	l = must.Get(bolt.Open(path))(t)
	defer l.Close()
	h := must.Get(head.ParseSigned(must.Get(l.Proposed(t.Context()))(t)))(t)
	golden.Equal(t, "leaves of the signed head", 1, h.Size)
}

// TestLedgerSignWatch: a validator signs a ledger in a database as it grows, until it is stopped, or is no validator any more.
func TestLedgerSignWatch(t *testing.T) {
	var server pgtest.Server
	url := server.URL(t)
	t.Cleanup(server.Stop)
	o := newVotes(t)
	o.does("ledger", "new", url, "--params", o.path("params"))
	l := must.Get(replay.Open(t.Context(), url))(t)
	defer l.Close()
	var ended chan error
	signed := func(leaves uint64) { // waits for a head of so many leaves
		t.Helper()
		for {
			if signed := must.Get(l.Proposed(t.Context()))(t); signed != nil && must.Get(head.ParseSigned(signed))(t).Size == leaves {
				return
			}
			select {
			case err := <-ended:
				t.Fatalf("the command ended before the head of %d leaves: %v", leaves, err)
			case <-time.After(10 * time.Millisecond):
			}
		}
	}
	// watch runs the command while work goes on. If work returns true, it stops the command.
	watch := func(work func() (stop bool), flags ...string) (stdout string, err error) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		var out, messages strings.Builder
		cmd := ledgerSignCommand(&out, &messages)
		cmd.SilenceUsage, cmd.SilenceErrors = true, true
		cmd.SetArgs(append(append([]string{url, "--watch"}, o.signFlags("vera")...), flags...))
		ended = make(chan error, 1)
		go func() { ended <- cmd.ExecuteContext(ctx) }()
		if work() {
			stop()
		}
		err = <-ended
		golden.Equal(t, "messages", "", messages.String())
		return out.String(), err
	}
	line := func(leaves int) string {
		return fmt.Sprintf(`signed: %d leaves?, root [0-9A-Za-z+/]+=, at [-0-9]+T[:0-9]+Z; 1 of 2 validators have signed, 1 must\n`, leaves)
	}
	stdout, err := watch(func() bool {
		signed(1)
		o.updates(url, "--max-metadata", "1")
		signed(2)
		o.updates(url, "--max-metadata", "2")
		signed(3)
		return true
	}, "--new")
	must.Do(t, err)
	if want := `^\S+: new; it signed the genesis: 1 leaf, root \S+\n` + line(1) + line(3) + `$`; !regexp.MustCompile(want).MatchString(stdout) {
		t.Errorf("%q, want %s", stdout, want)
	}
	stdout, err = watch(func() bool {
		o.updates(url, "--max-metadata", "3")
		signed(4)
		o.updates(url, "--validator", o.ed25519Key("victor"))
		return false
	})
	golden.Equal(t, "exit code", cli.ExitUsage, cli.CodeOf(err))
	golden.Contains(t, err.Error(), "database: ", "is no validator of policy 4")
	if strings.Count(stdout, "\n") != 1 {
		t.Errorf("%q, want one line", stdout)
	}
}
