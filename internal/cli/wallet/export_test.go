package wallet

import (
	"github.com/zkbench/zkbench/internal/cli/keyfile"
	"github.com/zkbench/zkbench/token/ledger"
)

// Through makes a payer submit through another submitter.
func (r *Payer) Through(wrap func(ledger.Submitter) ledger.Submitter) { r.submit = wrap(r.submit) }

// Dir returns the directory of a purse.
func (p *Purse) Dir() string { return p.dir }

// Keys returns the keys of a purse.
func (p *Purse) Keys() *keyfile.Keys { return p.keys }
