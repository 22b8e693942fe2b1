package zkbench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/spf13/pflag"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/cli/keyfile"
	"github.com/zkbench/zkbench/internal/cli/serving"
	"github.com/zkbench/zkbench/internal/cli/wallet"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/client"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/peer"
	"github.com/zkbench/zkbench/token/policy"
	"github.com/zkbench/zkbench/token/server"
	"github.com/zkbench/zkbench/token/service"
)

const (
	acceptedIssuerKey = "the path of a PEM file with an issuer's PRIVATE KEY (PKCS #8), Ed25519 or P-256, of mode 0600"
	acceptedDatabase  = "the path of a vault, or of a file that does not exist"
)

// servedRole is an auditor, an issuer or a wallet that a process serves.
type servedRole struct {
	ledgerFlags
	params, key, state, vault, auditors, dir, signKey *argument.Option
	stdout                                            io.Writer
}

// define defines the flags that a validator does not have.
func (s *servedRole) define(flags *pflag.FlagSet) {
	s.vault = argument.Define(flags, "vault", argument.KindFile, "", acceptedDatabase, "for an auditor or an issuer, its database (default beside the key, with the extension .vault): "+acceptedDatabase)
	s.auditors = argument.Define(flags, "auditor", argument.KindList, "", acceptedAuditors, "for an issuer or a wallet, the auditors of the ledger, if it has any: "+acceptedAuditors)
	s.dir = argument.Define(flags, "dir", argument.KindFile, "", acceptedWallet, "for a wallet, its directory: "+acceptedWallet)
	s.signKey = argument.Define(flags, "sign-key", argument.KindFile, "", acceptedSigner, "for a wallet, sign its addresses with a key that payers know; needed for a wallet of pseudonyms: "+acceptedSigner)
}

// unused refuses flags that a role does not have.
func (s *servedRole) unused(role peer.Role) error {
	for _, flag := range []struct {
		name  string
		o     *argument.Option
		roles []peer.Role // that have it
	}{
		{"key", s.key, []peer.Role{peer.Validator, peer.Auditor, peer.Issuer}},
		{"params", s.params, []peer.Role{peer.Validator, peer.Auditor, peer.Issuer}},
		{"state", s.state, []peer.Role{peer.Validator}},
		{"vault", s.vault, []peer.Role{peer.Auditor, peer.Issuer}},
		{"auditor", s.auditors, []peer.Role{peer.Issuer, peer.Wallet}},
		{"dir", s.dir, []peer.Role{peer.Wallet}},
		{"sign-key", s.signKey, []peer.Role{peer.Wallet}},
	} {
		if flag.o.Given && !slices.Contains(flag.roles, role) {
			return (&argument.Option{Accepted: "nothing, with --role " + string(role)}).Refuse(flag.name, flag.o.Text)
		}
	}
	return nil
}

// party is what an auditor and an issuer have.
type party struct {
	ledger  walletLedger
	params  *token.PublicParams
	keys    *keyfile.Keys
	signer  identity.Signer
	vault   *service.Vault
	process *serving.Process
}

// serve serves until ctx ends.
func (s *servedRole) serve(ctx context.Context, role peer.Role, p *serving.Process) error {
	if role == peer.Wallet {
		return s.wallet(ctx, p)
	}
	if !s.key.Given {
		return s.key.Refuse("key", "")
	}
	return s.open(ctx, func(l walletLedger) (err error) {
		o := &party{ledger: l, process: p}
		if o.params, err = paramsOf(l, s.params); err != nil {
			return err
		}
		if o.params == nil {
			return s.params.Refuse("params", "")
		}
		if err := s.sign(ctx, role, o); err != nil {
			return err
		}
		if o.vault, err = s.openVault(l); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, o.vault.Close()) }()
		if role == peer.Auditor {
			return s.auditor(ctx, o)
		}
		return s.issuer(ctx, o)
	})
}

// sign reads the keys of the party. If the policy names an identity with its key, it signs for that one.
func (s *servedRole) sign(ctx context.Context, role peer.Role, o *party) (err error) {
	accepted := acceptedIssuerKey
	if role == peer.Auditor {
		accepted = wallet.AcceptedAuditor
	}
	if o.keys, err = keyfile.Read("key", s.key.Text, accepted); err != nil {
		return err
	}
	current, err := policy.NewCurrent(o.ledger.Genesis(), &o.params.Policy, nil)
	if err == nil {
		err = current.Follow(ctx, o.ledger)
	}
	if err != nil {
		return err
	}
	ids := current.Load().IssuerIdentities()
	if role == peer.Auditor {
		ids = current.Load().AuditorIdentities()
	}
	if o.signer = o.keys.Signer(ids...); o.signer == nil { // not one yet, or not any more
		o.signer = o.keys.Self()
	}
	if o.signer == nil || role == peer.Auditor && o.keys.Opening == nil {
		return (&argument.Option{Accepted: accepted}).Refuse("key", s.key.Text)
	}
	return nil
}

// openVault opens the party's vault, or makes it.
func (s *servedRole) openVault(l walletLedger) (*service.Vault, error) {
	path := s.vault.Text
	if path == "" {
		path = wallet.VaultBeside(s.key.Text)
	}
	v, err := service.OpenVault(path, l.Genesis())
	if errors.Is(err, fs.ErrNotExist) {
		v, err = service.CreateVault(path, l.Genesis())
	}
	if err != nil {
		return nil, fmt.Errorf("vault: %s: %w", path, err)
	}
	return v, nil
}

func (s *servedRole) auditor(ctx context.Context, o *party) error {
	a, err := service.NewAuditorService(o.params, token.Tuning{}, executor.Pool(), o.vault, service.Auditor{
		Signer: o.signer, Key: o.keys.Opening, Policy: service.SignAll{}, Authorities: o.keys.Identities,
	})
	if err != nil {
		return err
	}
	served, err := server.NewAuditor(server.Auditor{Service: a, Ledger: o.ledger})
	if err != nil {
		return err
	}
	return s.run(ctx, o, peer.Auditor, served)
}

func (s *servedRole) issuer(ctx context.Context, o *party) (err error) {
	l, err := payable(ctx, o.ledger, o.params)
	if err != nil {
		return err
	}
	i, err := service.NewIssueService(o.params, "", token.Tuning{}, executor.Pool(), o.vault, o.signer)
	if err != nil {
		return err
	}
	dial, err := s.dial(peer.Auditor)
	if err != nil {
		return err
	}
	dial.Ledger = o.ledger.Genesis().ID()
	var auditors []service.AuditSigner
	for _, url := range list(s.auditors) {
		a, err := client.DialAuditor(ctx, url, dial)
		if err != nil {
			return fmt.Errorf("auditor: %w", err)
		}
		defer func() { err = errors.Join(err, a.Close()) }()
		auditors = append(auditors, a)
	}
	served, err := server.NewIssuer(server.Issuer{Service: i, Ledger: o.ledger, Submitter: l, Auditors: auditors})
	if err != nil {
		return err
	}
	return s.run(ctx, o, peer.Issuer, served)
}

// run runs the server of an auditor or an issuer until ctx ends.
func (s *servedRole) run(ctx context.Context, o *party, role peer.Role, served server.Service) error {
	return s.runServer(ctx, o.process, o.ledger, fmt.Sprintf("%s %s", role, wallet.Owner(o.signer.Identity())), served)
}

// runServer runs a server until ctx ends. The text who says whose it is.
func (s *servedRole) runServer(ctx context.Context, p *serving.Process, l walletLedger, who string, served server.Service) error {
	handler, err := server.New(p.Options(), served)
	if err != nil {
		return err
	}
	id := l.Genesis().ID()
	return p.Run(ctx, handler, func(url, metrics string) error {
		_, err := fmt.Fprintf(s.stdout, "%s of ledger %x at %s\n", who, id, url)
		if err == nil && metrics != "" {
			_, err = fmt.Fprintf(s.stdout, "metrics at %s\n", metrics)
		}
		return err
	})
}
