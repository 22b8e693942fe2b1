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
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/cli/keyfile"
	"github.com/zkbench/zkbench/internal/cli/serving"
	"github.com/zkbench/zkbench/internal/cli/wallet"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/client"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/replay"
	"github.com/zkbench/zkbench/token/peer"
	"github.com/zkbench/zkbench/token/service"
)

// walletCommand returns the command wallet.
func walletCommand(stdout, stderr io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "wallet new|address|pay|cancel|consolidate|balance|history|check|receipt",
		Short: "Keep a wallet on a ledger of tokens: receive, pay, and compare it with the ledger",
		Long: "Keep a wallet on a ledger of tokens. A wallet is a directory with the secret keys (" + wallet.KeysFile + ", mode 0600),\n" +
			"the parameters, and what the wallet knows of the ledger. To be paid, hand out an address, a new one for\n" +
			"each payment. Every command first follows the ledger, and prints the number of the last request that it saw.\n" +
			"Back up the keys: with them, the ledger and its parameters, wallet new restores the rest.\n" +
			"They are not encrypted, unless zkbench key encrypt did it.",
		Args: cobra.ArbitraryArgs,
		RunE: cli.ACommand,
	}
	for _, sub := range []func(stdout, stderr io.Writer) *cobra.Command{
		walletNewCommand, walletAddressCommand, walletPayCommand, walletCancelCommand, walletConsolidateCommand, walletBalanceCommand,
		walletHistoryCommand, walletCheckCommand, walletReceiptCommand,
	} {
		cmd.AddCommand(sub(stdout, stderr))
	}
	return cmd
}

// walletFlags name a wallet and its ledger.
type walletFlags struct {
	ledgerFlags
	dir *argument.Option
}

func newWalletFlags(flags *pflag.FlagSet, stderr io.Writer) *walletFlags {
	return &walletFlags{
		ledgerFlags: ledgerFlags{
			ledger: argument.Define(flags, "ledger", argument.KindText, "", acceptedLedger, "the wallet's ledger: "+acceptedLedger),
			tls:    argument.Define(flags, "tls", argument.KindFile, "", serving.AcceptedDir, "for servers, the wallet's certificates: "+serving.AcceptedDir),
			report: func(r client.Retry) {
				fmt.Fprintf(stderr, "%s failed: %v; tried again at %s, and until %s\n", r.Method, r.Err, r.At.Format(time.TimeOnly), r.Until.Format(time.TimeOnly))
			},
		},
		dir: argument.Define(flags, "dir", argument.KindFile, "wallet", acceptedWallet, "the wallet's directory"),
	}
}

const acceptedWallet = "the directory of a wallet, as wallet new makes it"

const acceptedLedger = "the path of a ledger, the URL of a database, or the URL of a server (https://host:port, http://127.0.0.1:port)"

// ledgerFlags name a ledger, perhaps by its server's URL.
type ledgerFlags struct {
	ledger, tls *argument.Option
	report      func(client.Retry) // is told of calls of servers that are made again
}

// walletLedger is a ledger that a party reads: a replay.Store, or a *client.Client.
type walletLedger interface {
	ledger.Reader
	io.Closer
}

// holding is a wallet that has followed its ledger.
type holding struct {
	*wallet.Purse
	ledger walletLedger
	last   uint64 // number of the last request that it has seen
}

// position says how far the wallet has followed its ledger.
func (h *holding) position() string {
	return fmt.Sprintf("as of request %d of ledger %x", h.last, h.ledger.Genesis().ID())
}

// isServer reports whether a ledger is named by the URL of its server.
func isServer(arg string) bool {
	return strings.HasPrefix(arg, "https://") || strings.HasPrefix(arg, "http://")
}

// dial returns the options of a client of a server with a role.
func (f *ledgerFlags) dial(role peer.Role) (o client.Options, err error) {
	o.Report = f.report
	if f.tls.Given {
		c, err := serving.LoadCertificates("tls", f.tls.Text)
		if err != nil {
			return o, err
		}
		o.TLS = c.Client(role)
	}
	return o, nil
}

// open opens the ledger, calls work, and closes the ledger.
func (f *ledgerFlags) open(ctx context.Context, work func(l walletLedger) error) (err error) {
	if !f.ledger.Given {
		return f.ledger.Refuse("ledger", "")
	}
	var l walletLedger
	if isServer(f.ledger.Text) {
		o, err := f.dial(peer.Validator)
		if err != nil {
			return err
		}
		if l, err = client.Dial(ctx, f.ledger.Text, o); err != nil {
			return fmt.Errorf("ledger: %w", err)
		}
	} else if l, err = replay.Open(ctx, f.ledger.Text); err != nil {
		return ledgerError(ctx, f.ledger.Text, err)
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	return work(l)
}

// withWallet opens the wallet, follows the ledger, and calls work.
func (f *walletFlags) withWallet(ctx context.Context, work func(h *holding) error) error {
	return f.open(ctx, func(l walletLedger) (err error) {
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

// failed adds the ledger to an error if the ledger caused it.
func (f *walletFlags) failed(ctx context.Context, err error) error {
	if contradicts(err) || ctx.Err() != nil {
		return ledgerError(ctx, f.ledger.Text, err)
	}
	return unsigned(err)
}

// refusal says what to do about a wallet that cannot be opened.
func (f *walletFlags) refusal(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		accepted := f.dir.Accepted
		if f.hasKeys() {
			accepted = fmt.Sprintf("a directory with a vault; zkbench wallet new --dir %s --ledger %s restores it from the keys", f.dir.Text, shown(f.ledger.Text))
		}
		return (&argument.Option{Accepted: accepted}).Refuse("dir", f.dir.Text)
	}
	return fmt.Errorf("%s: %w", f.dir.Text, err)
}

func (f *walletFlags) hasKeys() bool {
	_, err := os.Lstat(filepath.Join(f.dir.Text, wallet.KeysFile))
	return err == nil
}

const acceptedSigner = "the path of a PEM file with one PRIVATE KEY (PKCS #8), Ed25519, or P-256 with its CERTIFICATE; or the PKCS #11 URI of an Ed25519 key in a token"

// loadSelf reads a secret key that signs for itself, or for the certificate in its file.
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

func walletNewCommand(stdout, stderr io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "new --dir DIR --ledger PATH --params FILE",
		Short: "Make a wallet, or restore it from its keys",
		Long: "Make a wallet. By default it has one Ed25519 key: everyone can see that all its tokens have one owner, but not\n" +
			"how much they are worth. With --enrol it has a new pseudonym for each token, and the authority of\n" +
			"--authority-key certifies that they belong to this name: auditors see the name, and nobody else can tell\n" +
			"whose a token is. In a directory that has keys but no vault, the vault is restored from the keys and the ledger.",
		Args: cli.NoArguments,
	}
	f := newWalletFlags(cmd.Flags(), stderr)
	params := argument.Define(cmd.Flags(), "params", argument.KindFile, "", "the path of a file of public parameters", "the ledger's public parameters (default for a server: those that it tells)")
	enrol := argument.Define(cmd.Flags(), "enrol", argument.KindText, "", "a name of 1 to 256 bytes", "use pseudonyms, enrolled under this name: a name of 1 to 256 bytes")
	authority := argument.Define(cmd.Flags(), "authority-key", argument.KindFile, "", acceptedSigner, "with --enrol: the authority's secret key: "+acceptedSigner)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return f.open(cmd.Context(), func(l walletLedger) (err error) {
			p, err := f.make(l, params, enrol, authority)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, p.Close()) }()
			last, err := p.Refresh(cmd.Context(), l)
			if err != nil {
				return f.failed(cmd.Context(), err)
			}
			h := &holding{p, l, last}
			_, err = fmt.Fprintf(stdout, "wallet of %s, %s\nkeep %s: with it, the ledger and its parameters the wallet can be restored\n", p.Name(), h.position(), filepath.Join(f.dir.Text, wallet.KeysFile))
			return err
		})
	}
	return cmd
}

// make creates a wallet, or restores its vault.
func (f *walletFlags) make(l walletLedger, params, enrol, authority *argument.Option) (*wallet.Purse, error) {
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
		p, err := paramsOf(l, params)
		if err != nil {
			return nil, err
		}
		made, err := wallet.Restore(f.dir.Text, p, l.Genesis())
		if errors.Is(err, fs.ErrNotExist) {
			return nil, params.Refuse("params", "")
		}
		return made, exists(err)
	}
	p, err := paramsOf(l, params)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, params.Refuse("params", "")
	}
	keys, err := newWalletKeys(p, enrol, authority)
	if err != nil {
		return nil, err
	}
	made, err := wallet.Create(f.dir.Text, p, l.Genesis(), keys)
	return made, exists(err)
}

// paramsOf returns the parameters of a file, or those that the ledger's server has told, or nil if there are neither.
func paramsOf(l walletLedger, params *argument.Option) (*token.PublicParams, error) {
	if params.Given {
		return loadParams(params.Text)
	}
	if c, ok := l.(*client.Client); ok {
		return c.Params(), nil
	}
	return nil, nil
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

func walletAddressCommand(stdout, stderr io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "address --dir DIR --ledger PATH",
		Short: "Make an address for one payment to the wallet, as text for the payer",
		Long: "Make an address for one payment to the wallet, as one line of text for the payer. It is valid only on this\n" +
			"ledger, and need not be kept. Everyone can see that two payments to one address have the same payee.\n" +
			"The address is signed by the wallet's key, if that is an Ed25519 key, or by --sign-key: a payer who knows the\n" +
			"key knows whose address it is (wallet pay --payee). The address of a pseudonym shows that only with --sign-key.",
		Args: cli.NoArguments,
	}
	f := newWalletFlags(cmd.Flags(), stderr)
	out := argument.Define(cmd.Flags(), "out", argument.KindFile, "", acceptedNewFile, "write the address to this file instead of standard output: "+acceptedNewFile)
	key := argument.Define(cmd.Flags(), "sign-key", argument.KindFile, "", acceptedSigner, "sign the address with a key that the payer knows: "+acceptedSigner)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		var signer identity.Signer
		if key.Given {
			var err error
			if signer, err = loadSelf("sign-key", key); err != nil {
				return err
			}
		}
		return f.withWallet(cmd.Context(), func(h *holding) error {
			text, err := h.NewAddress(signer)
			if err != nil {
				return err
			}
			if !out.Given {
				_, err = fmt.Fprintln(stdout, text)
				return err
			}
			if err := writeOut(out, []byte(text+"\n")); err != nil {
				return err
			}
			_, err = fmt.Fprintf(stdout, "%s: an address of %s, %s\n", out.Text, h.Name(), h.position())
			return err
		})
	}
	return cmd
}

// parseTo parses an address: the text itself, or the path of a file that has it.
func parseTo(o *argument.Option) (id token.LedgerID, to address, err error) {
	text := o.Text
	if !strings.HasPrefix(strings.TrimSpace(text), service.AddressPrefix) {
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
	if id, to, err = service.ParseAddress(text); err != nil {
		return id, to, fmt.Errorf("to: %w; accepted: %s", err, o.Accepted)
	}
	return id, to, nil
}
