package zkbench

import (
	"bytes"
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
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
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

// ed25519Key writes the secret of a named key and returns the public key as flags name it.
func (o *office) ed25519Key(name string) string {
	o.t.Helper()
	seed := sha256.Sum256([]byte(name))
	key := ed25519.NewKeyFromSeed(seed[:])
	o.keyFile(name+".key", key)
	return ed25519Prefix + hex.EncodeToString(key.Public().(ed25519.PublicKey))
}

// certificate writes a certificate and its secret key, and returns the certificate's path.
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

// does fails the test unless a command succeeds, and returns its output.
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

// online and offline return the flags that say where the policy is.
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

// digest returns the digest that policy show prints for an update.
func (o *office) digest(update string, source []string) string {
	o.t.Helper()
	_, rest, _ := strings.Cut(o.does(withArgs(source, "policy", "show", update)...), "\ndigest ")
	digest, _, found := strings.Cut(rest, "\n")
	if !found {
		o.t.Fatal("policy show prints no digest")
	}
	return digest
}

// signs signs an update with the key in a file, and returns the output.
func (o *office) signs(update, key string, source []string) string {
	o.t.Helper()
	return o.does(withArgs(source, "policy", "sign", update, "--key", o.path(key), "--digest", o.digest(update, source))...)
}

func withArgs(args []string, more ...string) []string {
	return append(append([]string(nil), args...), more...)
}

// TestPolicyCommands: a stolen issuer's key is replaced, by an update that is made at the ledger, signed beside it, and applied; then
// the administrators change too.
func TestPolicyCommands(t *testing.T) {
	o := newOffice(t)
	one, two := o.path("one"), o.path("two")
	fresh := o.ed25519Key("another issuer")
	stolen := identityViews([][]byte{must.Get(parseIdentity(o.ed25519Key("issuer")))(t)})[0].Fingerprint
	out := o.does(withArgs(o.online(), "policy", "new", "--out", one, "--remove-issuer", short(stolen), "--add-issuer", fresh, "--max-inputs", "8", "--owners", "ed25519")...)
	for _, want := range []string{
		"policy 0 to 1\n", "no longer issuer: Ed25519 " + short(stolen), "new issuer: Ed25519 ", "inputs up to: 8, before 64\n",
		"owners: ed25519, before x509, ed25519, pseudonym, hashlock, threshold\n",
		"signatures of policy 0: 0 of the 2 that it needs; 2 more of: ", "cannot be applied yet: ",
	} {
		golden.Contains(t, out, want)
	}
	apply := withArgs(o.online(), "policy", "apply", one)
	refuses(t, "0 administrators of policy 0 have signed, it needs 2", apply...)
	golden.Contains(t, o.signs(one, "anna.key", o.offline()), "1 of the 2 that it needs; 1 more of: ")
	refuses(t, "1 administrators of policy 0 have signed", apply...)
	o.signs(one, "anna.key", o.offline()) // again: which does not count twice
	refuses(t, "1 administrators of policy 0 have signed", apply...)
	golden.Contains(t, o.signs(one, "carl.key", o.offline()), "ok: complete\n")
	golden.Equal(t, "applied", fmt.Sprintf("ok: policy 1 is on the ledger %s\n", o.id), o.does(apply...))
	refuses(t, "an update to policy 1, the current one is 1", apply...)

	dora := o.ed25519Key("dora")
	o.does(withArgs(o.online(), "policy", "new", "--out", two, "--administrator", dora+","+o.ed25519Key("anna"), "--threshold", "2")...)
	o.signs(two, "anna.key", o.offline(one))
	golden.Contains(t, o.signs(two, "ben.key", o.offline(one)), "signatures of policy 2: 1 of the 2 that it needs; 1 more of: Ed25519 ")
	apply[len(apply)-1] = two
	refuses(t, "1 administrators of policy 2 have signed, it needs 2", apply...)
	o.signs(two, "dora.key", o.offline(one))
	golden.Contains(t, o.does(withArgs(o.online(), "policy", "show", two)...), "no longer administrator: X.509 ")
	o.does(apply...)
	golden.Contains(t, o.does("ledger", "verify", o.dir, "--params", o.path("params")), "ok: 2 requests, each valid under the parameters; 0 tokens: 0 unspent, 0 spent; policy 2; ")
}

// TestPolicySignByDigest: only the update with the digest that is named is signed; without one it is shown.
func TestPolicySignByDigest(t *testing.T) {
	o := newOffice(t)
	source, made, other := o.offline(), o.path("made"), o.path("other")
	new1 := o.does(withArgs(o.online(), "policy", "new", "--out", made, "--max-inputs", "8")...)
	o.does(withArgs(o.online(), "policy", "new", "--out", other, "--max-inputs", "9")...)
	digest := o.digest(made, source)
	golden.Contains(t, new1, "\ndigest "+digest+"\n")
	before := must.Get(os.ReadFile(made))(t)
	sign := withArgs(source, "policy", "sign", made, "--key", o.path("anna.key"))

	code, stdout, stderr := call(sign...)
	golden.Equal(t, "exit code", cli.ExitUsage, code)
	golden.Equal(t, "what is shown", o.does(withArgs(source, "policy", "show", made)...), stdout)
	golden.Equal(t, "what is said", `zkbench: digest: "" is not accepted; accepted: the digest above, if another administrator has read out the same; nothing was signed`+"\n", stderr)
	for name, wrong := range map[string]string{
		"another update's": o.digest(other, source), "none": "", "a digit short": digest[:len(digest)-1], "a digit more": digest + "0",
		"its start": digest[:4], "another digit": digest[:len(digest)-1] + string("10"[strings.Count(digest[len(digest)-1:], "1")]),
	} {
		t.Run(name, func(t *testing.T) {
			refuses(t, fmt.Sprintf("digest: %q is not accepted; accepted: the digest of the update in %s", wrong, made), withArgs(sign, "--digest", wrong)...)
		})
	}
	golden.Equal(t, "the file, when nothing was signed", before, must.Get(os.ReadFile(made))(t))
	// The digest that was told names one update; the file of another is not signed, wherever it lies.
	must.Do(t, os.WriteFile(made, must.Get(os.ReadFile(other))(t), 0o644))
	refuses(t, "this digest belongs to another update", withArgs(sign, "--digest", digest)...)
	must.Do(t, os.WriteFile(made, before, 0o644))
	golden.Contains(t, o.does(withArgs(sign, "--digest", strings.ToUpper(strings.ReplaceAll(digest, "-", " ")))...), "signatures of policy 0: 1 of the 2 ")
	golden.Equal(t, "digest, when one has signed", digest, o.digest(made, source))
}

// TestPolicyKeyOfOthers: a secret key that others than its owner can open signs nothing, and one behind a link is the file that it leads to.
func TestPolicyKeyOfOthers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes say nothing about others there")
	}
	o := newOffice(t)
	made, key, link := o.path("made"), o.path("anna.key"), o.path("link")
	o.does(withArgs(o.online(), "policy", "new", "--out", made, "--max-inputs", "8")...)
	must.Do(t, os.Symlink(key, link))
	before := must.Get(os.ReadFile(made))(t)
	sign := withArgs(o.offline(), "policy", "sign", made, "--digest", o.digest(made, o.offline()), "--key")
	for _, bit := range []os.FileMode{0o040, 0o020, 0o010, 0o004, 0o002, 0o001, 0o044} {
		must.Do(t, os.Chmod(key, 0o600|bit))
		for _, path := range []string{key, link} {
			refuses(t, fmt.Sprintf("key: \"%s, mode %04o\" is not accepted; accepted: a secret key that only its owner can read; try chmod 600 %s", path, 0o600|bit, path), withArgs(sign, path)...)
		}
	}
	golden.Equal(t, "the file, when nothing was signed", before, must.Get(os.ReadFile(made))(t))
	for _, mode := range []os.FileMode{0o600, 0o400} {
		must.Do(t, os.Chmod(key, mode))
		o.does(withArgs(sign, key)...)
		o.does(withArgs(sign, link)...)
	}
}

// TestPolicyValidators: whoever changes the list of validators changes how many must sign a head, to more than two thirds, unless that
// is given too.
func TestPolicyValidators(t *testing.T) {
	o := newOffice(t)
	var keys []string
	for i := range 7 {
		keys = append(keys, o.ed25519Key(fmt.Sprint("validator ", i)))
	}
	for i, want := range []int{1, 2, 3, 3, 4, 5, 5} {
		p, flags := token.DefaultPolicy(), pflag.NewFlagSet("", pflag.ContinueOnError)
		changes := newPolicyFlags(flags, nil)
		must.Do(t, flags.Parse([]string{"--validator", strings.Join(keys[:i+1], ",")}))
		must.Do(t, changes.change(&p))
		golden.Equal(t, fmt.Sprintf("of %d", i+1), want, p.HeadThreshold)
	}
	at := o.offline()
	change := func(name string, flags ...string) string {
		o.does(withArgs(withArgs(at, "policy", "new", "--out", o.path(name)), flags...)...)
		o.signs(o.path(name), "anna.key", at)
		o.signs(o.path(name), "ben.key", at)
		shown := o.does(withArgs(at, "policy", "show", o.path(name))...)
		if at[len(at)-2] == "--after" {
			at = withArgs(at[:len(at)-1], at[len(at)-1]+","+o.path(name))
		} else {
			at = withArgs(at, "--after", o.path(name))
		}
		return shown
	}
	for i, test := range []struct {
		flags []string
		want  string // "": the threshold stays
	}{
		{[]string{"--validator", strings.Join(keys[:4], ",")}, "3, before 0"},
		{[]string{"--add-validator", keys[4] + "," + keys[5]}, "5, before 3"},
		{[]string{"--max-inputs", "8"}, ""},
		{[]string{"--head-threshold", "6"}, "6, before 5"},
		{[]string{"--max-inputs", "9"}, ""},
		{[]string{"--remove-validator", keys[0]}, "4, before 6"},
		{[]string{"--remove-validator", keys[1], "--head-threshold", "2"}, "2, before 4"},
		{[]string{"--remove-validator", strings.Join(keys[2:6], ",")}, "0, before 2"},
	} {
		shown := change(fmt.Sprint("update", i), test.flags...)
		if test.want == "" {
			golden.Equal(t, "the threshold is not said to change", false, strings.Contains(shown, "must sign a head"))
		} else {
			golden.Contains(t, shown, "validators who must sign a head: "+test.want+"\n")
		}
	}
}

// TestChangesShown: nothing of what administrators sign changes unseen, also to keys whose digests begin alike.
func TestChangesShown(t *testing.T) {
	id := func(name string) []byte {
		seed := sha256.Sum256([]byte(name))
		return ed25519Identity(ed25519.NewKeyFromSeed(seed[:]).Public().(ed25519.PublicKey))
	}
	ids := func(names ...string) (all [][]byte) {
		for _, name := range names {
			all = append(all, id(name))
		}
		slices.SortFunc(all, bytes.Compare)
		return all
	}
	first := func() *token.Policy {
		p := token.DefaultPolicy()
		p.Issuers, p.Auditors = ledgertest.Issuers(id("i")), ledgertest.Auditors(t, id("a"))
		p.Administrators = token.Administrators{Identities: ids("x", "y"), Threshold: 1}
		p.Validators, p.HeadThreshold = []token.Validator{{HeadKey: [32]byte(id("v")[1:])}}, 1
		return &p
	}
	before := must.Get(newPolicyView(first()))(t)
	golden.Equal(t, "changes of nothing", 0, len(changesOf(&before, &before)))
	for want, edit := range map[string]func(p *token.Policy){
		"new issuer: Ed25519 ":                         func(p *token.Policy) { p.Issuers[0].Identity = id("j") },
		`of ["USD"]`:                                   func(p *token.Policy) { p.Issuers[0].Types = []string{"USD"} },
		"new auditor: Ed25519 ":                        func(p *token.Policy) { p.Auditors[0].Key = slices.Concat([]byte{9}, make([]byte, 31)) },
		"no longer auditor: ":                          func(p *token.Policy) { p.Auditors = nil },
		"owners: x509, before ":                        func(p *token.Policy) { p.Owners = token.OwnerX509 },
		"redeem: issuer, before owner":                 func(p *token.Policy) { p.Redeem = token.RedeemIssuer },
		"inputs up to: 7, before 64":                   func(p *token.Policy) { p.Limits.Inputs = 7 },
		"outputs up to: 7, before 64":                  func(p *token.Policy) { p.Limits.Outputs = 7 },
		"bytes of metadata up to: 7, before 65536":     func(p *token.Policy) { p.Limits.Metadata = 7 },
		"ahead of the clock up to: 2m0s, before 1m0s":  func(p *token.Policy) { p.Limits.Ahead = 2 * time.Minute },
		"notes: mlkem768-x25519, before x25519":        func(p *token.Policy) { p.Notes = token.MLKEM768X25519 },
		"new validator: Ed25519 ":                      func(p *token.Policy) { p.Validators[0].HeadKey = [32]byte(id("w")[1:]) },
		" consensus ":                                  func(p *token.Policy) { p.Validators[0].ConsensusKey = id("w")[1:] },
		"validators who must sign a head: 0, before 1": func(p *token.Policy) { p.Validators, p.HeadThreshold = nil, 0 },
		"no longer administrator: Ed25519 ":            func(p *token.Policy) { p.Administrators.Identities = p.Administrators.Identities[:1] },
		"threshold of administrators: 2, before 1":     func(p *token.Policy) { p.Administrators.Threshold = 2 },
	} {
		p := first()
		edit(p)
		after := must.Get(newPolicyView(p))(t)
		golden.Contains(t, strings.Join(changesOf(&before, &after), "\n"), want)
	}
	alike := func(digest *string) { *digest = (*digest)[:32] + strings.Repeat("0", 32) }
	for name, edit := range map[string]func(v *policyView){
		"issuer":        func(v *policyView) { alike(&v.Issuers[0].Fingerprint) },
		"auditor":       func(v *policyView) { alike(&v.Auditors[0].Fingerprint) },
		"auditor's key": func(v *policyView) { alike(&v.Auditors[0].Key) },
		"validator":     func(v *policyView) { alike(&v.Validators[0].Fingerprint) },
		"administrator": func(v *policyView) { alike(&v.Administrators[1].Fingerprint) },
	} {
		after := must.Get(newPolicyView(first()))(t)
		edit(&after)
		golden.Equal(t, "lines about another "+name+" whose digest begins alike", 2, len(changesOf(&before, &after)))
	}
}

// TestPolicyApplyBehindTime: an update lands on a ledger whose last time is a little ahead of the clock, at that time, and not on one
// whose last time is far ahead.
func TestPolicyApplyBehindTime(t *testing.T) {
	for _, far := range []bool{false, true} {
		o := newOffice(t)
		path, made, last := filepath.Join(o.dir, replay.FileName), o.path("made"), time.Now().Unix()+30
		if far {
			last = 253358755200 // in the year 9998
		}
		l := must.Get(bolt.Open(path))(t)
		ahead := ledgertest.AtSecond(last, ledgertest.Issue("ahead", 1))
		ahead.PolicyDigest = ledgertest.State(t, l).PolicyDigest
		ledgertest.Apply(t, l, ahead)
		must.Do(t, l.Close())
		o.does(withArgs(o.online(), "policy", "new", "--out", made, "--max-inputs", "8")...)
		for _, name := range []string{"anna.key", "ben.key"} {
			o.signs(made, name, o.offline())
		}
		apply := withArgs(o.online(), "policy", "apply", made)
		if far {
			refuses(t, "the last block is of 9998-08-15T00:00:00Z, more than ", apply...)
			_, all := entries(t, path)
			golden.Equal(t, "entries", 1, len(all))
			continue
		}
		o.does(apply...)
		_, all := entries(t, path)
		golden.Equal(t, "time of the update", all[0].Time, all[1].Time)
	}
}

// TestPolicyCommandsRefuse: what does not go is one line, and leaves no file and no ledger behind; no secret is shown.
func TestPolicyCommandsRefuse(t *testing.T) {
	o := newOffice(t)
	made, out := o.path("made"), o.path("out")
	o.does(withArgs(o.online(), "policy", "new", "--out", made, "--max-inputs", "8")...)
	p := must.Get(loadParams(o.path("params")))(t)
	foreign := must.Get(policy.New([32]byte{9}, &p.Policy, &p.Policy))(t)
	must.Do(t, os.WriteFile(o.path("foreign"), must.Get(foreign.Encode())(t), 0o644))
	public := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: []byte("a public key")})
	must.Do(t, errors.Join(os.WriteFile(o.path("public.pem"), public, 0o644), os.WriteFile(o.path("noise"), []byte{7, 7, 7}, 0o644)))
	o.ed25519Key("stranger")
	source := o.online()
	newUpdate := withArgs(source, "policy", "new", "--out", out)
	sign := withArgs(source, "policy", "sign", made, "--digest", o.digest(made, source))
	must.Do(t, errors.Join(os.Chmod(o.path("noise"), 0o600), os.Chmod(o.path("public.pem"), 0o600)))
	anna := must.Get(os.ReadFile(o.path("anna.key")))(t)
	for name, test := range map[string]struct {
		args []string
		says string
	}{
		"no parameters":          {[]string{"policy", "show", made, "--ledger", o.dir}, `params: "" is not accepted; accepted: the path of a file of public parameters`},
		"no ledger":              {[]string{"policy", "show", made, "--params", o.path("params")}, `ledger: "" is not accepted; accepted: --ledger, or --id with --after`},
		"two ledgers":            {withArgs(source, "policy", "show", made, "--id", o.id), `accepted: --ledger, or --id with --after`},
		"a short id":             {[]string{"policy", "show", made, "--params", o.path("params"), "--id", "00ff"}, `id: "00ff" is not accepted; accepted: 64 hex digits`},
		"another ledger's id":    {[]string{"policy", "show", made, "--params", o.path("params"), "--id", strings.Repeat("0", 64)}, "an update of ledger " + o.id},
		"another ledger's":       {withArgs(source, "policy", "show", o.path("foreign")), "this ledger is " + o.id},
		"no update":              {withArgs(source, "policy", "show", o.path("noise")), "update.version at byte 0: 7, want 128 or more: not a policy update"},
		"no file":                {withArgs(source, "policy", "show"), `FILE of policy show: "" is not accepted`},
		"after what is unsigned": {withArgs(o.offline(made), "policy", "show", made), made + ": update's administrators: "},
		"no out":                 {withArgs(source, "policy", "new"), `out: "" is not accepted`},
		"out exists":             {withArgs(source, "policy", "new", "--out", made), `out: "` + made + `" is not accepted`},
		"a stranger removed":     {withArgs(newUpdate, "--remove-issuer", o.ed25519Key("stranger")), "remove-issuer: "},
		"added twice":            {withArgs(newUpdate, "--add-issuer", o.ed25519Key("issuer")), "accepted: an identity that is not in the list yet"},
		"all administrators":     {withArgs(newUpdate, "--administrator", o.ed25519Key("anna")), "threshold: "},
		"a threshold too high":   {withArgs(newUpdate, "--threshold", "4"), `threshold: "4" is not accepted; accepted: 1 to 3`},
		"no owners":              {withArgs(newUpdate, "--owners", "hashlock"), "or nobody could own a token"},
		"no limits":              {withArgs(newUpdate, "--max-outputs", "0"), `max-outputs: "0" is not accepted; accepted: 1 to 64`},
		"types, no auditor":      {withArgs(newUpdate, "--issuer", o.ed25519Key("issuer")+"=USD"), "without auditors"},
		"a head threshold":       {withArgs(newUpdate, "--head-threshold", "1"), `head-threshold: "1" is not accepted; accepted: a number together with --validator`},
		"a certificate":          {withArgs(newUpdate, "--add-validator", o.path("carl.pem")), "accepted: the path of a PEM public key of Ed25519"},
		"too far ahead":          {withArgs(newUpdate, "--max-ahead", "25h"), `max-ahead: "25h" is not accepted; accepted: 1s to 24h0m0s`},
		"small order":            {withArgs(newUpdate, "--add-administrator", "ed25519:01"+strings.Repeat("0", 62)), "small order"},
		"no key":                 {sign, `key: "" is not accepted; accepted: the path of a PEM file`},
		"a stranger's key":       {withArgs(sign, "--key", o.path("stranger.key")), "of an administrator before or after the update"},
		"a public key":           {withArgs(sign, "--key", o.path("public.pem")), "one PRIVATE KEY (PKCS #8)"},
		"noise for a key":        {withArgs(sign, "--key", o.path("noise")), "one PRIVATE KEY (PKCS #8)"},
		"missing key":            {withArgs(sign, "--key", o.path("missing.key")), "missing.key"},
		"applied offline":        {withArgs(o.offline(), "policy", "apply", made), `ledger: "" is not accepted`},
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
