package wallet

import (
	"context"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/client"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/validator"
)

// Ledger is a ledger on which a wallet pays. Validated and Served return one.
type Ledger interface {
	ledger.Reader
	ledger.Submitter
	// own reports whether this process validates what is submitted: what it refuses, nobody else has seen.
	own() bool
}

// Validated returns a ledger for which this process validates, under the parameters of the store.
func Validated(ctx context.Context, store ledger.Store, params *token.PublicParams) (Ledger, error) {
	v, err := validator.New(params, store.Genesis(), executor.Pool(), token.Tuning{}, 64)
	if err == nil {
		err = v.Follow(ctx, store)
	}
	if err != nil {
		return nil, err
	}
	s, err := validator.NewSubmitter(v, store, nil)
	return &validated{store, s}, err
}

type validated struct {
	ledger.Reader
	*validator.Submitter
}

func (*validated) own() bool { return true }

// Served returns the ledger behind a server.
func Served(c *client.Client) Ledger { return served{c} }

type served struct{ *client.Client }

func (served) own() bool { return false }
