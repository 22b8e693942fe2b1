// Package demo runs a small token system step by step, and says what happens: from
// its parameters to an attempted double spend and the verification of its ledger.
package demo

import (
	"context"
	"crypto/ed25519"
	"crypto/hpke"
	"errors"
	"fmt"
	"io"
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

// demo is a token system of an issuer, an auditor and two owners: alice with one key,
// bob with a pseudonym for each token.
type demo struct {
	Options
	ctx context.Context
	out io.Writer
	at  time.Time // of all blocks

	spent time.Duration // on the step that runs

	params     *token.PublicParams
	ledger     *bolt.Ledger
	validator  *validator.Validator
	issuer     *service.IssueService
	auditor    *service.AuditorService
	alice, bob *participant
	closers    []io.Closer
}

// cachedIdentities is more than a demo has.
const cachedIdentities = 64

// participant is an owner.
type participant struct {
	name    string
	wallet  *service.Wallet
	payment *service.TransferService
}

func (d *demo) close() error {
	var err error
	for _, c := range slices.Backward(d.closers) {
		err = errors.Join(err, c.Close())
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
	var signers [4]identity.Signer // issuer, auditor, the authority that enrols bob, alice
	for i := range signers {
		_, key, err := ed25519.GenerateKey(nil)
		if err != nil {
			return err
		}
		if signers[i], err = identity.NewEd25519Signer(key); err != nil {
			return err
		}
	}
	issuer, auditor, authority, alice := signers[0], signers[1], signers[2], signers[3]
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
	vault, err := d.vault("issuer")
	if err != nil {
		return err
	}
	if d.issuer, err = service.NewIssueService(d.params, "", token.Tuning{}, ex, vault, issuer); err != nil {
		return err
	}
	if vault, err = d.vault("auditor"); err != nil {
		return err
	}
	if d.auditor, err = service.NewAuditorService(d.params, token.Tuning{}, ex, vault, service.Auditor{
		Signer: auditor, Key: auditorKey, Policy: service.SignAll, Authorities: []identity.Identity{authority.Identity()},
	}); err != nil {
		return err
	}
	keys, err := service.NewKey(genesis, alice)
	if err != nil {
		return err
	}
	if d.alice, err = d.owner("alice", keys, ex); err != nil {
		return err
	}
	keys, err = enrolled(d.params, genesis, "bob", authority)
	if err != nil {
		return err
	}
	if d.bob, err = d.owner("bob", keys, ex); err != nil {
		return err
	}
	d.detail("issuer and auditor: Ed25519 keys; a redemption needs the issuer's signature")
	d.detail("alice: one Ed25519 key (%s); bob: a pseudonym for each token, enrolled", shortened(alice.Identity()))
	return nil
}

// enrolled are the keys of a new holder whom the authority enrols under a name.
func enrolled(params *token.PublicParams, genesis ledger.Genesis, name string, authority identity.Signer) (*service.Keys, error) {
	scheme, err := identity.NewScheme(params.Curve)
	if err != nil {
		return nil, err
	}
	holder, err := scheme.NewHolder(nil)
	if err != nil {
		return nil, err
	}
	request, err := holder.Request(name, nil)
	if err != nil {
		return nil, err
	}
	certificate, err := scheme.Enrol(name, request, authority)
	if err != nil {
		return nil, err
	}
	return service.NewPseudonyms(params, genesis, holder, certificate, authority.Identity())
}

func (d *demo) vault(name string) (*service.Vault, error) {
	v, err := service.CreateVault(filepath.Join(d.Dir, name+".vault"), d.ledger.Genesis())
	if err == nil {
		d.closers = append(d.closers, v)
	}
	return v, err
}

func (d *demo) owner(name string, keys *service.Keys, ex executor.Executor) (*participant, error) {
	vault, err := d.vault(name)
	if err != nil {
		return nil, err
	}
	p := &participant{name: name}
	if p.wallet, err = service.NewWallet(d.params, vault, keys); err != nil {
		return nil, err
	}
	p.payment, err = service.NewTransferService(d.params, "", token.Tuning{}, ex, p.wallet)
	return p, err
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
