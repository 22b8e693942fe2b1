// Package demo runs a small token system of two banks step by step, and says what happens: from
// its parameters to a stolen key, a lost wallet and the verification of its ledger.
package demo

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/hpke"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/bolt"
	"github.com/zkbench/zkbench/token/ledger/replay"
	"github.com/zkbench/zkbench/token/service"
	"github.com/zkbench/zkbench/token/validator"
)

// ParamsFile is the name of the parameters in a demo's directory.
const ParamsFile = "token.params"

// Options say what a demo runs.
type Options struct {
	Dir       string // of parameters, ledger and vaults: empty, and exists
	Curve     string // one of token.Curves
	Bits      int    // 8 to 64
	ProofType string // one of token.ProofTypes
	Verbose   bool   // what each step consists of, with its time
}

// Run runs a demo, and writes what happens to out.
func Run(ctx context.Context, out io.Writer, o Options) error {
	d := &demo{Options: o, ctx: ctx, out: out, at: time.Now()}
	err := errors.Join(d.run(), d.close())
	if err == nil {
		err = d.verify()
	}
	return err
}

// demo is a token system of an issuer, an auditor, three administrators and two banks, each with a pseudonym for every token.
type demo struct {
	Options
	ctx context.Context
	out io.Writer
	at  time.Time // of all blocks

	spent time.Duration // on the step that runs

	params         *token.PublicParams
	administrators []identity.Signer
	authority      identity.Signer // that enrols the banks
	ledger         *bolt.Ledger
	validator      *validator.Validator
	issuer         *service.IssueService
	auditor        *service.AuditorService
	north, south   *bank
	closers        []io.Closer
}

// cachedIdentities is more than a demo has.
const cachedIdentities = 64

// bank is an owner.
type bank struct {
	name    string
	secret  []byte // of which all its keys derive: what it must not lose
	wallet  *service.Wallet
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
		if closing := c.Close(); !errors.Is(closing, fs.ErrClosed) { // the vault that is lost
			err = errors.Join(err, closing)
		}
	}
	d.closers = nil
	return err
}

// say writes a line of a step.
func (d *demo) say(format string, args ...any) { fmt.Fprintf(d.out, "    "+format+"\n", args...) }

// detail writes a line that is wanted with all others only.
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

// timed runs part of a step and says what was done and how long it took.
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
	signers := make([]identity.Signer, 6) // issuer, auditor, authority, administrators
	for i := range signers {
		var err error
		if signers[i], err = newKey(); err != nil {
			return err
		}
	}
	issuer, auditor := signers[0], signers[1]
	d.authority, d.administrators = signers[2], signers[3:]
	ex := executor.Pool()
	var auditorKey hpke.PrivateKey
	err := d.timed("generators derived", func() (err error) {
		if d.params, err = token.NewPublicParams(d.Curve, d.Bits, d.ProofType); err != nil {
			return err
		}
		kem, err := token.X25519.HPKE()
		if err != nil {
			return err
		}
		if auditorKey, err = kem.GenerateKey(); err != nil {
			return err
		}
		rules := &d.params.Policy
		rules.Issuers = []token.Issuer{{Identity: issuer.Identity()}}
		rules.Auditors = []token.Auditor{{Identity: auditor.Identity(), KEM: token.X25519, Key: auditorKey.PublicKey().Bytes()}}
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
		return os.WriteFile(filepath.Join(d.Dir, ParamsFile), data, 0o644)
	})
	if err != nil {
		return err
	}
	genesis, err := ledger.NewGenesis(d.params)
	if err != nil {
		return err
	}
	if d.ledger, err = bolt.Create(filepath.Join(d.Dir, replay.FileName), genesis); err != nil {
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
		Signer: auditor, Key: auditorKey, Policy: service.SignAll{}, Authorities: []identity.Identity{d.authority.Identity()},
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

func newKey() (identity.Signer, error) {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		return nil, err
	}
	return identity.NewEd25519Signer(key)
}

func (d *demo) newIssuer(name string, key identity.Signer) (*service.IssueService, error) {
	vault, err := d.vault(name)
	if err != nil {
		return nil, err
	}
	return service.NewIssueService(d.params, "", token.Tuning{}, executor.Pool(), vault, key)
}

// newBank makes a holder, whom the authority enrols under the bank's name.
func (d *demo) newBank(name string) (*bank, error) {
	scheme, err := identity.NewScheme(d.params.Curve)
	if err != nil {
		return nil, err
	}
	holder, err := scheme.NewHolder(nil)
	if err != nil {
		return nil, err
	}
	b := &bank{name: name, secret: holder.Secret()}
	return b, d.open(b, name)
}

// open makes a bank's wallet from its secret, in a new vault: the authority gives out its certificate, once more if need be.
func (d *demo) open(b *bank, file string) error {
	scheme, err := identity.NewScheme(d.params.Curve)
	if err != nil {
		return err
	}
	holder, err := scheme.Holder(b.secret)
	if err != nil {
		return err
	}
	request, err := holder.Request(b.name, nil)
	if err != nil {
		return err
	}
	certificate, err := scheme.Enrol(b.name, request, d.authority)
	if err != nil {
		return err
	}
	keys, err := service.NewPseudonyms(d.params, d.ledger.Genesis(), holder, certificate, d.authority.Identity())
	if err != nil {
		return err
	}
	vault, err := d.vault(file)
	if err != nil {
		return err
	}
	if b.wallet, err = service.NewWallet(d.params, vault, keys); err != nil {
		return err
	}
	b.payment, err = service.NewTransferService(d.params, "", token.Tuning{}, executor.Pool(), b.wallet)
	return err
}

func (d *demo) vault(name string) (*service.Vault, error) {
	v, err := service.CreateVault(filepath.Join(d.Dir, name+".vault"), d.ledger.Genesis())
	if err == nil {
		d.closers = append(d.closers, v)
	}
	return v, err
}

// verify verifies the ledger and says how to do it again.
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
	fmt.Fprintf(d.out, "The files are in %s; the keys are gone. To verify once more:\n", d.Dir)
	_, err = fmt.Fprintf(d.out, "    zkbench ledger verify %s --params %s\n", d.Dir, filepath.Join(d.Dir, ParamsFile))
	return err
}

// applied puts valid requests on the ledger; rejected is as ApplyEach's.
func (d *demo) applied(valid ...*validator.Valid) (rejected []error, err error) {
	entries := make([]ledger.Entry, len(valid))
	for i, v := range valid {
		entries[i] = v.Entry()
	}
	return d.ledger.ApplyEach(d.ctx, entries)
}
