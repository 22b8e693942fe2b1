package zkbench

import (
	"context"
	"errors"
	"sync"

	"github.com/zkbench/zkbench/internal/cli/serving"
	"github.com/zkbench/zkbench/internal/cli/wallet"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/server"
)

// wallet serves a wallet to the programs of its owner until ctx ends.
func (s *servedRole) wallet(ctx context.Context, p *serving.Process) error {
	if !s.dir.Given {
		return s.dir.Refuse("dir", "")
	}
	var signer identity.Signer
	if s.signKey.Given {
		var err error
		if signer, err = loadSelf("sign-key", s.signKey); err != nil {
			return err
		}
	}
	f := &walletFlags{ledgerFlags: s.ledgerFlags, dir: s.dir}
	return f.withWallet(ctx, func(h *holding) (err error) {
		if signer == nil && h.Pseudonyms() {
			return s.signKey.Refuse("sign-key", "")
		}
		payer, err := f.newPayer(ctx, h, nil, list(s.auditors), wallet.DefaultWait)
		if err != nil {
			return f.failed(ctx, err)
		}
		defer func() { err = errors.Join(err, payer.Close()) }()
		account := wallet.NewAccount(h.Purse, payer, h.ledger, signer)
		served, err := server.NewWallet(account)
		if err != nil {
			return err
		}
		if p.Certificates == nil {
			p.Log.Warn("without --tls, every program on this machine can pay from the wallet")
		}
		running, stop := context.WithCancel(ctx)
		var resumes sync.WaitGroup
		resumes.Go(func() { account.Run(running, p.Log) })
		err = s.runServer(ctx, p, h.ledger, "wallet of "+h.Name(), served)
		stop()
		resumes.Wait()
		return err
	})
}
