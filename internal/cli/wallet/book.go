package wallet

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"slices"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/head"
	"github.com/zkbench/zkbench/token/service"
	"github.com/zkbench/zkbench/token/validator"
)

// Balance says which amounts a wallet owns.
type Balance struct {
	Free, Held []service.Total // Held: reserved by pending payments
	Waiting    [][]byte        // anchors of the pending payments
}

// Balance returns what the wallet owns after the last request that the wallet has read from the
// ledger.
func (p *Purse) Balance() (*Balance, error) {
	free, held, waiting, err := p.tokens()
	if err != nil {
		return nil, err
	}
	return &Balance{Free: service.Totals(free), Held: service.Totals(held), Waiting: waiting}, nil
}

// tokens returns the tokens that can be spent, those that pending payments hold, and the anchors of
// these payments.
func (p *Purse) tokens() (free, held []service.UnspentToken, waiting [][]byte, err error) {
	seen := make(map[string]bool)
	for h, err := range p.Unspent() {
		if err != nil {
			return nil, nil, nil, err
		}
		free, seen[string(h.ID)] = append(free, h), true
	}
	for k, err := range p.Submissions() {
		if err != nil {
			return nil, nil, nil, err
		}
		waiting = append(waiting, k.Request.Anchor)
		m, err := p.Movement(k.Request.Anchor)
		if err != nil {
			return nil, nil, nil, err
		}
		if m == nil {
			continue // settled meanwhile
		}
		for _, h := range m.Spent {
			if !seen[string(h.ID)] {
				held, seen[string(h.ID)] = append(held, h), true
			}
		}
	}
	return free, held, waiting, nil
}

// Change is the effect of a movement (an entry of the wallet's history) on the wallet's tokens of
// one type.
type Change struct {
	Type            string
	Spent, Received *big.Int // Received includes change
}

// Changes returns the effects of the movement m on the wallet, one Change for each type of token,
// sorted by type.
func Changes(m *service.Movement) (all []Change) {
	spent, received := service.Totals(m.Spent), service.Totals(m.Received)
	for len(spent)+len(received) > 0 {
		c := Change{Spent: new(big.Int), Received: new(big.Int)}
		switch {
		case len(received) == 0 || len(spent) > 0 && spent[0].Type < received[0].Type:
			c.Type = spent[0].Type
		default:
			c.Type = received[0].Type
		}
		if len(spent) > 0 && spent[0].Type == c.Type {
			c.Spent, spent = spent[0].Sum, spent[1:]
		}
		if len(received) > 0 && received[0].Type == c.Type {
			c.Received, received = received[0].Sum, received[1:]
		}
		all = append(all, c)
	}
	return all
}

// The ways in which a wallet can differ from a ledger's valid requests.
const (
	TokenNotValid service.Discrepancy = "token of no valid request" // the wallet counts the token
	TokenNotFound service.Discrepancy = "token not counted"         // the token is the wallet's, but the wallet does not count it
)

// Check compares the wallet with a ledger and returns the differences. If validate is true, Check
// also reads the whole log of the ledger from its beginning into a temporary vault (a wallet's
// database), validates every request, and compares the wallet's tokens with those in that vault. In
// that case it returns a *ledger.CorruptError if a request in the log is not valid.
func (p *Purse) Check(ctx context.Context, l ledger.Reader, validate bool) (findings []service.Finding, err error) {
	if findings, err = p.Compare(ctx, l); err != nil || !validate {
		return findings, err
	}
	more, err := p.validated(ctx, l)
	return append(findings, more...), err
}

// checkFile is the vault of a running check.
const checkFile = "check.vault"

// validated compares the wallet's tokens with those that it has after a ledger's valid requests.
func (p *Purse) validated(ctx context.Context, l ledger.Reader) (findings []service.Finding, err error) {
	v, err := validator.New(p.params, l.Genesis(), executor.Pool(), token.Tuning{}, 1024)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(p.dir, checkFile)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) { // left by a check that was killed
		return nil, err
	}
	vault, err := service.CreateVault(path, l.Genesis())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, vault.Close(), os.Remove(path)) }()
	checked, err := p.wallet(vault)
	if err == nil {
		err = vault.CheckRecords(v)
	}
	if err != nil {
		return nil, err
	}
	if err := p.syncBoth(ctx, l, checked); err != nil {
		return nil, err
	}
	all, err := owned(checked)
	if err != nil {
		return nil, err
	}
	valid := make(map[string]service.UnspentToken, len(all))
	for _, h := range all {
		valid[string(h.ID)] = h
	}
	counted, err := owned(p.Wallet)
	if err != nil {
		return nil, err
	}
	_, held, _, err := p.tokens()
	if err != nil {
		return nil, err
	}
	for _, h := range append(counted, held...) {
		if same, ok := valid[string(h.ID)]; !ok || same.Type != h.Type || same.Value != h.Value {
			findings = append(findings, service.Finding{Kind: TokenNotValid, Token: h.ID})
		}
		delete(valid, string(h.ID))
	}
	for _, id := range slices.Sorted(maps.Keys(valid)) {
		findings = append(findings, service.Finding{Kind: TokenNotFound, Token: token.ID(id)})
	}
	return findings, nil
}

// owned returns the tokens of a wallet that no payment holds, including those of scripts.
func owned(w *service.Wallet) (all []service.UnspentToken, err error) {
	for h, err := range w.Unspent() {
		if err != nil {
			return nil, err
		}
		all = append(all, h)
	}
	for h, err := range w.Shared() {
		if err != nil {
			return nil, err
		}
		all = append(all, h.UnspentToken)
	}
	for h, err := range w.Locked() {
		if err != nil {
			return nil, err
		}
		all = append(all, h.UnspentToken)
	}
	return all, nil
}

// syncBoth makes the purse's wallet and another one follow a ledger, which may grow meanwhile, until
// both have seen the same requests. If the purse's wallet has followed another log, which contradicts the
// ledger's, it stays where it is.
func (p *Purse) syncBoth(ctx context.Context, l ledger.Reader, other *service.Wallet) error {
	for {
		err := other.Sync(ctx, l)
		if err == nil {
			err = p.Sync(ctx, l)
			_, fooled := errors.AsType[*ledger.CorruptError](err)
			if _, forked := errors.AsType[*head.ExtendError](err); fooled || forked {
				return nil
			}
		}
		if err != nil {
			return err
		}
		seen, err := other.Followed()
		if err != nil {
			return err
		}
		if own, err := p.Followed(); err != nil || own == seen {
			return err
		}
	}
}
