package demo

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/cli/wallet"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/audit"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/policy"
	"github.com/zkbench/zkbench/token/service"
	"github.com/zkbench/zkbench/token/validator"
)

// run runs all steps of the demo.
func (d *demo) run() error {
	for _, step := range []func() error{d.setUp, d.issue, d.transfer, d.swap, d.redeem, d.doubleSpend, d.forge, d.stolenKey, d.lostWallet, d.heads} {
		if err := step(); err != nil {
			return err
		}
		if err := d.ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// prove makes a submission by calling work, and prints how long that took.
func (d *demo) prove(what string, work func() (*service.Submission, error)) (sub *service.Submission, err error) {
	err = d.timed(what, func() (err error) {
		sub, err = work()
		return err
	})
	return sub, err
}

// audited has the auditor check and sign a submission, and returns the request as it is submitted.
func (d *demo) audited(sub *service.Submission) (raw []byte, report *audit.Report, err error) {
	err = d.timed("auditor opens all commitments, signs", func() error {
		shown, information, err := sub.ForAuditors()
		if err != nil {
			return err
		}
		if sub.Request.Auditors[0], report, err = d.auditor.Sign(d.ctx, shown, information); err != nil {
			return err
		}
		raw, err = sub.Request.Encode()
		return err
	})
	return raw, report, err
}

func (d *demo) validated(raw []byte) (valid *validator.Valid, err error) {
	err = d.timed(fmt.Sprintf("validator accepts %d bytes", len(raw)), func() (err error) {
		valid, err = d.validator.Validate(d.ctx, d.ledger, raw, d.at)
		return err
	})
	return valid, err
}

// land sends a submission through auditor and validator to the ledger, where the payees find it.
func (d *demo) land(sub *service.Submission) (*validator.Valid, error) {
	raw, report, err := d.audited(sub)
	if err != nil {
		return nil, err
	}
	valid, err := d.validated(raw)
	if err != nil {
		return nil, err
	}
	if err := d.store(valid); err != nil {
		return nil, err
	}
	if err := d.sync(); err != nil {
		return nil, err
	}
	d.reported(report)
	return valid, nil
}

func (d *demo) store(valid *validator.Valid) error {
	return d.timed("ledger applies, flushed to the disk", func() error {
		rejected, err := d.apply(valid)
		if err != nil {
			return err
		}
		return rejected[0]
	})
}

// sync makes the wallets follow the ledger, where they find what became of their requests.
func (d *demo) sync() error {
	return errors.Join(d.north.wallet.Sync(d.ctx, d.ledger), d.south.wallet.Sync(d.ctx, d.ledger))
}

// reported prints what the auditor has seen.
func (d *demo) reported(report *audit.Report) {
	side := func(all []audit.Holding) string {
		var parts []string
		for _, h := range all {
			who := "nobody"
			if len(h.Owners) > 0 {
				who = holder(h.Owners[0])
			}
			parts = append(parts, fmt.Sprintf("%d of %s", h.Value, who))
		}
		return strings.Join(parts, ", ")
	}
	say, seen := d.detail, make([]string, len(report.Actions))
	for i, a := range report.Actions {
		seen[i] = fmt.Sprintf("%s %s: %s", a.Kind, a.Type, side(a.Outputs))
		if len(a.Inputs) > 0 {
			say, seen[i] = d.say, fmt.Sprintf("%s %s: %s -> %s", a.Kind, a.Type, side(a.Inputs), side(a.Outputs))
		}
	}
	say("the auditor saw: %s", strings.Join(seen, "; "))
}

// balances prints what the banks hold.
func (d *demo) balances() error {
	var parts []string
	for _, b := range []*bank{d.north, d.south} {
		text, err := b.balance()
		if err != nil {
			return err
		}
		parts = append(parts, text)
	}
	after := ""
	if !d.Verbose {
		after = fmt.Sprintf(", after %.1f ms in all", float64(d.spent)/float64(time.Millisecond))
	}
	d.say("balances: %s%s", strings.Join(parts, "; "), after)
	return nil
}

// balance describes what a bank holds.
func (b *bank) balance() (string, error) {
	text := b.name
	for i, typ := range []string{currency, security} {
		held, err := b.wallet.Holdings(typ)
		if err != nil {
			return "", err
		}
		text += fmt.Sprintf("%s %v %s", []string{"", ","}[i], held.Sum, typ)
	}
	return text, nil
}

// order returns an order that pays the values of a type to a bank, each to a fresh address.
func order(typ string, to *bank, values ...uint64) (service.Order, error) {
	o := service.Order{Type: typ}
	for _, v := range values {
		address, err := to.wallet.Address(nil)
		if err != nil {
			return o, err
		}
		o.Payments = append(o.Payments, service.Payment{To: address, Value: v})
	}
	return o, nil
}

func (d *demo) issue() error {
	d.step("Issue: the issuer gives 100 dollars to the bank north and 9 bonds to the bank south, in one request")
	dollars, err := order(currency, d.north, 100)
	if err != nil {
		return err
	}
	bonds, err := order(security, d.south, 9)
	if err != nil {
		return err
	}
	sub, err := d.prove("issuer proves and signs", func() (*service.Submission, error) { return d.issuer.Issue(d.ctx, dollars, bonds) })
	if err != nil {
		return err
	}
	if _, err := d.land(sub); err != nil {
		return err
	}
	return d.balances()
}

// pay makes a bank's submission that pays dollars.
func (d *demo) pay(from, to *bank, value uint64) (*service.Submission, error) {
	o, err := order(currency, to, value)
	if err != nil {
		return nil, err
	}
	return d.prove(from.name+" proves and signs", func() (*service.Submission, error) { return from.payment.Transfer(d.ctx, o) })
}

func (d *demo) transfer() error {
	d.step("Transfer: north pays 30 dollars to south; the change comes back to north")
	sub, err := d.pay(d.north, d.south, 30)
	if err != nil {
		return err
	}
	valid, err := d.land(sub)
	if err != nil {
		return err
	}
	d.detail("the ledger shows owners and commitments, no values, types or names:")
	for _, c := range valid.Creates {
		t, err := token.DecodeToken(len(c.Token)-2-int(binary.BigEndian.Uint16(c.Token)), c.Token)
		if err != nil {
			return err
		}
		d.detail("  %s, commitment %x...", shortened(t.Owner), t.Commitment[:8])
	}
	return d.balances()
}

// swap exchanges dollars for bonds in one request by both banks.
func (d *demo) swap() error {
	d.step("Swap: north gives 20 dollars for 4 bonds of south's, in one request that both sign: all of it or nothing")
	anchor := []byte("the swap that north and south agreed on")
	part := func(from, to *bank, place int, typ string, value uint64) (*service.Submission, error) {
		return d.prove(from.name+" proposes and proves its part", func() (*service.Submission, error) {
			o, err := order(typ, to, value)
			if err != nil {
				return nil, err
			}
			o.Anchor = anchor
			return from.payment.Propose(d.ctx, place, o)
		})
	}
	dollars, err := part(d.north, d.south, 0, currency, 20)
	if err != nil {
		return err
	}
	bonds, err := part(d.south, d.north, 1, security, 4)
	if err != nil {
		return err
	}
	sub, err := service.Join(dollars, bonds)
	if err != nil {
		return err
	}
	sign := func(b *bank, gives, gets service.Amounts) error {
		return d.timed(b.name+" signs if it gives and gets what was agreed", func() error {
			return b.payment.Sign(d.ctx, sub, service.Deal{Gives: gives, Gets: gets})
		})
	}
	usd, bond := service.Amounts{currency: 20}, service.Amounts{security: 4}
	if err := errors.Join(sign(d.north, usd, bond), sign(d.south, bond, usd)); err != nil {
		return err
	}
	if _, err := d.land(sub); err != nil {
		return err
	}
	return d.balances()
}

func (d *demo) redeem() error {
	d.step("Redeem: south gives 10 dollars up, which the issuer must approve")
	sub, err := d.prove("south proves and signs", func() (*service.Submission, error) {
		return d.south.payment.Transfer(d.ctx, service.Order{Type: currency, Payments: []service.Payment{{Value: 10}}})
	})
	if err != nil {
		return err
	}
	err = d.timed("issuer sees the value and signs", func() error {
		redeemed, err := sub.Redeemed(0)
		if err != nil {
			return err
		}
		return d.issuer.Approve(d.ctx, sub.Request, 0, redeemed...)
	})
	if err != nil {
		return err
	}
	if _, err := d.land(sub); err != nil {
		return err
	}
	return d.balances()
}

// doubleSpend makes north spend one token twice, in two requests that are both valid until one of
// them is on the ledger.
func (d *demo) doubleSpend() error {
	d.step("Double spend: north spends one token in two requests at once, to south and to itself")
	first, err := d.pay(d.north, d.south, 50)
	if err != nil {
		return err
	}
	if err := d.north.wallet.Release(d.ctx, first.Request.Anchor); err != nil { // otherwise its wallet would refuse
		return err
	}
	second, err := d.pay(d.north, d.north, 50)
	if err != nil {
		return err
	}
	var both []*validator.Valid
	for _, sub := range []*service.Submission{first, second} {
		raw, _, err := d.audited(sub)
		if err != nil {
			return err
		}
		valid, err := d.validated(raw)
		if err != nil {
			return err
		}
		both = append(both, valid)
	}
	rejected, err := d.apply(both...)
	if err != nil {
		return err
	}
	if rejected[0] != nil || !errors.Is(rejected[1], zkbench.ErrSpent) {
		return fmt.Errorf("two requests that spend one token: %w", errors.Join(rejected...))
	}
	d.say("the ledger applies the first, 50 dollars to south, and refuses the second: %v", rejected[1])
	_, err = d.validator.Validate(d.ctx, d.ledger, both[1].Raw, d.at)
	if !errors.Is(err, zkbench.ErrSpent) {
		return fmt.Errorf("the second request of a double spend, validated again: %w", err)
	}
	d.detail("the validator refuses it from now on: %v", err)
	if err := d.sync(); err != nil {
		return err
	}
	return d.balances()
}

// forge changes one bit of the proof in a good request.
func (d *demo) forge() error {
	d.step("Forgery: south pays 15 dollars to north, and one bit of the request is changed on its way")
	sub, err := d.pay(d.south, d.north, 15)
	if err != nil {
		return err
	}
	if _, _, err := d.audited(sub); err != nil {
		return err
	}
	proof := sub.Request.Actions[0].Raw
	proof[len(proof)-1] ^= 1
	raw, err := sub.Request.Encode()
	if err != nil {
		return err
	}
	_, err = d.validator.Validate(d.ctx, d.ledger, raw, d.at)
	if !errors.Is(err, zkbench.ErrSignature) {
		return fmt.Errorf("a request with a bit changed: %w", err)
	}
	d.say("the validator refuses it, and nothing moves: %v", err)
	return d.south.wallet.Discard(d.ctx, sub.Request.Anchor)
}

// stolenKey makes administrators replace the issuer, whose key was stolen.
func (d *demo) stolenKey() error {
	d.step("Stolen key: a thief has the issuer's; 2 of the 3 administrators sign a policy with another issuer, who issues 5 dollars to north")
	thief := d.issuer
	key, err := d.newKey("new-issuer")
	if err != nil {
		return err
	}
	current := d.validator.Policy()
	next := current.Clone()
	next.Issuers = []token.Issuer{{Identity: key.Identity()}}
	err = d.timed("two administrators sign, the ledger records", func() error {
		update, err := policy.New(d.ledger.Genesis().ID(), current, next)
		if err != nil {
			return err
		}
		for _, a := range d.administrators[:2] {
			if err := update.Sign(current, a); err != nil {
				return err
			}
		}
		raw, err := update.Encode()
		if err != nil {
			return err
		}
		submitter, err := validator.NewSubmitter(d.validator, d.ledger, func() time.Time { return d.at })
		if err != nil {
			return err
		}
		verdicts, err := submitter.Submit(d.ctx, [][]byte{raw})
		if err != nil {
			return err
		}
		return verdicts[0].Err
	})
	if err != nil {
		return err
	}
	d.detail("policy %d is on the ledger, and valid from there on; the banks, the auditor and the validator follow it", d.validator.Policy().Version)
	if _, err := d.auditor.Reconcile(d.ctx, d.ledger, func(ledger.Record) error { return errors.New("the auditor has not signed it") }); err != nil {
		return err
	}
	loot, err := order(currency, d.north, 200)
	if err != nil {
		return err
	}
	sub, err := thief.Issue(d.ctx, loot)
	if err != nil {
		return err
	}
	if _, _, err = d.audited(sub); !errors.Is(err, zkbench.ErrPolicy) {
		return fmt.Errorf("an issue by the thief: %w", err)
	}
	d.say("the thief issues 200 dollars to north: the auditor refuses: %v", err)
	if d.issuer, err = d.newIssuer("new-issuer", key); err != nil {
		return err
	}
	if err := d.issuer.Sync(d.ctx, d.ledger); err != nil {
		return err
	}
	good, err := order(currency, d.north, 5)
	if err != nil {
		return err
	}
	sub, err = d.prove("the new issuer proves and signs", func() (*service.Submission, error) { return d.issuer.Issue(d.ctx, good) })
	if err != nil {
		return err
	}
	if _, err = d.land(sub); err != nil {
		return err
	}
	return d.balances()
}

// lostWallet deletes a bank's vault and restores it from the bank's secret and the ledger.
func (d *demo) lostWallet() error {
	d.step("Lost wallet: south's vault is destroyed; all that is left are its keys, and the ledger")
	before, err := d.south.balance()
	if err != nil {
		return err
	}
	err = errors.Join(d.south.wallet.Close(), os.Remove(d.path(d.south.name, wallet.VaultFile)))
	if err != nil {
		return err
	}
	err = d.timed("a new vault follows the ledger from its start", func() error {
		wallet, err := wallet.Restore(d.path(d.south.name), nil, d.ledger.Genesis())
		if err != nil {
			return err
		}
		if err := d.use(d.south, wallet); err != nil {
			return err
		}
		return d.south.wallet.Sync(d.ctx, d.ledger)
	})
	if err != nil {
		return err
	}
	after, err := d.south.balance()
	if err != nil {
		return err
	}
	if before != after {
		return fmt.Errorf("a restored wallet: %s, before %s", after, before)
	}
	return d.balances()
}

// holder returns the name of a token's owner: the one that the authority enrolled, or else its key.
func holder(p audit.Party) string {
	if p.Name != "" {
		return p.Name
	}
	return abbreviated(p.String())
}

// shortened returns the type of an identity and the beginning of its key.
func shortened(id identity.Identity) string {
	return abbreviated(fmt.Sprintf("%v %x", id.Type(), []byte(id[1:])))
}

// abbreviated cuts a long name.
func abbreviated(name string) string {
	const most = 24
	if len(name) <= most {
		return name
	}
	return name[:most] + "..."
}
