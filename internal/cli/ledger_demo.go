package cli

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/bolt"
	"github.com/zkbench/zkbench/token/service"
	"github.com/zkbench/zkbench/token/validator"
)

func ledgerDemoCommand(stdout io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Run a small token system from its parameters to an attempted double spend, step by step",
		Long: "Run a small token system step by step: parameters, issue, transfer, split, redemption, what the\n" +
			"auditor sees and what the ledger shows, a double spend and a forged request that are refused,\n" +
			"and the verification of the whole ledger. The files go to a temporary directory, or to --dir.",
		Args: noArguments,
	}
	flags := cmd.Flags()
	accepted := func(names []string) string { return strings.Join(names, ", ") }
	const emptyDir = "the path of a directory that is empty or does not exist"
	curve := defineOption(flags, "curve", kindText, "BN254", accepted(token.Curves()), "curve: "+accepted(token.Curves()))
	bits := defineOption(flags, "bits", kindNumber, "32", "8 to 64", "values are below 2^bits: 8 to 64")
	proof := defineOption(flags, "proof-type", kindText, token.Bulletproof, accepted(token.ProofTypes()), "range-proof system: "+accepted(token.ProofTypes()))
	dir := defineOption(flags, "dir", kindFile, "", emptyDir, "directory of parameters, ledger and vaults, which are kept: "+emptyDir)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		width, err := bits.number("bits", 8, 64)
		switch {
		case err != nil:
			return err
		case !slices.Contains(token.Curves(), curve.text):
			return curve.refuse("curve", curve.text)
		case !slices.Contains(token.ProofTypes(), proof.text):
			return proof.refuse("proof-type", proof.text)
		}
		path, err := demoDir(dir)
		if err != nil {
			return err
		}
		d := &demo{ctx: cmd.Context(), out: stdout, dir: path, at: time.Now()}
		err = errors.Join(d.run(curve.text, int(width), proof.text), d.close())
		if err == nil {
			err = d.end()
		}
		if err != nil && cmd.Context().Err() != nil {
			return &exitError{code: exitPartial, text: "interrupted; the files are in " + path}
		}
		if err != nil {
			return &exitError{code: exitFailed, text: err.Error()}
		}
		return nil
	}
	return cmd
}

// demoDir is the directory of --dir, or a new one.
func demoDir(dir *option) (string, error) {
	if !dir.given {
		return os.MkdirTemp("", "zkbench-demo-")
	}
	if err := os.MkdirAll(dir.text, 0o755); err != nil {
		return "", fmt.Errorf("dir: %w", err)
	}
	entries, err := os.ReadDir(dir.text)
	if err != nil {
		return "", fmt.Errorf("dir: %w", err)
	}
	if len(entries) > 0 {
		return "", dir.refuse("dir", dir.text)
	}
	return dir.text, nil
}

// paramsFile is the name of the parameters in a demo's directory.
const paramsFile = "token.params"

// demo is a token system of an issuer, an auditor and two owners: alice with one key,
// bob with a pseudonym for each token.
type demo struct {
	ctx context.Context
	out io.Writer
	dir string
	at  time.Time // of all blocks

	params     *token.PublicParams
	ledger     *bolt.Ledger
	validator  *validator.Validator
	issuer     *service.IssueService
	auditor    *service.AuditorService
	alice, bob *participant
	closers    []io.Closer
}

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

// step begins a step.
func (d *demo) step(format string, args ...any) { fmt.Fprintf(d.out, "\n"+format+"\n", args...) }

// timed runs part of a step and says what was done and how long it took.
func (d *demo) timed(what string, work func() error) error {
	begin := time.Now()
	err := work()
	if err == nil {
		d.say("%-44s %8.2f ms", what, float64(time.Since(begin))/float64(time.Millisecond))
	}
	return err
}

// setUp makes the parameters, the ledger and the participants.
func (d *demo) setUp(curve string, bits int, proof string) error {
	d.step("Parameters: %s, values below 2^%d, range proofs %s", curve, bits, proof)
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
	err := d.timed("generators derived", func() (err error) {
		if d.params, err = token.NewPublicParams(curve, bits, proof); err != nil {
			return err
		}
		d.params.Issuers, d.params.Auditors = [][]byte{issuer.Identity()}, [][]byte{auditor.Identity()}
		d.params.Redeem = token.RedeemIssuer
		data, err := d.params.Encode()
		if err != nil {
			return err
		}
		return writeNew(filepath.Join(d.dir, paramsFile), data)
	})
	if err != nil {
		return err
	}
	err = d.timed("validator made: generators derived again", func() (err error) {
		d.validator, err = validator.New(d.params, ex, token.Config{}, replayCache)
		return err
	})
	if err != nil {
		return err
	}
	if d.ledger, err = bolt.Create(filepath.Join(d.dir, ledgerFile)); err != nil {
		return err
	}
	d.closers = append(d.closers, d.ledger)
	vault, err := d.vault("issuer")
	if err != nil {
		return err
	}
	if d.issuer, err = service.NewIssueService(d.params, token.Config{}, ex, vault, issuer); err != nil {
		return err
	}
	if vault, err = d.vault("auditor"); err != nil {
		return err
	}
	if d.auditor, err = service.NewAuditorService(d.params, token.Config{}, ex, vault, auditor, authority.Identity()); err != nil {
		return err
	}
	if d.alice, err = d.owner("alice", service.NewKey(alice), ex); err != nil {
		return err
	}
	keys, err := enrolled(d.params, "bob", authority)
	if err != nil {
		return err
	}
	if d.bob, err = d.owner("bob", keys, ex); err != nil {
		return err
	}
	d.say("issuer and auditor: Ed25519 keys; a redemption needs the issuer's signature")
	d.say("alice: one Ed25519 key (%s); bob: a pseudonym for each token, enrolled", shortened(alice.Identity()))
	return nil
}

// enrolled are the keys of a new holder whom the authority enrols under a name.
func enrolled(params *token.PublicParams, name string, authority identity.Signer) (service.Keys, error) {
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
	return service.NewPseudonyms(params, holder, certificate, authority.Identity())
}

func (d *demo) vault(name string) (*service.Vault, error) {
	v, err := service.CreateVault(filepath.Join(d.dir, name+".vault"), d.params)
	if err == nil {
		d.closers = append(d.closers, v)
	}
	return v, err
}

func (d *demo) owner(name string, keys service.Keys, ex executor.Executor) (*participant, error) {
	vault, err := d.vault(name)
	if err != nil {
		return nil, err
	}
	p := &participant{name: name}
	if p.wallet, err = service.NewWallet(d.params, vault, keys); err != nil {
		return nil, err
	}
	p.payment, err = service.NewTransferService(d.params, token.Config{}, ex, p.wallet)
	return p, err
}

// end verifies the ledger and says how to do it again.
func (d *demo) end() error {
	d.step("Verify: every request again, from the first, as anybody can who has ledger and parameters")
	begin := time.Now()
	fmt.Fprint(d.out, "    ")
	if err := verifyLedger(d.ctx, d.out, io.Discard, d.dir, d.params); err != nil {
		return err
	}
	d.say("%-44s %8.2f ms", "verified", float64(time.Since(begin))/float64(time.Millisecond))
	fmt.Fprintf(d.out, "\nThe files are in %s; the keys are gone. To verify once more:\n", d.dir)
	_, err := fmt.Fprintf(d.out, "    zkbench ledger verify %s --params %s\n", d.dir, filepath.Join(d.dir, paramsFile))
	return err
}

// applied puts valid requests on the ledger; rejected is as ApplyEach's.
func (d *demo) applied(valid ...*validator.Valid) (rejected []error, err error) {
	entries := make([]ledger.Entry, len(valid))
	for i, v := range valid {
		entries[i] = entryOf(v)
	}
	return d.ledger.ApplyEach(d.ctx, entries)
}
