package zkbench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/cli/wallet"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/client"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/peer"
	"github.com/zkbench/zkbench/token/service"
)

type address = service.Address

const (
	acceptedAnchor = "the anchor of a pending payment, in hex, as wallet balance prints it"
	acceptedTokens = "a type of tokens, 1 to 256 bytes"

	acceptedAuditors = "the URLs of auditors' servers"
)

// payFlags name a wallet that pays, and its ledger's auditors.
type payFlags struct {
	*walletFlags
	auditorKeys, auditors, wait *argument.Option
	stderr                      io.Writer
}

func newPayFlags(flags *pflag.FlagSet, stderr io.Writer) *payFlags {
	const (
		keys = "the paths of files with the secret keys of auditors, for each its signing key and its X25519 or MLKEM768-X25519 key"
		wait = "0s to 10m"
	)
	return &payFlags{
		stderr:      stderr,
		walletFlags: newWalletFlags(flags, stderr),
		auditorKeys: argument.Define(flags, "auditor-key", argument.KindList, "", keys, "sign as these auditors of the ledger, if it has any: "+keys),
		auditors:    argument.Define(flags, "auditor", argument.KindList, "", acceptedAuditors, "have these auditors of the ledger sign: "+acceptedAuditors),
		wait:        argument.Define(flags, "wait", argument.KindTime, wallet.DefaultWait.String(), wait, "with a server, how long to wait until validators have signed a head over the payment: "+wait),
	}
}

// list returns the items of a flag.
func list(o *argument.Option) []string {
	if !o.Given {
		return nil
	}
	return strings.Split(o.Text, ",")
}

// payable returns a ledger to which requests can be submitted.
func payable(ctx context.Context, l walletLedger, params *token.PublicParams) (wallet.Ledger, error) {
	if c, ok := l.(*client.Client); ok {
		return wallet.Served(c), nil
	}
	return wallet.Validated(ctx, l.(ledger.Store), params)
}

// payer returns a payer on the wallet's ledger.
func (f *payFlags) payer(ctx context.Context, h *holding) (*wallet.Payer, error) {
	wait, err := f.wait.Duration("wait", 0, 10*time.Minute)
	if err != nil {
		return nil, err
	}
	return f.newPayer(ctx, h, list(f.auditorKeys), list(f.auditors), wait)
}

// newPayer returns a payer on the wallet's ledger, whose auditors have their keys in files, or servers.
func (f *walletFlags) newPayer(ctx context.Context, h *holding, keys, urls []string, wait time.Duration) (*wallet.Payer, error) {
	a := wallet.Auditors{Keys: keys, URLs: urls}
	var err error
	if a.Dial, err = f.dial(peer.Auditor); err != nil {
		return nil, err
	}
	l, err := payable(ctx, h.ledger, h.Params())
	if err != nil {
		return nil, err
	}
	r, err := wallet.NewPayer(ctx, h.Purse, l, a)
	if err == nil {
		r.Wait = wait
	}
	return r, err
}

// pays makes a payment by calling work, and shows it.
func (f *payFlags) pays(ctx context.Context, stdout io.Writer, work func(h *holding, r *wallet.Payer) (*service.Movement, error)) error {
	return f.withWallet(ctx, func(h *holding) (err error) {
		r, err := f.payer(ctx, h)
		if err != nil {
			return f.failed(ctx, err)
		}
		defer func() { err = errors.Join(err, r.Close()) }()
		if r.Unsigned > 0 {
			fmt.Fprintf(f.stderr, "the auditors' vaults do not know %d requests on the ledger: the vaults are new, or were lost\n", r.Unsigned)
		}
		m, err := work(h, r)
		if err != nil {
			return f.outcome(ctx, err)
		}
		return showPaid(stdout, h, m)
	})
}

// outcome says what happened to a payment that failed, and what to do.
func (f *payFlags) outcome(ctx context.Context, err error) error {
	if u, ok := errors.AsType[*wallet.UnknownError](err); ok {
		return &cli.ExitError{Code: cli.ExitPartial, Text: fmt.Sprintf(
			"%v; its tokens are held: zkbench wallet pay --again %x submits it again, and pays once; zkbench wallet cancel %x takes it back", err, u.Anchor, u.Anchor)}
	}
	if r, ok := errors.AsType[*wallet.RefusedError](err); ok {
		what := "nothing was paid"
		if r.Kept {
			what = fmt.Sprintf("its tokens are held, because it may still be recorded: zkbench wallet cancel %x takes it back; do not pay again before that", r.Anchor)
		}
		return &cli.ExitError{Code: cli.ExitFailed, Text: fmt.Sprintf("%v; %s", err, what)}
	}
	if landed, ok := errors.AsType[*wallet.LandedError](err); ok {
		return &cli.ExitError{Code: cli.ExitPartial, Text: unsigned(landed).Error()}
	}
	if ctx.Err() != nil {
		return &cli.ExitError{Code: cli.ExitPartial, Text: "interrupted; nothing was paid"}
	}
	if limit, ok := errors.AsType[*zkbench.LimitError](err); ok && strings.HasPrefix(limit.What, "inputs") {
		return fmt.Errorf("%w; zkbench wallet consolidate merges the smallest", limit)
	}
	return err
}

func walletPayCommand(stdout, stderr io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pay --to ADDRESS --value NUMBER --type TYPE --dir DIR --ledger PATH",
		Short: "Pay to an address: prove, have the auditors sign, and put it on the ledger",
		Long: "Pay to an address: prove, have the auditors sign, and put it on the ledger. The change comes back to the\n" +
			"wallet. If the ledger's policy has auditors, --auditor has the servers of auditors sign, and --auditor-key\n" +
			"signs as auditors; each of these records what it has signed in a file beside its key. If the answer of the\n" +
			"ledger is lost, --again ANCHOR submits the same request again, which pays only once. The exit code is 1 if\n" +
			"the payment is refused, and 3 if it is not known whether the ledger has it. A payment that a server refused\n" +
			"holds its tokens until wallet cancel takes it back: the server may still record it.",
		Args: cli.NoArguments,
	}
	flags := cmd.Flags()
	f := newPayFlags(flags, stderr)
	const (
		acceptedTo    = "an address as wallet address prints it, or the path of a file with one"
		acceptedValue = "1 to 18446744073709551615, and below 2^bits of the parameters"
		acceptedUntil = "1s to 87600h"
	)
	to := argument.Define(flags, "to", argument.KindText, "", acceptedTo, "the payee: "+acceptedTo)
	value := argument.Define(flags, "value", argument.KindNumber, "", acceptedValue, "how much: "+acceptedValue)
	typ := argument.Define(flags, "type", argument.KindText, "", acceptedTokens, "which tokens: "+acceptedTokens)
	until := argument.Define(flags, "until", argument.KindTime, "", acceptedUntil, "how long the ledger may accept the payment, by its own time (default no limit): "+acceptedUntil)
	payee := argument.Define(flags, "payee", argument.KindText, "", acceptedIdentity, "refuse an address that this key has not signed: "+acceptedIdentity)
	again := argument.Define(flags, "again", argument.KindText, "", acceptedAnchor, "submit this payment again instead of a new one: "+acceptedAnchor)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if again.Given {
			for _, name := range []string{"to", "payee", "value", "type", "until"} {
				if flag := flags.Lookup(name); flag.Changed {
					return (&argument.Option{Accepted: "nothing, with --again, which submits the payment as it is"}).Refuse(name, flag.Value.String())
				}
			}
			return f.about(cmd.Context(), stdout, "again", again, func(r *wallet.Payer, anchor []byte) (*service.Movement, error) {
				return r.Again(cmd.Context(), anchor)
			})
		}
		id, o, err := newOrder(to, value, typ, until)
		if err != nil {
			return err
		}
		return f.pays(cmd.Context(), stdout, func(h *holding, r *wallet.Payer) (*service.Movement, error) {
			if own := token.LedgerID(h.ledger.Genesis().ID()); id != own {
				return nil, (&argument.Option{Accepted: fmt.Sprintf("an address of this ledger, %x...", own[:8])}).Refuse("to", fmt.Sprintf("an address of ledger %x...", id[:8]))
			}
			if payee.Given {
				if err := vouched(payee, id, &o.Payments[0].To); err != nil {
					return nil, err
				}
			}
			return r.Pay(cmd.Context(), o)
		})
	}
	return cmd
}

// vouched returns an error if the payee's key has not signed the address.
func vouched(payee *argument.Option, id token.LedgerID, to *address) error {
	known, err := parseIdentity(payee.Text)
	if err != nil {
		return fmt.Errorf("payee: %q: %w; accepted: %s", payee.Text, err, payee.Accepted)
	}
	if err := to.Verify(id, nil, known); err != nil {
		return fmt.Errorf("to: %w; accepted: an address that --payee has signed", err)
	}
	return nil
}

// newOrder parses what to pay.
func newOrder(to, value, typ, until *argument.Option) (id token.LedgerID, o service.Order, err error) {
	p := service.Payment{}
	if id, p.To, err = parseTo(to); err != nil {
		return id, o, err
	}
	if p.Value, err = value.Number("value", 1, 1<<64-1); err != nil {
		return id, o, err
	}
	if typ.Text == "" || len(typ.Text) > token.MaxType {
		return id, o, typ.Refuse("type", typ.Text)
	}
	o = service.Order{Type: typ.Text, Payments: []service.Payment{p}}
	if until.Given {
		validity, err := until.Duration("until", time.Second, 87600*time.Hour)
		if err != nil {
			return id, o, err
		}
		o.Until = time.Now().Add(validity)
	}
	return id, o, nil
}

// about calls work with the anchor of a payment, and shows the result.
func (f *payFlags) about(ctx context.Context, stdout io.Writer, field string, text *argument.Option, work func(*wallet.Payer, []byte) (*service.Movement, error)) error {
	anchor, err := parseAnchor(field, text)
	if err != nil {
		return err
	}
	return f.pays(ctx, stdout, func(_ *holding, r *wallet.Payer) (*service.Movement, error) { return work(r, anchor) })
}

func walletCancelCommand(stdout, stderr io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cancel ANCHOR --dir DIR --ledger PATH",
		Short: "Take back a pending payment, so that the ledger can never accept it",
		Args:  cobra.ArbitraryArgs,
	}
	f := newPayFlags(cmd.Flags(), stderr)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		anchor := &argument.Option{Accepted: acceptedAnchor, Text: strings.Join(args, " ")}
		return f.about(cmd.Context(), stdout, "ANCHOR of wallet cancel", anchor, func(r *wallet.Payer, anchor []byte) (*service.Movement, error) {
			return r.Cancel(cmd.Context(), anchor)
		})
	}
	return cmd
}

func walletConsolidateCommand(stdout, stderr io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "consolidate --type TYPE --dir DIR --ledger PATH",
		Short: "Merge the smallest tokens of a type into one, for payments that would need too many",
		Args:  cli.NoArguments,
	}
	f := newPayFlags(cmd.Flags(), stderr)
	typ := argument.Define(cmd.Flags(), "type", argument.KindText, "", acceptedTokens, "which tokens: "+acceptedTokens)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if typ.Text == "" {
			return typ.Refuse("type", "")
		}
		return f.pays(cmd.Context(), stdout, func(_ *holding, r *wallet.Payer) (*service.Movement, error) {
			return r.Consolidate(cmd.Context(), typ.Text)
		})
	}
	return cmd
}
