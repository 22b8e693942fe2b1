package own

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/golden"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/token/ledger/bolt"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
	"github.com/zkbench/zkbench/token/ledger/replay"
	"github.com/zkbench/zkbench/token/policy"
)

// office is a directory with parameters, a ledger under them, and the keys of administrators.
type office struct {
	t   *testing.T
	dir string
	id  string // of the ledger, in hex
}

func (o *office) path(name string) string { return filepath.Join(o.dir, name) }

// keyFile writes a secret key and returns its path.
func (o *office) keyFile(name string, key any) string {
	o.t.Helper()
	der := must.Get(x509.MarshalPKCS8PrivateKey(key))(o.t)
	must.Do(o.t, os.WriteFile(o.path(name), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600))
	return o.path(name)
}

// ed25519Key returns how flags name the key of a name, whose secret it writes.
func (o *office) ed25519Key(name string) string {
	o.t.Helper()
	seed := sha256.Sum256([]byte(name))
	key := ed25519.NewKeyFromSeed(seed[:])
	o.keyFile(name+".key", key)
	return ed25519Prefix + hex.EncodeToString(key.Public().(ed25519.PublicKey))
}

// certificate writes a certificate and the secret of its key, and returns the former's path.
func (o *office) certificate(name string) string {
	o.t.Helper()
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(o.t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Unix(1_700_000_000, 0), NotAfter: time.Unix(1_900_000_000, 0),
	}
	der := must.Get(x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key))(o.t)
	o.keyFile(name+".key", key)
	must.Do(o.t, os.WriteFile(o.path(name+".pem"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o644))
	return o.path(name + ".pem")
}

// does wants a command to end well, and returns its output.
func (o *office) does(args ...string) string {
	o.t.Helper()
	code, stdout, stderr := call(args...)
	if code != cli.ExitOK || stderr != "" {
		o.t.Fatalf("%q: exit code %d, %s%s", args, code, stdout, stderr)
	}
	return stdout
}

func newOffice(t *testing.T) *office {
	t.Helper()
	o := &office{t: t, dir: t.TempDir()}
	admins := []string{o.ed25519Key("anna"), o.ed25519Key("ben"), o.certificate("carl")}
	o.does("params", "new", "--out", o.path("params"), "--bits", "8", "--proof-type", "csp", "--issuer", o.ed25519Key("issuer"),
		"--administrator", strings.Join(admins, ","), "--threshold", "2")
	o.id = strings.TrimSpace(strings.TrimPrefix(o.does("ledger", "new", o.dir, "--params", o.path("params")), "ledger "))
	return o
}

// online and offline are the flags that say where the policy is.
func (o *office) online() []string {
	return []string{"--params", o.path("params"), "--ledger", o.dir}
}

func (o *office) offline(after ...string) []string {
	flags := []string{"--params", o.path("params"), "--id", o.id}
	if len(after) > 0 {
		flags = append(flags, "--after", strings.Join(after, ","))
	}
	return flags
}

func with(args []string, more ...string) []string {
	return append(append([]string(nil), args...), more...)
}

// TestPolicyCommands: a stolen issuer's key is replaced, by an update that is made at the ledger, signed beside it, and applied; then
// the administrators change too.
func TestPolicyCommands(t *testing.T) {
	o := newOffice(t)
	one, two := o.path("one"), o.path("two")
	fresh := o.ed25519Key("another issuer")
	stolen := identityViews([][]byte{must.Get(parseIdentity(o.ed25519Key("issuer")))(t)})[0].Fingerprint
	out := o.does(with(o.online(), "policy", "new", "--out", one, "--remove-issuer", short(stolen), "--add-issuer", fresh, "--max-inputs", "8", "--owners", "ed25519")...)
	for _, want := range []string{
		"policy 0 to 1\n", "no longer issuer: Ed25519 " + short(stolen), "new issuer: Ed25519 ", "inputs up to: 8, before 64\n",
		"owners: ed25519, before x509, ed25519, pseudonym, hashlock, threshold\n",
		"signatures of policy 0: 0 of 2 that it needs; 2 more of: ", "not to be applied yet: ",
	} {
		golden.Contains(t, out, want)
	}
	apply := with(o.online(), "policy", "apply", one)
	refuses(t, "0 administrators of policy 0 have signed, it needs 2", apply...)
	golden.Contains(t, o.does(with(o.offline(), "policy", "sign", one, "--key", o.path("anna.key"))...), "1 of 2 that it needs; 1 more of: ")
	refuses(t, "1 administrators of policy 0 have signed", apply...)
	o.does(with(o.offline(), "policy", "sign", one, "--key", o.path("anna.key"))...) // again: which does not count twice
	refuses(t, "1 administrators of policy 0 have signed", apply...)
	golden.Contains(t, o.does(with(o.offline(), "policy", "sign", one, "--key", o.path("carl.key"))...), "ok: complete\n")
	golden.Equal(t, "applied", fmt.Sprintf("ok: policy 1 is on the ledger %s\n", o.id), o.does(apply...))
	refuses(t, "an update to policy 1, the current one is 1", apply...)

	dora := o.ed25519Key("dora")
	o.does(with(o.online(), "policy", "new", "--out", two, "--administrator", dora+","+o.ed25519Key("anna"), "--threshold", "2")...)
	o.does(with(o.offline(one), "policy", "sign", two, "--key", o.path("anna.key"))...)
	golden.Contains(t, o.does(with(o.offline(one), "policy", "sign", two, "--key", o.path("ben.key"))...), "signatures of policy 2: 1 of 2 that it needs; 1 more of: Ed25519 ")
	apply[len(apply)-1] = two
	refuses(t, "1 administrators of policy 2 have signed, it needs 2", apply...)
	o.does(with(o.offline(one), "policy", "sign", two, "--key", o.path("dora.key"))...)
	golden.Contains(t, o.does(with(o.online(), "policy", "show", two)...), "no longer administrator: X.509 ")
	o.does(apply...)
	golden.Contains(t, o.does("ledger", "verify", o.dir, "--params", o.path("params")), "ok: 2 requests in 2 batches, each valid under the parameters; 0 tokens: 0 unspent, 0 spent; policy 2; ")
}

// TestPolicyApplyBehindTime: an update lands on a ledger whose last time is ahead of the clock, at that time.
func TestPolicyApplyBehindTime(t *testing.T) {
	o := newOffice(t)
	path, made := filepath.Join(o.dir, replay.FileName), o.path("made")
	l := must.Get(bolt.Open(path))(t)
	ledgertest.Apply(t, l, ledgertest.At(1e11, ledgertest.Issue("ahead", 1)))
	must.Do(t, l.Close())
	o.does(with(o.online(), "policy", "new", "--out", made, "--max-inputs", "8")...)
	for _, name := range []string{"anna.key", "ben.key"} {
		o.does(with(o.offline(), "policy", "sign", made, "--key", o.path(name))...)
	}
	o.does(with(o.online(), "policy", "apply", made)...)
	_, all := entries(t, path)
	golden.Equal(t, "time of the update", all[0].Time, all[1].Time)
}

// TestPolicyCommandsRefuse: what does not go is one line, and leaves no file and no ledger behind; no secret is shown.
func TestPolicyCommandsRefuse(t *testing.T) {
	o := newOffice(t)
	made, out := o.path("made"), o.path("out")
	o.does(with(o.online(), "policy", "new", "--out", made, "--max-inputs", "8")...)
	p := must.Get(loadParams(o.path("params")))(t)
	foreign := must.Get(policy.New([32]byte{9}, &p.Policy, &p.Policy))(t)
	must.Do(t, os.WriteFile(o.path("foreign"), must.Get(foreign.Encode())(t), 0o644))
	public := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: []byte("a public key")})
	must.Do(t, errors.Join(os.WriteFile(o.path("public.pem"), public, 0o644), os.WriteFile(o.path("noise"), []byte{7, 7, 7}, 0o644)))
	o.ed25519Key("stranger")
	source := o.online()
	newUpdate := with(source, "policy", "new", "--out", out)
	anna := must.Get(os.ReadFile(o.path("anna.key")))(t)
	for name, test := range map[string]struct {
		args []string
		says string
	}{
		"no parameters":          {[]string{"policy", "show", made, "--ledger", o.dir}, `params: "" is not accepted; accepted: the path of a file of public parameters`},
		"no ledger":              {[]string{"policy", "show", made, "--params", o.path("params")}, `ledger: "" is not accepted; accepted: --ledger, or --id with --after`},
		"two ledgers":            {with(source, "policy", "show", made, "--id", o.id), `accepted: --ledger, or --id with --after`},
		"a short id":             {[]string{"policy", "show", made, "--params", o.path("params"), "--id", "00ff"}, `id: "00ff" is not accepted; accepted: 64 hex digits`},
		"another ledger's id":    {[]string{"policy", "show", made, "--params", o.path("params"), "--id", strings.Repeat("0", 64)}, "an update of ledger " + o.id},
		"another ledger's":       {with(source, "policy", "show", o.path("foreign")), "this is " + o.id},
		"no update":              {with(source, "policy", "show", o.path("noise")), "update.version at byte 0: 7, want 128 or more: no update of a policy"},
		"no file":                {with(source, "policy", "show"), `FILE of policy show: "" is not accepted`},
		"after what is unsigned": {with(o.offline(made), "policy", "show", made), made + ": update's administrators: "},
		"no out":                 {with(source, "policy", "new"), `out: "" is not accepted`},
		"out exists":             {with(source, "policy", "new", "--out", made), `out: "` + made + `" is not accepted`},
		"a stranger removed":     {with(newUpdate, "--remove-issuer", o.ed25519Key("stranger")), "remove-issuer: "},
		"added twice":            {with(newUpdate, "--add-issuer", o.ed25519Key("issuer")), "accepted: who is not among them yet"},
		"all administrators":     {with(newUpdate, "--administrator", o.ed25519Key("anna")), "threshold: "},
		"a threshold too high":   {with(newUpdate, "--threshold", "4"), `threshold: "4" is not accepted; accepted: 1 to 3`},
		"no owners":              {with(newUpdate, "--owners", "hashlock"), "or nobody could own a token"},
		"no limits":              {with(newUpdate, "--max-outputs", "0"), `max-outputs: "0" is not accepted; accepted: 1 to 64`},
		"types, no auditor":      {with(newUpdate, "--issuer", o.ed25519Key("issuer")+"=USD"), "without auditors"},
		"small order":            {with(newUpdate, "--add-administrator", "ed25519:01"+strings.Repeat("0", 62)), "small order"},
		"no key":                 {with(source, "policy", "sign", made), `key: "" is not accepted; accepted: the path of a PEM file`},
		"a stranger's key":       {with(source, "policy", "sign", made, "--key", o.path("stranger.key")), "of an administrator before or after the update"},
		"a public key":           {with(source, "policy", "sign", made, "--key", o.path("public.pem")), "one PRIVATE KEY (PKCS #8)"},
		"noise for a key":        {with(source, "policy", "sign", made, "--key", o.path("noise")), "one PRIVATE KEY (PKCS #8)"},
		"missing key":            {with(source, "policy", "sign", made, "--key", o.path("missing.key")), "missing.key"},
		"applied offline":        {with(o.offline(), "policy", "apply", made), `ledger: "" is not accepted`},
		"a password":             {[]string{"policy", "show", made, "--params", o.path("params"), "--ledger", "postgres://u:secret@/x?y@z"}, "database"},
	} {
		t.Run(name, func(t *testing.T) {
			refuses(t, test.says, test.args...)
			_, _, stderr := call(test.args...)
			if strings.Contains(stderr, "secret@") || strings.Contains(stderr, string(anna[30:60])) {
				t.Errorf("a secret is shown: %s", stderr)
			}
			if _, err := os.Stat(out); err == nil {
				t.Error("a file was written")
			}
		})
	}
	report := o.does("ledger", "verify", o.dir)
	golden.Contains(t, report, "ok: 0 requests")
}
