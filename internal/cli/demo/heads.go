package demo

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/cli/wallet"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/backup"
	"github.com/zkbench/zkbench/token/ledger/bolt"
	"github.com/zkbench/zkbench/token/ledger/head"
	"github.com/zkbench/zkbench/token/ledger/receipt"
	"github.com/zkbench/zkbench/token/service"
	"github.com/zkbench/zkbench/token/validator"
)

// Files of the second ledger, whose policy names a validator who signs heads.
const (
	watchedLedger  = "watched.db"
	watchedParams  = "watched.params"
	watchedReceipt = "watched.tlog-proof"
	watchedBackup  = "watched.backup"
)

// watched is a small ledger of its own: an issuer without auditors, a validator who signs its heads, and a wallet.
type watched struct {
	*demo
	params    *token.PublicParams
	ledger    *bolt.Ledger
	validator *validator.Validator
	issuer    *service.IssueService
	keeper    *head.Keeper
	bank      *bank
}

// heads shows what a wallet and a judge can check without trusting a ledger's operator.
func (d *demo) heads() error {
	d.step("Heads: on a second ledger a validator signs what the log is, and nobody can take anything back")
	w, err := d.watch()
	if err != nil {
		return err
	}
	const first, second = 10, 20
	anchor, h, err := w.issue(first)
	if err != nil {
		return err
	}
	d.say("west got %d dollars under the head of %d leaves, root %v", first, h.Size, tlog.Hash(h.Root))
	if err := w.receipt(anchor); err != nil {
		return err
	}
	if _, err := backup.WriteFile(d.ctx, d.path(watchedBackup), w.ledger, nil); err != nil {
		return err
	}
	if _, h, err = w.issue(second); err != nil {
		return err
	}
	d.detail("west got %d dollars under the head of %d leaves, root %v", second, h.Size, tlog.Hash(h.Root))
	return w.rollBack()
}

// watch makes the second ledger.
func (d *demo) watch() (*watched, error) {
	w := &watched{demo: d, bank: &bank{name: "west"}}
	issuer, err := d.newKey("watched-issuer")
	if err != nil {
		return nil, err
	}
	key, err := d.newKey("watched-validator")
	if err != nil {
		return nil, err
	}
	if w.params, err = token.NewPublicParams(d.Curve, d.Bits, d.ProofType); err != nil {
		return nil, err
	}
	rules := &w.params.Policy
	rules.Issuers = []token.Issuer{{Identity: issuer.Identity()}}
	rules.Validators, rules.HeadThreshold = []token.Validator{{HeadKey: [32]byte(key.Identity()[1:])}}, 1
	encoded, err := w.params.Encode()
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(d.path(watchedParams), encoded, 0o644); err != nil {
		return nil, err
	}
	genesis, err := ledger.NewGenesis(w.params)
	if err != nil {
		return nil, err
	}
	if w.ledger, err = bolt.Create(d.path(watchedLedger), genesis); err != nil {
		return nil, err
	}
	d.closers = append(d.closers, w.ledger)
	if w.validator, err = validator.New(w.params, genesis, executor.Pool(), token.LeastTables(), cachedIdentities); err != nil {
		return nil, err
	}
	edge := ledger.NewEdge(genesis)
	first := head.Head{Ledger: genesis.ID(), Size: 1, Root: edge.Root()}
	path := d.path(keysDir, "watched-validator.head")
	if err := head.CreateSigner(path, key, first, d.at); err != nil {
		return nil, err
	}
	signer, err := head.OpenSigner(path, key, genesis.ID())
	if err != nil {
		return nil, err
	}
	d.closers = append(d.closers, signer)
	w.keeper = &head.Keeper{Store: w.ledger, Signer: signer, Policy: w.validator.Policy()}
	vault, err := service.CreateVault(d.path(keysDir, "watched-issuer.vault"), genesis)
	if err != nil {
		return nil, err
	}
	d.closers = append(d.closers, vault)
	if w.issuer, err = service.NewIssueService(w.params, "", token.LeastTables(), executor.Pool(), vault, issuer); err != nil {
		return nil, err
	}
	keys, err := wallet.NewKey()
	if err != nil {
		return nil, err
	}
	purse, err := wallet.Create(d.path(w.bank.name), w.params, genesis, keys)
	if err != nil {
		return nil, err
	}
	return w, d.use(w.bank, purse)
}

// issue gives dollars to the bank west, whose wallet follows the log up to the head that the validator signs.
func (w *watched) issue(value uint64) (anchor []byte, h head.Opened, err error) {
	o, err := order(currency, w.bank, value)
	if err != nil {
		return nil, h, err
	}
	sub, err := w.issuer.Issue(w.ctx, o)
	if err != nil {
		return nil, h, err
	}
	raw, err := sub.Request.Encode()
	if err != nil {
		return nil, h, err
	}
	valid, err := w.validator.Validate(w.ctx, w.ledger, raw, w.at)
	if err != nil {
		return nil, h, err
	}
	if err := w.ledger.Apply(w.ctx, []ledger.Entry{valid.Entry()}); err != nil {
		return nil, h, err
	}
	if err := w.timed("validator signs the head, stored", func() error {
		_, err := w.keeper.Sign(w.ctx)
		return err
	}); err != nil {
		return nil, h, err
	}
	if err := w.bank.wallet.Sync(w.ctx, w.ledger); err != nil {
		return nil, h, err
	}
	signed, err := w.ledger.Head(w.ctx)
	if err != nil {
		return nil, h, err
	}
	h, err = head.Open(signed, w.ledger.Genesis().ID(), w.validator.Policy())
	return sub.Request.Anchor, h, err
}

// receipt makes a receipt of a request, and verifies it with the parameters alone.
func (w *watched) receipt(anchor []byte) error {
	r, err := receipt.Make(w.ctx, w.ledger, anchor)
	if err != nil {
		return err
	}
	data, err := r.Encode()
	if err != nil {
		return err
	}
	if err := os.WriteFile(w.path(watchedReceipt), data, 0o644); err != nil {
		return err
	}
	checked, err := receipt.Verify(w.ctx, data, w.params)
	if err != nil {
		return err
	}
	w.say("a receipt of %d bytes, verified with the parameters alone: request %d is in that log", len(data), checked.Record.Seq)
	return nil
}

// rollBack restores the backup, which lacks a request that the wallet has seen.
func (w *watched) rollBack() (err error) {
	data, err := os.ReadFile(w.path(watchedBackup))
	if err != nil {
		return err
	}
	path := w.path("restored.db")
	if _, err := backup.Restore(w.ctx, path, bytes.NewReader(data), nil, nil); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(path)) }() // so that nobody takes it for one of the demo's ledgers
	l, err := bolt.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(l.Close(), err) }()
	w.keeper.Store = l
	_, refused := w.keeper.Sign(w.ctx)
	if !errors.Is(refused, head.ErrShorter) {
		return fmt.Errorf("the validator, asked to sign the head of a backup: %w", refused)
	}
	refused = w.bank.wallet.Sync(w.ctx, l)
	if !errors.Is(refused, head.ErrShorter) && !errors.Is(refused, ledger.ErrRolledBack) {
		return fmt.Errorf("the wallet, shown a backup: %w", refused)
	}
	w.say("a backup from before the last request is put in its place: the validator signs no head of it, and the wallet refuses it: %v", refused)
	return nil
}
