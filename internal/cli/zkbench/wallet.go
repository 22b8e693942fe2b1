package zkbench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/cli/keyfile"
	"github.com/zkbench/zkbench/internal/cli/wallet"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/replay"
)

// walletCommand is a person's wallet.
func walletCommand(stdout, stderr io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "wallet new|address|pay|cancel|consolidate|balance|history|check",
		Short: "Keep a wallet on a ledger of tokens: receive, pay, and compare it with the ledger",
		Long: "Keep a wallet on a ledger of tokens. It is a directory with the secret keys (" + wallet.KeysFile + ", mode 0600),\n" +
			"the parameters and what the wallet has learned. To be paid, hand out an address, a new one for each\n" +
			"payment. Every command first follows the ledger and says how far, as the number of the last request.\n" +
			"Back the keys up: with them, the ledger and its parameters, new makes the rest again. They are not encrypted.",
		Args: cobra.ArbitraryArgs,
		RunE: cli.ACommand,
	}
	cmd.AddCommand(walletNewCommand(stdout), walletAddressCommand(stdout), walletPayCommand(stdout, stderr), walletCancelCommand(stdout, stderr),
		walletConsolidateCommand(stdout, stderr), walletBalanceCommand(stdout), walletHistoryCommand(stdout), walletCheckCommand(stdout))
	return cmd
}

// walletFlags name a wallet and its ledger.
type walletFlags struct{ dir, ledger *argument.Option }

func newWalletFlags(flags *pflag.FlagSet) *walletFlags {
	const ledgers = "the path of a ledger, or the URL of a database"
	return &walletFlags{
		dir:    argument.Define(flags, "dir", argument.KindFile, "wallet", "the directory of a wallet, as wallet new makes it", "the wallet's directory"),
		ledger: argument.Define(flags, "ledger", argument.KindText, "", ledgers, "the wallet's ledger: "+ledgers),
	}
}

// holding is a wallet that has followed its ledger.
type holding struct {
	*wallet.Purse
	ledger replay.Store
	last   uint64 // request that it has seen
}

// of says how far a wallet has followed its ledger.
func (h *holding) of() string {
	return fmt.Sprintf("as of request %d of ledger %x", h.last, h.ledger.Genesis().ID())
}

// open does work on a ledger, which is closed after it.
func (f *walletFlags) open(ctx context.Context, work func(l replay.Store) error) (err error) {
	if !f.ledger.Given {
		return f.ledger.Refuse("ledger", "")
	}
	l, err := replay.Open(ctx, f.ledger.Text)
	if err != nil {
		return ledgerError(ctx, f.ledger.Text, err)
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	return work(l)
}

// with does work on a wallet that has followed its ledger.
func (f *walletFlags) with(ctx context.Context, work func(h *holding) error) error {
	return f.open(ctx, func(l replay.Store) (err error) {
		p, err := wallet.Open(f.dir.Text, l.Genesis())
		if err != nil {
			return f.refusal(err)
		}
		defer func() { err = errors.Join(err, p.Close()) }()
		h := &holding{Purse: p, ledger: l}
		if h.last, err = p.Refresh(ctx, l); err != nil {
			return f.failed(ctx, err)
		}
		return work(h)
	})
}

// failed names the ledger in an error that is the ledger's.
func (f *walletFlags) failed(ctx context.Context, err error) error {
	if _, corrupt := errors.AsType[*ledger.CorruptError](err); corrupt || ctx.Err() != nil {
		return ledgerError(ctx, f.ledger.Text, err)
	}
	return err
}

// refusal says what is to be done about a wallet that cannot be opened.
func (f *walletFlags) refusal(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		accepted := f.dir.Accepted
		if f.hasKeys() {
			accepted = fmt.Sprintf("a directory with a vault; zkbench wallet new --dir %s --ledger %s makes it again from the keys", f.dir.Text, shown(f.ledger.Text))
		}
		return (&argument.Option{Accepted: accepted}).Refuse("dir", f.dir.Text)
	}
	return fmt.Errorf("%s: %w", f.dir.Text, err)
}

func (f *walletFlags) hasKeys() bool {
	_, err := os.Lstat(filepath.Join(f.dir.Text, wallet.KeysFile))
	return err == nil
}

const acceptedSigner = "the path of a PEM file with one PRIVATE KEY (PKCS #8), Ed25519, or P-256 with its CERTIFICATE"

// loadSelf reads a secret key that signs for itself, or for the certificate beside it.
func loadSelf(field string, o *argument.Option) (identity.Signer, error) {
	keys, err := keyfile.Read(field, o.Text, o.Accepted)
	if err != nil {
		return nil, err
	}
	signer := keys.Self()
	if signer == nil {
		return nil, o.Refuse(field, o.Text)
	}
	return signer, nil
}

func walletNewCommand(stdout io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "new --dir DIR --ledger PATH --params FILE",
		Short: "Make a wallet; or make it again from its keys, where the rest is lost",
		Long: "Make a wallet. By default it has one Ed25519 key: everybody sees that all its tokens have one owner, and not\n" +
			"how much they are worth. With --enrol it has a new pseudonym for each token, which the authority of\n" +
			"--authority-key certifies to be of that name: auditors see the name, and nobody else can tell whose a\n" +
			"token is. In a directory that has keys and no vault the vault is made again, from the keys and the ledger.",
		Args: cli.NoArguments,
	}
	f := newWalletFlags(cmd.Flags())
	params := argument.Define(cmd.Flags(), "params", argument.KindFile, "", "the path of a file of public parameters", "the ledger's public parameters")
	enrol := argument.Define(cmd.Flags(), "enrol", argument.KindText, "", "a name of 1 to 256 bytes", "pseudonyms, enrolled under this name: a name of 1 to 256 bytes")
	authority := argument.Define(cmd.Flags(), "authority-key", argument.KindFile, "", acceptedSigner, "with --enrol, the authority's secret key: "+acceptedSigner)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return f.open(cmd.Context(), func(l replay.Store) (err error) {
			p, err := f.make(l.Genesis(), params, enrol, authority)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, p.Close()) }()
			last, err := p.Refresh(cmd.Context(), l)
			if err != nil {
				return f.failed(cmd.Context(), err)
			}
			h := &holding{p, l, last}
			_, err = fmt.Fprintf(stdout, "wallet of %s, %s\nkeep %s: with it, the ledger and its parameters the wallet can be made again\n", p.Name(), h.of(), filepath.Join(f.dir.Text, wallet.KeysFile))
			return err
		})
	}
	return cmd
}

// make makes a wallet, or its vault.
func (f *walletFlags) make(genesis ledger.Genesis, params, enrol, authority *argument.Option) (*wallet.Purse, error) {
	exists := func(err error) error {
		if errors.Is(err, fs.ErrExist) {
			return (&argument.Option{Accepted: "a directory that has no wallet"}).Refuse("dir", f.dir.Text)
		}
		return err
	}
	if f.hasKeys() {
		if enrol.Given || authority.Given {
			return nil, (&argument.Option{Accepted: "a directory that has no keys"}).Refuse("dir", f.dir.Text)
		}
		var p *token.PublicParams
		if params.Given {
			var err error
			if p, err = loadParams(params.Text); err != nil {
				return nil, err
			}
		}
		made, err := wallet.Restore(f.dir.Text, p, genesis)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, params.Refuse("params", "")
		}
		return made, exists(err)
	}
	if !params.Given {
		return nil, params.Refuse("params", "")
	}
	p, err := loadParams(params.Text)
	if err != nil {
		return nil, err
	}
	keys, err := newWalletKeys(p, enrol, authority)
	if err != nil {
		return nil, err
	}
	made, err := wallet.Create(f.dir.Text, p, genesis, keys)
	return made, exists(err)
}

func newWalletKeys(params *token.PublicParams, enrol, authority *argument.Option) (*keyfile.Keys, error) {
	switch {
	case !enrol.Given && authority.Given:
		return nil, enrol.Refuse("enrol", "")
	case !enrol.Given:
		return wallet.NewKey()
	case enrol.Text == "":
		return nil, enrol.Refuse("enrol", "")
	case !authority.Given:
		return nil, authority.Refuse("authority-key", "")
	}
	signer, err := loadSelf("authority-key", authority)
	if err != nil {
		return nil, err
	}
	return wallet.Enrol(params.Curve, enrol.Text, signer)
}

func walletAddressCommand(stdout io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "address --dir DIR --ledger PATH",
		Short: "Make an address for one payment to the wallet, as text to be sent to the payer",
		Long: "Make an address for one payment to the wallet, as one line of text to be sent to the payer. It is good\n" +
			"on this ledger alone. Nothing of it has to be kept. Two payments to one address are seen to have one payee.\n" +
			"It is signed by the wallet's key if that is one of Ed25519, or by --sign-key: a payer who knows the key knows\n" +
			"whose the address is (wallet pay --payee). An address of a pseudonym says nothing of that without --sign-key.",
		Args: cli.NoArguments,
	}
	f := newWalletFlags(cmd.Flags())
	const acceptedOut = "the path of a file that does not exist"
	out := argument.Define(cmd.Flags(), "out", argument.KindFile, "", acceptedOut, "file for the address, in place of the output: "+acceptedOut)
	key := argument.Define(cmd.Flags(), "sign-key", argument.KindFile, "", acceptedSigner, "sign the address with a key that the payer knows: "+acceptedSigner)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		var signer identity.Signer
		if key.Given {
			var err error
			if signer, err = loadSelf("sign-key", key); err != nil {
				return err
			}
		}
		return f.with(cmd.Context(), func(h *holding) error {
			text, err := h.NewAddress(signer)
			if err != nil {
				return err
			}
			if !out.Given {
				_, err = fmt.Fprintln(stdout, text)
				return err
			}
			if err := writeNew(out.Text, []byte(text+"\n")); errors.Is(err, fs.ErrExist) {
				return out.Refuse("out", out.Text)
			} else if err != nil {
				return fmt.Errorf("out: %w", err)
			}
			_, err = fmt.Fprintf(stdout, "%s: an address of %s, %s\n", out.Text, h.Name(), h.of())
			return err
		})
	}
	return cmd
}

// parseTo reads an address: the text itself, or the path of a file with it.
func parseTo(o *argument.Option) (id token.LedgerID, to address, err error) {
	text := o.Text
	if !strings.HasPrefix(strings.TrimSpace(text), wallet.AddressPrefix) {
		if text == "" {
			return id, to, o.Refuse("to", "")
		}
		data, err := readFile(text)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
			return id, to, o.Refuse("to", text)
		}
		if err != nil {
			return id, to, fmt.Errorf("to: %w", err)
		}
		text = string(data)
	}
	if id, to, err = wallet.ParseAddress(text); err != nil {
		return id, to, fmt.Errorf("to: %w; accepted: %s", err, o.Accepted)
	}
	return id, to, nil
}
