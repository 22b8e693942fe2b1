package local

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/zkbench/zkbench/internal/cli/keyfile"
	"github.com/zkbench/zkbench/internal/cli/serving"
	"github.com/zkbench/zkbench/internal/cli/wallet"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/bolt"
	"github.com/zkbench/zkbench/token/ledger/head"
	"github.com/zkbench/zkbench/token/ledger/replay"
	"github.com/zkbench/zkbench/token/peer"
)

// The parties.
const (
	validatorName = "validator"
	auditorName   = "auditor"
	authorityName = "authority" // of certificates
	programName   = "program"   // of somebody who uses the wallets' servers
	ownWallet     = "me"        // is not served
)

// currency and security are the types of the tokens. Each has its issuer.
const (
	currency = "USD"
	security = "BOND"
)

// hosts are the names and the addresses in the servers' certificates.
var hosts = []string{"127.0.0.1", "::1", "localhost"}

var (
	types       = []string{currency, security}
	walletNames = []string{"alice", "bob", "carol"} // those that are served
)

func issuerName(typ string) string { return "issuer-" + strings.ToLower(typ) }

// AcceptedDir says what Options.Dir accepts.
const AcceptedDir = "the path of a directory that does not exist or is empty, or of one that zkbench local has made"

// place is the directory of a system.
type place string

func (p place) path(names ...string) string {
	return filepath.Join(append([]string{string(p)}, names...)...)
}

func (p place) params() string             { return p.path(wallet.ParamsFile) }
func (p place) key(name string) string     { return p.path("keys", name+".pem") }
func (p place) state() string              { return p.path("keys", validatorName+".head") }
func (p place) log(name string) string     { return p.path(name + ".log") }
func (p place) address(name string) string { return p.path(name + ".address") }

// tls returns the directory of a party's certificates, or a file in it.
func (p place) tls(names ...string) string {
	return p.path(append([]string{"tls"}, names...)...)
}

// made returns the file that is made last.
func (p place) made() string { return p.tls(programName, serving.CertificateFile) }

// prepare makes the system's files unless they are there.
func (p place) prepare() error {
	if _, err := os.Stat(p.made()); err == nil {
		return nil
	}
	if _, err := os.Stat(p.key(validatorName)); err == nil {
		return &argument.ValueError{Field: "dir", Value: string(p) + ": perhaps of a start that was interrupted, as it has keys and no " + p.made(), Accepted: AcceptedDir}
	}
	entries, err := os.ReadDir(string(p))
	if err != nil && !errors.Is(err, fs.ErrNotExist) || len(entries) > 0 || p == "" {
		return &argument.ValueError{Field: "dir", Value: string(p), Accepted: AcceptedDir}
	}
	if err := os.MkdirAll(p.path("keys"), 0o700); err != nil {
		return err
	}
	genesis, params, err := p.makeLedger()
	if err != nil {
		return err
	}
	for _, name := range append(slices.Clone(walletNames), ownWallet) {
		if err := p.makeWallet(name, params, genesis); err != nil {
			return err
		}
	}
	return p.certify()
}

// newKey makes a signing key in a file.
func (p place) newKey(name string) (identity.Signer, error) {
	keys, err := wallet.NewKey()
	if err != nil {
		return nil, err
	}
	return keys.Self(), keyfile.Write(p.key(name), keys)
}

// newAuditor makes the keys of the auditor, and returns how the policy names it.
func (p place) newAuditor() (a token.Auditor, err error) {
	keys, err := wallet.NewKey()
	if err != nil {
		return a, err
	}
	const kem = token.X25519
	suite, err := kem.HPKE()
	if err == nil {
		keys.Opening, err = suite.GenerateKey()
	}
	if err != nil {
		return a, err
	}
	a = token.Auditor{Identity: keys.Self().Identity(), KEM: kem, Key: keys.Opening.PublicKey().Bytes()}
	return a, keyfile.Write(p.key(auditorName), keys)
}

// newParams makes the parameters and the keys that the policy names: an issuer of each type, an auditor, a validator who
// signs heads, and three administrators, two of whom must sign an update of the policy.
func (p place) newParams() (_ *token.PublicParams, validator identity.Signer, err error) {
	params, err := token.NewPublicParams("BN254", 32, token.Bulletproof)
	if err != nil {
		return nil, nil, err
	}
	rules := &params.Policy
	for _, typ := range types {
		key, err := p.newKey(issuerName(typ))
		if err != nil {
			return nil, nil, err
		}
		rules.Issuers = append(rules.Issuers, token.Issuer{Identity: key.Identity(), Types: []string{typ}})
	}
	slices.SortFunc(rules.Issuers, func(a, b token.Issuer) int { return bytes.Compare(a.Identity, b.Identity) })
	auditor, err := p.newAuditor()
	if err != nil {
		return nil, nil, err
	}
	rules.Auditors = []token.Auditor{auditor}
	if validator, err = p.newKey(validatorName); err != nil {
		return nil, nil, err
	}
	rules.Validators = []token.Validator{{HeadKey: [32]byte(validator.Identity()[1:])}} // after the byte of its type
	rules.HeadThreshold = 1
	for _, name := range []string{"administrator-1", "administrator-2", "administrator-3"} {
		key, err := p.newKey(name)
		if err != nil {
			return nil, nil, err
		}
		rules.Administrators.Identities = append(rules.Administrators.Identities, key.Identity())
	}
	slices.SortFunc(rules.Administrators.Identities, bytes.Compare)
	rules.Administrators.Threshold = 2
	return params, validator, nil
}

// makeLedger makes the parameters, the ledger, and the state of the validator who signs its heads.
func (p place) makeLedger() (g ledger.Genesis, params *token.PublicParams, err error) {
	params, validator, err := p.newParams()
	if err != nil {
		return g, nil, err
	}
	data, err := params.Encode()
	if err != nil {
		return g, nil, err
	}
	if err := os.WriteFile(p.params(), data, 0o644); err != nil {
		return g, nil, err
	}
	if g, err = ledger.NewGenesis(params); err != nil {
		return g, nil, err
	}
	l, err := bolt.Create(p.path(replay.FileName), g)
	if err == nil {
		err = l.Close()
	}
	if err != nil {
		return g, nil, err
	}
	edge := ledger.NewEdge(g)
	return g, params, head.CreateSigner(p.state(), validator, head.Head{Ledger: g.ID(), Size: 1, Root: edge.Root()}, time.Now())
}

// makeWallet makes a wallet, and a file with an address of it.
func (p place) makeWallet(name string, params *token.PublicParams, g ledger.Genesis) error {
	keys, err := wallet.NewKey()
	if err != nil {
		return err
	}
	purse, err := wallet.Create(p.path(name), params, g, keys)
	if err != nil {
		return err
	}
	text, err := purse.NewAddress(nil)
	if err == nil {
		err = os.WriteFile(p.address(name), []byte(text+"\n"), 0o644)
	}
	return errors.Join(err, purse.Close())
}

// certify makes an authority and the certificates of all parties, the program's last.
func (p place) certify() error {
	a, err := peer.NewAuthority("zkbench local")
	if err != nil {
		return err
	}
	if err := serving.WriteAuthority(p.tls(authorityName), a); err != nil {
		return err
	}
	issue := func(name string, role peer.Role, hosts ...string) error {
		c, err := a.Issue(name, role, hosts...)
		if err != nil {
			return err
		}
		return serving.WriteCertificates(p.tls(name), c, a.Certificate())
	}
	err = errors.Join(issue(validatorName, peer.Validator, hosts...), issue(auditorName, peer.Auditor, hosts...))
	for _, typ := range types {
		err = errors.Join(err, issue(issuerName(typ), peer.Issuer, hosts...))
	}
	for _, name := range walletNames {
		err = errors.Join(err, issue(name, peer.Wallet, hosts...))
	}
	return errors.Join(err, issue(ownWallet, peer.Wallet), issue(programName, peer.Program))
}
