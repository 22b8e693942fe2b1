package demo

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/audit"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/service"
	"github.com/zkbench/zkbench/token/validator"
)

// currency is the type of the demo's tokens.
const currency = "USD"

// run is the life of the demo's tokens.
func (d *demo) run() error {
	for _, step := range []func() error{d.setUp, d.issueTo, d.transfer, d.split, d.redeem, d.doubleSpend, d.forge} {
		if err := step(); err != nil {
			return err
		}
		if err := d.ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// prove has a service make a submission, and says how long that took.
func (d *demo) prove(what string, work func() (*service.Submission, error)) (sub *service.Submission, err error) {
	err = d.timed(what, func() (err error) {
		sub, err = work()
		return err
	})
	return sub, err
}

// audited has the auditor check and sign a submission, and returns the request as it
// is submitted.
func (d *demo) audited(sub *service.Submission) (raw []byte, report *audit.Report, err error) {
	err = d.timed(fmt.Sprintf("auditor opens all %d commitments, signs", commitments(sub)), func() error {
		if raw, err = sub.Request.Encode(); err != nil {
			return err
		}
		information, err := sub.Information.Encode()
		if err != nil {
			return err
		}
		if sub.Request.Auditors[0], report, err = d.auditor.Sign(d.ctx, raw, information); err != nil {
			return err
		}
		raw, err = sub.Request.Encode()
		return err
	})
	return raw, report, err
}

func commitments(sub *service.Submission) (n int) {
	for _, a := range sub.Information.Actions {
		n += len(a.Inputs) + len(a.Outputs)
	}
	return n
}

func (d *demo) validated(raw []byte) (valid *validator.Valid, err error) {
	err = d.timed(fmt.Sprintf("validator accepts %d bytes", len(raw)), func() (err error) {
		valid, err = d.validator.Validate(d.ctx, d.ledger, raw, d.at)
		return err
	})
	return valid, err
}

// land takes a submission through auditor and validator to the ledger, where the payees find it.
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
		rejected, err := d.applied(valid)
		if err != nil {
			return err
		}
		return rejected[0]
	})
}

// sync lets the wallets look what has come of their requests.
func (d *demo) sync() error {
	return errors.Join(d.alice.wallet.Sync(d.ctx, d.ledger), d.bob.wallet.Sync(d.ctx, d.ledger))
}

// reported says what an auditor has seen.
func (d *demo) reported(report *audit.Report) {
	side := func(all []audit.Holding) string {
		var parts []string
		for _, h := range all {
			who := "nobody"
			if len(h.Owners) > 0 {
				who = abbreviated(h.Owners[0])
			}
			parts = append(parts, fmt.Sprintf("%d of %s", h.Value, who))
		}
		return strings.Join(parts, ", ")
	}
	for _, a := range report.Actions {
		text := side(a.Outputs)
		if len(a.Inputs) > 0 {
			text = side(a.Inputs) + " -> " + text
		}
		d.say("the auditor saw: %s %s: %s", a.Kind, a.Type, text)
	}
}

// balances says what the wallets hold.
func (d *demo) balances() error {
	var parts []string
	for _, p := range []*participant{d.alice, d.bob} {
		sum, err := p.wallet.Balance(currency)
		if err != nil {
			return err
		}
		parts = append(parts, fmt.Sprintf("%s %v", p.name, sum))
	}
	if !d.Verbose {
		parts = append(parts, fmt.Sprintf("after %.1f ms in all", float64(d.spent)/float64(time.Millisecond)))
	}
	d.say("balances: %s", strings.Join(parts, ", "))
	return nil
}

func (d *demo) issueTo() error {
	d.step("Issue: 100 %s to alice", currency)
	to, err := d.alice.wallet.Address(nil)
	if err != nil {
		return err
	}
	sub, err := d.prove("issuer proves and signs", func() (*service.Submission, error) {
		return d.issuer.Issue(d.ctx, service.Order{Type: currency, Payments: []service.Payment{{To: to, Value: 100}}})
	})
	if err != nil {
		return err
	}
	if _, err := d.land(sub); err != nil {
		return err
	}
	return d.balances()
}

// pay is an order to addresses of a participant.
func (d *demo) pay(to *participant, values ...uint64) (service.Order, error) {
	o := service.Order{Type: currency}
	for _, v := range values {
		address, err := to.wallet.Address(nil)
		if err != nil {
			return o, err
		}
		o.Payments = append(o.Payments, service.Payment{To: address, Value: v})
	}
	return o, nil
}

// paid is a submission of a participant who pays.
func (d *demo) paid(from, to *participant, values ...uint64) (*service.Submission, error) {
	o, err := d.pay(to, values...)
	if err != nil {
		return nil, err
	}
	return d.prove(from.name+" proves and signs", func() (*service.Submission, error) { return from.payment.Transfer(d.ctx, o) })
}

func (d *demo) transfer() error {
	d.step("Transfer: alice pays bob 30, the change comes back to her")
	sub, err := d.paid(d.alice, d.bob, 30)
	if err != nil {
		return err
	}
	valid, err := d.land(sub)
	if err != nil {
		return err
	}
	d.detail("the ledger shows owners and commitments, no values and no types:")
	for _, c := range valid.Creates {
		t, err := token.DecodeToken(len(c.Token)-2-int(binary.BigEndian.Uint16(c.Token)), c.Token)
		if err != nil {
			return err
		}
		d.detail("  %s, commitment %x...", shortened(t.Owner), t.Commitment[:8])
	}
	return d.balances()
}

func (d *demo) split() error {
	d.step("Split: bob pays himself three tokens of 10, each to a fresh pseudonym")
	sub, err := d.paid(d.bob, d.bob, 10, 10, 10)
	if err != nil {
		return err
	}
	if _, err := d.land(sub); err != nil {
		return err
	}
	return d.balances()
}

func (d *demo) redeem() error {
	d.step("Redeem: bob gives up a token of 10, which the issuer must approve")
	sub, err := d.prove("bob proves and signs", func() (*service.Submission, error) {
		return d.bob.payment.Transfer(d.ctx, service.Order{Type: currency, Payments: []service.Payment{{Value: 10}}})
	})
	if err != nil {
		return err
	}
	err = d.timed("issuer sees the value and signs", func() error {
		return d.issuer.Approve(d.ctx, sub.Request, 0, sub.Redeemed(0)...)
	})
	if err != nil {
		return err
	}
	if _, err := d.land(sub); err != nil {
		return err
	}
	return d.balances()
}

// doubleSpend has alice spend one token twice, in two requests that are both valid
// until one of them is on the ledger.
func (d *demo) doubleSpend() error {
	d.step("Double spend: alice spends one token in two requests at once, to bob and to herself")
	first, err := d.paid(d.alice, d.bob, 70)
	if err != nil {
		return err
	}
	if err := d.alice.wallet.Release(d.ctx, first.Request.Anchor); err != nil { // her wallet would not
		return err
	}
	second, err := d.paid(d.alice, d.alice, 70)
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
	rejected, err := d.applied(both...)
	if err != nil {
		return err
	}
	if rejected[0] != nil || !errors.Is(rejected[1], zkbench.ErrSpent) {
		return fmt.Errorf("of two requests that spend one token: %w", errors.Join(rejected...))
	}
	d.say("the ledger applies the first and refuses the second: %v", rejected[1])
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

// forge changes one bit of a good request's proof.
func (d *demo) forge() error {
	d.step("Forgery: one bit of a request is changed on its way")
	sub, err := d.paid(d.bob, d.alice, 15)
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
	d.say("the validator refuses it: %v", err)
	return d.bob.wallet.Discard(d.ctx, sub.Request.Anchor)
}

// shortened shows an identity by its type and the start of its key.
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
