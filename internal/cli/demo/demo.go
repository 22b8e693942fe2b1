// Package demo runs a small token system of two banks step by step and prints what happens. It
// begins with the generation of the parameters and ends with the verification of the ledger. The
// steps between them include a stolen key and a lost wallet.
package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/cli/keyfile"
	"github.com/zkbench/zkbench/internal/cli/wallet"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/bolt"
	"github.com/zkbench/zkbench/token/ledger/replay"
	"github.com/zkbench/zkbench/token/service"
	"github.com/zkbench/zkbench/token/validator"
)

// ParamsFile is the name of the file in a demo's directory that holds the public parameters.
const ParamsFile = wallet.ParamsFile

// Options are the settings of a demo.
type Options struct {
	Dir       string // for parameters, ledger, keys and wallets; must exist and be empty
	Curve     string // one of token.Curves
	Bits      int    // 8 to 64
	ProofType string // one of token.ProofTypes
	Verbose   bool   // print the parts of each step, with their times
}

// Run runs a demo. It writes to out what happens in each step.
func Run(ctx context.Context, out io.Writer, o Options) error {
	d := &demo{Options: o, ctx: ctx, out: out, at: time.Now()}
	err := errors.Join(d.run(), d.close())
	if err == nil {
		err = d.verify()
	}
	return err
}

// demo is a token system of an issuer, an auditor, three administrators and two banks. Each bank
// has a pseudonym for every token.
type demo struct {
	Options
	ctx context.Context
	out io.Writer
	at  time.Time // time of all blocks

	spent time.Duration // on the current step

	params         *token.PublicParams
	administrators []identity.Signer
	authority      identity.Signer // enrols the banks
	ledger         *bolt.Ledger
	validator      *validator.Validator
	issuer         *service.IssueService
	auditor        *service.AuditorService
	north, south   *bank
	closers        []io.Closer
}

// cachedIdentities is more than the number of identities in a demo.
const cachedIdentities = 64

// bank is an owner of tokens.
type bank struct {
	name    string
	wallet  *wallet.Purse // in the directory with the bank's name
	payment *service.TransferService
}

// currency and security are the types of the demo's tokens.
const (
	currency = "USD"
	security = "BOND"
)

func (d *demo) close() error {
	var err error
	for _, c := range slices.Backward(d.closers) {
		if closing := c.Close(); !errors.Is(closing, fs.ErrClosed) { // the lost vault is closed already
			err = errors.Join(err, closing)
		}
	}
	d.closers = nil
	return err
}

// say writes a line of a step.
func (d *demo) say(format string, args ...any) { fmt.Fprintf(d.out, "    "+format+"\n", args...) }

// detail writes a line that is shown only with Verbose.
func (d *demo) detail(format string, args ...any) {
	if d.Verbose {
		d.say(format, args...)
	}
}

// step begins a step.
func (d *demo) step(format string, args ...any) {
	if d.spent = 0; d.Verbose {
		fmt.Fprintln(d.out)
	}
	fmt.Fprintf(d.out, format+"\n", args...)
}

// timed runs part of a step and prints what was done and how long it took.
func (d *demo) timed(what string, work func() error) error {
	begin := time.Now()
	err := work()
	if err == nil {
		took := time.Since(begin)
		d.spent += took
		d.detail("%-44s %8.2f ms", what, float64(took)/float64(time.Millisecond))
	}
	return err
}

// setUp makes the parameters, the ledger and the participants.
func (d *demo) setUp() error {
	d.step("Parameters: %s, values below 2^%d, range proofs %s", d.Curve, d.Bits, d.ProofType)
	if err := os.Mkdir(d.path(keysDir), 0o700); err != nil {
		return err
	}
	var signers []identity.Signer
	for _, name := range []string{"issuer", "authority", "administrator-1", "administrator-2", "administrator-3"} {
		signer, err := d.newKey(name)
		if err != nil {
			return err
		}
		signers = append(signers, signer)
	}
	issuer := signers[0]
	d.authority, d.administrators = signers[1], signers[2:]
	auditorKeys, err := d.newAuditor()
	if err != nil {
		return err
	}
	auditor := auditorKeys.Self()
	ex := executor.Pool()
	err = d.timed("generators derived", func() (err error) {
		if d.params, err = token.NewPublicParams(d.Curve, d.Bits, d.ProofType); err != nil {
			return err
		}
		rules := &d.params.Policy
		rules.Issuers = []token.Issuer{{Identity: issuer.Identity()}}
		rules.Auditors = []token.Auditor{{Identity: auditor.Identity(), KEM: token.X25519, Key: auditorKeys.Opening.PublicKey().Bytes()}}
		rules.Redeem = token.RedeemIssuer
		rules.Administrators.Threshold = 2
		for _, a := range d.administrators {
			rules.Administrators.Identities = append(rules.Administrators.Identities, a.Identity())
		}
		slices.SortFunc(rules.Administrators.Identities, bytes.Compare)
		data, err := d.params.Encode()
		if err != nil {
			return err
		}
		return os.WriteFile(d.path(ParamsFile), data, 0o644)
	})
	if err != nil {
		return err
	}
	genesis, err := ledger.NewGenesis(d.params)
	if err != nil {
		return err
	}
	if d.ledger, err = bolt.Create(d.path(replay.FileName), genesis); err != nil {
		return err
	}
	d.closers = append(d.closers, d.ledger)
	err = d.timed("validator made: generators derived again", func() (err error) {
		d.validator, err = validator.New(d.params, genesis, ex, token.Tuning{}, cachedIdentities)
		return err
	})
	if err != nil {
		return err
	}
	if d.issuer, err = d.newIssuer("issuer", issuer); err != nil {
		return err
	}
	vault, err := d.vault("auditor")
	if err != nil {
		return err
	}
	if d.auditor, err = service.NewAuditorService(d.params, token.Tuning{}, ex, vault, service.Auditor{
		Signer: auditor, Key: auditorKeys.Opening, Policy: service.SignAll{}, Authorities: auditorKeys.Identities,
	}); err != nil {
		return err
	}
	if d.north, err = d.newBank("north"); err != nil {
		return err
	}
	if d.south, err = d.newBank("south"); err != nil {
		return err
	}
	d.detail("the rules: one issuer, who must approve redemptions; an auditor who signs every request; 2 of 3 administrators")
	d.detail("two banks, north and south, enrolled with the authority: a fresh pseudonym for every token")
	return nil
}

// path returns the path of a file or directory of the demo.
func (d *demo) path(names ...string) string {
	return filepath.Join(append([]string{d.Dir}, names...)...)
}

// keysDir holds the secret keys of all participants except the banks, and the vaults of those who
// sign with them.
const keysDir = "keys"

// newKey makes a signing key and writes it to a file with the given name.
func (d *demo) newKey(name string) (identity.Signer, error) {
	keys, err := wallet.NewKey()
	if err != nil {
		return nil, err
	}
	return keys.Self(), keyfile.Write(d.path(keysDir, name+".pem"), keys)
}

// newAuditor makes the keys of an auditor that accepts the authority's enrolments.
func (d *demo) newAuditor() (*keyfile.Keys, error) {
	keys, err := wallet.NewKey()
	if err != nil {
		return nil, err
	}
	kem, err := token.X25519.HPKE()
	if err != nil {
		return nil, err
	}
	if keys.Opening, err = kem.GenerateKey(); err != nil {
		return nil, err
	}
	keys.Identities = []identity.Identity{d.authority.Identity()}
	return keys, keyfile.Write(d.path(keysDir, "auditor.pem"), keys)
}

func (d *demo) newIssuer(name string, key identity.Signer) (*service.IssueService, error) {
	vault, err := d.vault(name)
	if err != nil {
		return nil, err
	}
	return service.NewIssueService(d.params, "", token.Tuning{}, executor.Pool(), vault, key)
}

// newBank makes a bank's wallet of pseudonyms. The authority enrols their holder under the bank's
// name.
func (d *demo) newBank(name string) (*bank, error) {
	keys, err := wallet.Enrol(d.params.Curve, name, d.authority)
	if err != nil {
		return nil, err
	}
	wallet, err := wallet.Create(d.path(name), d.params, d.ledger.Genesis(), keys)
	if err != nil {
		return nil, err
	}
	b := &bank{name: name}
	return b, d.use(b, wallet)
}

// use makes a bank pay from a wallet.
func (d *demo) use(b *bank, wallet *wallet.Purse) (err error) {
	d.closers = append(d.closers, wallet)
	b.wallet = wallet
	b.payment, err = wallet.Transfers()
	return err
}

func (d *demo) vault(name string) (*service.Vault, error) {
	v, err := service.CreateVault(d.path(keysDir, name+".vault"), d.ledger.Genesis())
	if err == nil {
		d.closers = append(d.closers, v)
	}
	return v, err
}

// verify verifies the ledger and prints how to do that again.
func (d *demo) verify() (err error) {
	d.step("Verify: every request again, from the first, as anybody can who has ledger and parameters")
	begin := time.Now()
	l, err := replay.Open(d.ctx, d.Dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	report, err := replay.Verify(d.ctx, l, d.params, func(uint64, uint64) {})
	if err != nil {
		return err
	}
	d.say("%v", report)
	d.detail("%-44s %8.2f ms", "verified", float64(time.Since(begin))/float64(time.Millisecond))
	_, err = fmt.Fprintf(d.out, "The files are in %[1]s, the secret keys too, in %[2]s and in the wallets %[3]s and %[4]s. To verify, pay and look:\n"+
		"    zkbench ledger verify %[1]s --params %[5]s\n"+
		"    zkbench wallet pay --dir %[7]s --ledger %[1]s --auditor-key %[8]s --value 20 --type %[9]s --to \"$(zkbench wallet address --dir %[6]s --ledger %[1]s)\"\n"+
		"    zkbench wallet history --dir %[7]s --ledger %[1]s\n",
		d.Dir, keysDir, d.north.name, d.south.name, d.path(ParamsFile), d.path(d.north.name), d.path(d.south.name), d.path(keysDir, "auditor.pem"), currency)
	return err
}

// apply puts valid requests on the ledger. rejected is as returned by ApplyEach.
func (d *demo) apply(valid ...*validator.Valid) (rejected []error, err error) {
	entries := make([]ledger.Entry, len(valid))
	for i, v := range valid {
		entries[i] = v.Entry()
	}
	return d.ledger.ApplyEach(d.ctx, entries)
}
