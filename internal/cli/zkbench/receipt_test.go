package zkbench

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/cli/demo"
	"github.com/zkbench/zkbench/internal/cli/keyfile"
	"github.com/zkbench/zkbench/internal/cli/wallet"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/ledger/bolt"
	"github.com/zkbench/zkbench/token/ledger/head"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
	"github.com/zkbench/zkbench/token/ledger/replay"
	"github.com/zkbench/zkbench/token/policy"
)

// signHead stores a head of the log as it is, signed by one validator, and returns how many leaves it has.
func (w *till) signHead(validator identity.Signer) uint64 {
	w.t.Helper()
	l := must.Get(bolt.Open(filepath.Join(w.dir, replay.FileName)))(w.t)
	defer l.Close()
	state := must.Get(l.State(w.t.Context()))(w.t)
	path := filepath.Join(w.t.TempDir(), "heads")
	h := head.Head{Ledger: l.Genesis().ID(), Size: state.Last + 1, Root: state.Root}
	must.Do(w.t, head.CreateSigner(path, validator, h, time.Unix(1_800_000_000, 0)))
	s := must.Get(head.OpenSigner(path, validator, h.Ledger))(w.t)
	defer s.Close()
	must.Do(w.t, l.PutHead(w.t.Context(), h.Size, s.Last(), true))
	return h.Size
}

// anchor returns the anchor of a request in the form of the commands.
func (w *till) anchor(seq uint64) string {
	w.t.Helper()
	l := must.Get(bolt.Open(filepath.Join(w.dir, replay.FileName)))(w.t)
	defer l.Close()
	return fmt.Sprintf("%x", ledgertest.Records(w.t, l, seq)[0].Anchor)
}

// name makes somebody the validator of the ledger by an update of the policy, with the keys of two administrators.
func (w *till) name(validator identity.Signer) {
	w.t.Helper()
	source := []string{"--params", w.path(demo.ParamsFile), "--ledger", w.dir}
	update := w.path("update")
	w.does(`(.|\n)*`, append([]string{"policy", "new", "--out", update, "--validator", fmt.Sprintf("ed25519:%x", []byte(validator.Identity()[1:]))}, source...)...)
	digest := must.Get(must.Get(policy.Decode(must.Get(os.ReadFile(update))(w.t)))(w.t).ShortDigest())(w.t)
	for i := 1; i <= 2; i++ {
		key := w.path("keys", fmt.Sprintf("administrator-%d.pem", i))
		w.does(`(.|\n)*`, append([]string{"policy", "sign", update, "--key", key, "--digest", digest}, source...)...)
	}
	w.does(`(.|\n)*`, append([]string{"policy", "apply", update}, source...)...)
}

// TestReceipt: receipts of a payment on the demo's ledger, plain and with an output opened; what is said before a head covers it, and
// of a receipt that proves nothing.
func TestReceipt(t *testing.T) {
	w := newTill(t)
	params := []string{"--params", w.path(demo.ParamsFile)}
	said := w.does(`wallet of (.|\n)*`, append(w.walletArgs("me", "new"), params...)...)
	me, _, _ := strings.Cut(strings.TrimPrefix(said, "wallet of "), ",")
	w.does(`paid 20 USD(.|\n)*`, w.signed("south", "pay", "--to", w.does(anAddr, w.walletArgs("me", "address")...), "--value", "20", "--type", "USD")...)
	anchor := w.anchor(8)
	refuses(t, "no signed head covers request 8: the ledger has none", "ledger", "receipt", w.dir, anchor)

	validator := must.Get(wallet.NewKey())(t).Self()
	w.signHead(validator)
	unnamed := w.path("unnamed.tlog-proof")
	w.does(regexp.QuoteMeta(unnamed)+`: [0-9]+ bytes; .*\n`, "ledger", "receipt", w.dir, anchor, "--out", unnamed)
	fails(t, "the policy has no validators", append([]string{"ledger", "verify-receipt", unnamed}, params...)...)
	fails(t, "zkbench policy new --validator", append([]string{"ledger", "verify-receipt", unnamed}, params...)...)
	code, _, stderr := call(w.walletArgs("south", "receipt", anchor, "--open", "1")...)
	golden.Equal(t, "exit code of wallet receipt", cli.ExitUsage, code)
	golden.Contains(t, stderr, "the policy has no validators")

	w.name(validator)
	refuses(t, "no signed head covers request 9: the last one has 9 leaves", "ledger", "receipt", w.dir, w.anchor(9))
	w.signHead(validator)
	proves := func(anchor string, seq int, what, more, hidden string) string {
		return fmt.Sprintf(`ok: request %d is in the log of ledger [0-9a-f]{64}\nrequest: anchor %s, %s\ntime, by the operator: [-0-9]+T[:0-9]+Z\n`+
			`head: 10 leaves at 2027-01-15T08:00:00Z, signed by 1 of the 1 validators of policy 2, who must be 1\n%snot proved: %sits proofs and signatures, .*\n`, seq, anchor, what, more, hidden)
	}
	plain, open := w.path("plain.tlog-proof"), w.path("open.tlog-proof")
	w.does(`.*\n`, "ledger", "receipt", w.dir, anchor, "--out", plain)
	verify := func(want, path string) {
		t.Helper()
		w.does(want, append([]string{"ledger", "verify-receipt", path}, params...)...)
	}
	verify(proves(anchor, 8, "[0-9]+ inputs, 2 outputs, accepted under policy 1", "", "the values and types of its tokens; "), plain)
	history := w.does(`(.|\n)*`, w.walletArgs("south", "history", "-v")...)
	at := regexp.MustCompile(`output ([12]): 20 USD to Ed25519`).FindStringSubmatch(history)
	w.does(`.*\n`, w.walletArgs("south", "receipt", anchor, "--open", at[1], "--out", open)...)
	verify(proves(anchor, 8, ".*", "output "+at[1]+": 20 USD to "+me+"\n", "the values of its other tokens; "), open)
	change := w.path("change.tlog-proof")
	w.does(`.*\n`, w.walletArgs("south", "receipt", anchor, "--open", map[string]string{"1": "2", "2": "1"}[at[1]], "--out", change)...)
	verify(proves(anchor, 8, ".*", `output [12]: 10 USD to pseudonym [0-9a-f]+\n`, "the values of its other tokens; "), change)
	update := w.path("update.tlog-proof")
	must.Do(t, os.WriteFile(update, []byte(w.does(`(.|\n)*`, "ledger", "receipt", w.dir, w.anchor(9))+"\n"), 0o644)) // does trims it
	verify(proves(w.anchor(9), 9, "update of the policy, accepted under policy 1", "", ""), update)

	bent := w.path("bent.tlog-proof")
	data := must.Get(os.ReadFile(open))(t)
	must.Do(t, os.WriteFile(bent, bytes.Replace(data, []byte("\nindex 8\n"), []byte("\nindex 7\n"), 1), 0o644))
	fails(t, "receipt's proof: proof rejected: leaf 7 is not under the root of 10 leaves", append([]string{"ledger", "verify-receipt", bent}, params...)...)
	other := newTill(t)
	fails(t, "has other parameters", "ledger", "verify-receipt", open, "--params", other.path(demo.ParamsFile))
	for says, args := range map[string][]string{
		`params: "" is not accepted`:                       {"ledger", "verify-receipt", open},
		"no such file":                                     append([]string{"ledger", "verify-receipt", w.path("none")}, params...),
		"receipt.format at byte 0":                         append([]string{"ledger", "verify-receipt", w.path(demo.ParamsFile)}, params...),
		"FILE of ledger verify-receipt":                    {"ledger", "verify-receipt"},
		"PATH of ledger receipt":                           {"ledger", "receipt"},
		`ANCHOR of ledger receipt: "" is not accepted`:     {"ledger", "receipt", w.dir},
		`ANCHOR of ledger receipt: "8" is not accepted`:    {"ledger", "receipt", w.dir, "8"},
		"no request on the ledger has this anchor":         {"ledger", "receipt", w.dir, "aabb"},
		"accepted: the path of a file that does not exist": {"ledger", "receipt", w.dir, anchor, "--out", plain},
		`open: "" is not accepted`:                         w.walletArgs("south", "receipt", anchor),
		`open: "3" is not accepted; accepted: 1 to 2`:      w.walletArgs("south", "receipt", anchor, "--open", "3"),
		"ANCHOR of wallet receipt":                         w.walletArgs("south", "receipt", "--open", "1"),
		"the wallet knows no payment aabb":                 w.walletArgs("south", "receipt", "aabb", "--open", "1"),
		"only the vault that made it has them":             w.walletArgs("me", "receipt", anchor, "--open", "1"),
	} {
		refuses(t, says, args...)
	}
}

// fails fails the test unless a command ends with exit code 1 and one line that says why, without output.
func fails(t *testing.T, says string, args ...string) {
	t.Helper()
	code, stdout, stderr := call(args...)
	if code != cli.ExitFailed || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, says) {
		t.Errorf("%q: exit code %d, output %q, %q; want %d, ...%s", args, code, stdout, stderr, cli.ExitFailed, says)
	}
}

// TestOwnerInFull: whose a token is, for each kind of owner.
func TestOwnerInFull(t *testing.T) {
	key := must.Get(wallet.NewKey())(t).Self().Identity()
	golden.Equal(t, "nobody", "nobody: redeemed", ownerInFull(nil))
	golden.Equal(t, "a key", fmt.Sprintf("%s%x", keyfile.Ed25519Prefix, []byte(key[1:])), ownerInFull(key))
	golden.Equal(t, "a pseudonym", "pseudonym 0102", ownerInFull([]byte{byte(identity.TypePseudonym), 1, 2}))
	golden.Contains(t, ownerInFull([]byte{byte(identity.TypeX509), 1}), "X.509", "SHA-256 4bf5122f344554c53bde2ebb8cd2b7e3d1600ad631c385a5d7cce23c7785459a")
}
