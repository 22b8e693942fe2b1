package zkbench

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/zkbench/zkbench/internal/cli/keyfile"
	"github.com/zkbench/zkbench/internal/cli/serving"
	"github.com/zkbench/zkbench/internal/cli/wallet"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/client"
	"github.com/zkbench/zkbench/token/ledger/replay"
	"github.com/zkbench/zkbench/token/peer"
	"github.com/zkbench/zkbench/token/service"
)

// newAudited makes a ledger in a file, under a policy with the issuer ivy, the auditor audra, and the validator vera who signs
// heads. It makes certificates of parties with the given roles, each in a directory with the extension .tls; north is a validator.
// The flags are further ones of zkbench params new.
func newAudited(t *testing.T, roles map[string]peer.Role, flags ...string) *served {
	o := &office{t: t, dir: t.TempDir()}
	s := &served{o, o.path(replay.FileName)}
	auditor := must.Get(wallet.NewKey())(t)
	auditor.Opening = must.Get(must.Get(token.X25519.HPKE())(t).GenerateKey())(t)
	must.Do(t, keyfile.Write(o.path("audra.key"), auditor))
	o.does(append([]string{
		"params", "new", "--out", o.path("params"), "--bits", "16", "--proof-type", "csp", "--issuer", o.ed25519Key("ivy"),
		"--auditor", fmt.Sprintf("ed25519:%x=x25519:%x", []byte(auditor.Self().Identity()[1:]), auditor.Opening.PublicKey().Bytes()),
		"--validator", o.ed25519Key("vera"), "--head-threshold", "1",
	}, flags...)...)
	o.does("ledger", "new", s.place, "--params", o.path("params"))
	o.does(append([]string{"ledger", "sign", s.place, "--new"}, o.signFlags("vera")...)...)
	o.does("cert", "authority", "--dir", o.path("authority"))
	for name, role := range roles {
		o.does("cert", "issue", "--authority", o.path("authority"), "--role", string(role), "--name", name, "--host", "127.0.0.1", "--out", o.path(name+".tls"))
	}
	must.Do(t, os.Symlink(o.path("north.tls"), o.path("north")))
	return s
}

// TestServeParties: a validator, an auditor and an issuer are processes, and two wallets and a program of the issuer's
// operator use them. No file is carried from one to another. Killed servers go on where they were.
func TestServeParties(t *testing.T) {
	s := newAudited(t, map[string]peer.Role{
		"north": peer.Validator, "audra": peer.Auditor, "ivy": peer.Issuer, "program": peer.Issuer, "alice": peer.Wallet, "bob": peer.Wallet,
	})
	o := s.office

	validates := s.start("127.0.0.1:0", s.signFlags("vera")[2:]...)
	defer func() { s.stop(validates) }()
	address := freeAddress(t)
	audits := func() *process {
		return s.run("--role", "auditor", "--ledger", validates.url, "--key", o.path("audra.key"), "--listen", address, "--tls", o.path("audra.tls"))
	}
	a := audits()
	defer func() { s.stop(a) }()
	issues := func() *process {
		return s.run("--role", "issuer", "--ledger", validates.url, "--key", o.path("ivy.key"), "--auditor", a.url, "--listen", "127.0.0.1:0", "--tls", o.path("ivy.tls"))
	}
	i := issues()
	defer func() { s.stop(i) }()

	at := func(name string, args ...string) []string {
		return append(append([]string{"wallet"}, args...), "--dir", o.path(name), "--ledger", validates.url, "--tls", o.path(name+".tls"))
	}
	says := func(want string, args ...string) string {
		t.Helper()
		out := o.does(args...)
		if !regexp.MustCompile(`^(?:` + want + `)$`).MatchString(out) {
			t.Fatalf("%q: %q; want %s", args, out, want)
		}
		return strings.TrimSpace(out)
	}
	for _, name := range []string{"alice", "bob"} {
		says(`wallet of ed25519:[0-9a-f]{64}, `+asOf+`\nkeep .*\n`, at(name, "new")...)
	}
	certificates := must.Get(serving.LoadCertificates("tls", o.path("program.tls")))(t)
	watches := must.Get(client.Dial(t.Context(), validates.url, client.Options{TLS: certificates.Client(peer.Validator)}))(t)
	defer watches.Close()
	counts := func(number uint64) { // until wallets count the record
		t.Helper()
		must.Get(watches.WaitHead(t.Context(), number+1, time.Minute))(t)
	}
	issue := func(key, to string) uint64 {
		t.Helper()
		c := must.Get(client.DialIssuer(t.Context(), i.url, client.Options{TLS: certificates.Client(peer.Issuer), Patience: time.Minute}))(t)
		defer c.Close()
		_, parsed, err := service.ParseAddress(to)
		must.Do(t, err)
		_, number, err := c.Issue(t.Context(), key, "USD", service.Payment{To: parsed, Value: 100})
		must.Do(t, err)
		counts(number)
		return number
	}
	to := says(anAddr, at("alice", "address")...)
	golden.Equal(t, "issued in record", uint64(1), issue("a key", to))
	pay := func(from, to, value, want string) string {
		t.Helper()
		said := says(want, at(from, "pay", "--auditor", a.url, "--to", to, "--value", value, "--type", "USD")...)
		return regexp.MustCompile(`anchor ([0-9a-f]{64})`).FindStringSubmatch(said)[1]
	}
	anchor := pay("alice", says(anAddr, at("bob", "address")...), "30", `paid 30 USD, change 70 USD; request 2, anchor [0-9a-f]{64}\nbalance: 70 USD in 1 token\n`)
	says(`30 USD in 1 token\n`+asOf+`\n`, at("bob", "balance")...)
	o.does(at("alice", "receipt", anchor, "--out", o.path("receipt"), "--open", "1")...)
	says(`ok: the wallet agrees with the ledger's 2 requests, each valid under the parameters\n`, at("bob", "check", "--validate")...)

	for _, p := range []*process{a, i} {
		must.Do(t, p.Process.Kill())
		_ = p.Wait()
	}
	a = audits()
	i = issues()
	golden.Equal(t, "issued in record", uint64(1), issue("a key", to))
	golden.Equal(t, "issued in record", uint64(3), issue("another key", says(anAddr, at("alice", "address")...)))
	pay("bob", says(anAddr, at("alice", "address")...), "30", `paid 30 USD; request 4, anchor [0-9a-f]{64}\nbalance: nothing\n`)
	says(`200 USD in 3 tokens\n`+asOf+`\n`, at("alice", "balance")...)

	web := &http.Client{Transport: &http.Transport{TLSClientConfig: certificates.Client(peer.Issuer)}}
	defer web.CloseIdleConnections()
	body := fmt.Sprintf(`{"key": "a third key", "type": "USD", "payments": [{"to": %q, "value": "5"}]}`, says(anAddr, at("bob", "address")...))
	for range 2 { // a program in any language
		answer := must.Get(web.Post(i.url+"/zkbench.token.v1.IssuerService/Issue", "application/json", strings.NewReader(body)))(t)
		golden.Contains(t, string(must.Get(io.ReadAll(answer.Body))(t)), `"number":"5"`)
		must.Do(t, answer.Body.Close())
	}
	counts(5)
	says(`5 USD in 1 token\n`+asOf+`\n`, at("bob", "balance")...)
	refuses(t, "no ca.pem", "wallet", "balance", "--dir", o.path("alice"), "--ledger", validates.url, "--tls", o.path("none"))
	refuses(t, "accepted: https://host:port", "wallet", "balance", "--dir", o.path("alice"), "--ledger", "http://192.0.2.1:7300")
}

// TestServeRoleRefuses: flags that a role does not have, and keys that are not its.
func TestServeRoleRefuses(t *testing.T) {
	s := newServed(t, "")
	place, params, key := []string{"--ledger", s.place, "--params", s.path("params")}, s.path("params"), s.path("ivy.key")
	for name, test := range map[string]struct {
		args []string
		says string
	}{
		"another role":                  {append(place, "--role", "program"), `role: "program" is not accepted; accepted: validator, auditor, issuer, wallet`},
		"a validator's vault":           {append(place, "--vault", key), "vault: "},
		"a validator's auditors":        {append(place, "--auditor", "http://127.0.0.1:1"), "auditor: "},
		"an auditor's auditors":         {append(place, "--role", "auditor", "--auditor", "http://127.0.0.1:1", "--key", key), "auditor: "},
		"a wallet's vault":              {[]string{"--role", "wallet", "--ledger", s.place, "--vault", key}, "vault: "},
		"a wallet without a directory":  {[]string{"--role", "wallet", "--ledger", s.place}, `dir: "" is not accepted`},
		"a wallet that is not there":    {[]string{"--role", "wallet", "--ledger", s.place, "--dir", s.dir}, "dir: "},
		"an issuer's directory":         {append(place, "--role", "issuer", "--dir", key), "dir: "},
		"an issuer's heads":             {append(place, "--role", "issuer", "--state", key), "state: "},
		"a validator of a server":       {[]string{"--ledger", "http://127.0.0.1:1", "--params", params}, "ledger: "},
		"no key":                        {append(place, "--role", "issuer"), `key: "" is not accepted`},
		"an auditor that opens nothing": {append(place, "--role", "auditor", "--key", key), "key: "},
		"no parameters":                 {[]string{"--role", "issuer", "--ledger", s.place, "--key", key}, `params: "" is not accepted`},
		"a validator as an issuer":      {append(place, "--role", "issuer", "--key", key, "--tls", s.path("north")), "accepted: issuer"},
	} {
		t.Run(name, func(t *testing.T) {
			refuses(t, test.says, append([]string{"serve", "--listen", "127.0.0.1:0"}, test.args...)...)
		})
	}
}
