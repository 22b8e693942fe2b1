package zkbench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/view/progress"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/head"
	"github.com/zkbench/zkbench/token/ledger/replay"
)

// ledgerCommand returns the command ledger.
func ledgerCommand(stdout, stderr io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ledger new|verify|sign|fork|backup|restore|mirror|receipt|evidence|demo",
		Short: "Create, verify, sign and back up a ledger, prove what is on it, or run the demo",
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				args = []string{shown(args[0])}
			}
			return cli.ACommand(cmd, args)
		},
	}
	cmd.AddCommand(
		ledgerNewCommand(stdout), ledgerVerifyCommand(stdout, stderr), ledgerSignCommand(stdout, stderr), ledgerForkCommand(stdout, stderr),
		ledgerBackupCommand(stdout, stderr), ledgerRestoreCommand(stdout, stderr), ledgerMirrorCommand(stdout, stderr), ledgerReceiptCommand(stdout),
		ledgerVerifyReceiptCommand(stdout), ledgerEvidenceCommand(stdout), ledgerDemoCommand(stdout),
	)
	return cmd
}

func ledgerNewCommand(stdout io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "new PATH",
		Short: "Create an empty ledger under public parameters and print its id",
		Long: "Create an empty ledger under public parameters and print its id, which every signature on the ledger\n" +
			"covers. PATH is a file or a directory for a " + replay.FileName + ", in which there is no ledger yet, the\n" +
			"postgres:// URL of a database, or a \"host=... user=...\" string.",
		Args: oneLedger,
	}
	params := argument.Define(cmd.Flags(), "params", argument.KindFile, "", "the path of a file of public parameters", "the ledger's public parameters")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !params.Given {
			return params.Refuse("params", "")
		}
		p, err := loadParams(params.Text)
		if err != nil {
			return err
		}
		genesis, err := ledger.NewGenesis(p)
		if err != nil {
			return err
		}
		l, err := replay.Create(cmd.Context(), args[0], genesis)
		if err != nil {
			return ledgerError(cmd.Context(), args[0], err)
		}
		if err := l.Close(); err != nil {
			return err
		}
		_, err = fmt.Fprintf(stdout, "ledger %x\n", genesis.ID())
		return err
	}
	return cmd
}

func ledgerVerifyCommand(stdout, stderr io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "verify PATH",
		Short: "Replay a stored ledger from its first request and check its tokens",
		Long: "Replay a stored ledger from its first request. That checks the structure of the file, the tree of\n" +
			"the log, and that tokens and anchors follow from the log. PATH is a file, a directory with a\n" +
			replay.FileName + ", the postgres:// URL of a database, or a \"host=... user=...\" string. The ledger is not\n" +
			"changed.\n\nProofs and signatures are checked only with --params. Then every request is validated again, at the\n" +
			"time that is stored with it, against the state before it. The writer of the ledger could recompute\n" +
			"checksums and hashes, but not make proofs and signatures. The times are only the operator's claim:\n" +
			"nothing signs them, and locks expire by them. The first line shows the first and the last time, and\n" +
			"how many requests have an earlier time than the request before.\n\n" +
			"The exit code is 1 if the ledger contradicts itself, and 2 if it cannot be read.",
		Args: oneLedger,
	}
	params := argument.Define(cmd.Flags(), "params", argument.KindFile, "", "the path of a file of public parameters", "validate every request again under these public parameters")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var p *token.PublicParams
		if params.Given {
			var err error
			if p, err = loadParams(params.Text); err != nil {
				return err
			}
		}
		return verifyLedger(cmd.Context(), stdout, stderr, args[0], p)
	}
	return cmd
}

func ledgerForkCommand(stdout, stderr io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fork FROM TO",
		Short: "Copy a ledger, under a new id, to test on",
		Long: "Verify a ledger and make a fork of it: a copy with an id of its own. A plain copy has the id of the\n" +
			"original, so what is signed for the copy, as a test, is valid on the original too. What is signed for\n" +
			"a fork is valid only on the fork, and what is signed for the original only on the original. The\n" +
			"fork's genesis names the original and the root of its log, and its requests up to there are\n" +
			"verified as the original's. Vaults of wallets and auditors start empty on a fork. FROM is not changed.\n" +
			"FROM and TO are like PATH of ledger verify and ledger new.",
		Args: func(cmd *cobra.Command, args []string) error { return ledgers(cmd, args, "FROM and TO", 2) },
	}
	last := argument.Define(cmd.Flags(), "last", argument.KindNumber, "", "0 or the number of a request", "last request that the fork takes from the ledger (default all)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return forkLedger(cmd.Context(), stdout, stderr, args[0], args[1], last)
	}
	return cmd
}

// forkLedger makes a fork of the ledger at path and writes its id.
func forkLedger(ctx context.Context, stdout, stderr io.Writer, path, to string, last *argument.Option) (err error) {
	l, err := replay.Open(ctx, path)
	if err != nil {
		return ledgerError(ctx, path, err)
	}
	defer func() {
		if closing := l.Close(); err == nil {
			err = closing
		}
	}()
	state, err := l.State(ctx)
	if err != nil {
		return ledgerError(ctx, path, err)
	}
	end := state.Last
	if last.Given {
		if end, err = last.Number("last", 0, state.Last); err != nil {
			return err
		}
	}
	show, done := progress.Counter(stderr, "requests replayed")
	genesis, err := replay.Fork(ctx, l, to, end, show)
	done()
	if err != nil {
		return ledgerError(ctx, path, err)
	}
	parent, _ := genesis.Parent()
	_, err = fmt.Fprintf(stdout, "ledger %x, a fork of %x after request %d\n", genesis.ID(), parent.ID(), end)
	return err
}

// oneLedger refuses any number of arguments except one.
func oneLedger(cmd *cobra.Command, args []string) error { return ledgers(cmd, args, "PATH", 1) }

// ledgers refuses any number of arguments except n. The arguments are ledgers.
func ledgers(cmd *cobra.Command, args []string, names string, n int) error {
	if len(args) != n || slices.Contains(args, "") {
		what := "the path of one ledger"
		if n > 1 {
			what = fmt.Sprintf("the paths of %d ledgers", n)
		}
		o := argument.Option{Accepted: what + ": a file, the directory of a " + replay.FileName + ", a postgres:// URL, \"host=... user=...\" in quotes"}
		words := make([]string, len(args))
		for i := range args {
			words[i] = shown(args[i])
		}
		return o.Refuse(names+" of ledger "+cmd.Name(), strings.Join(words, " "))
	}
	return nil
}

// shown returns an argument as it may be printed. Nothing of a connection string may be: if it is
// malformed, the password can be anywhere in it.
func shown(arg string) string {
	if replay.IsDatabase(arg) {
		return "database"
	}
	return arg
}

// verifyLedger verifies the ledger at path, with every request in it if there are parameters, and
// writes a line about it.
func verifyLedger(ctx context.Context, stdout, stderr io.Writer, path string, params *token.PublicParams) (err error) {
	l, err := replay.Open(ctx, path)
	if err != nil {
		return ledgerError(ctx, path, err)
	}
	defer func() {
		if closing := l.Close(); err == nil {
			err = closing
		}
	}()
	what := "requests replayed"
	if params != nil {
		what = "requests validated"
	}
	show, done := progress.Counter(stderr, what)
	report, err := replay.Verify(ctx, l, params, show)
	done()
	if err != nil {
		return ledgerError(ctx, path, err)
	}
	if _, err = fmt.Fprintln(stdout, report); err == nil && !report.Validated {
		_, err = fmt.Fprintln(stdout, "not checked: proofs, signatures and the policy, which make a request valid; --params FILE checks them")
	}
	return err
}

// contradicts reports whether an error says that a ledger contradicts itself, or what was seen of it before.
func contradicts(err error) bool {
	_, corrupt := errors.AsType[*ledger.CorruptError](err)
	_, changed := errors.AsType[*head.ExtendError](err)
	return corrupt || changed || errors.Is(err, ledger.ErrRolledBack)
}

// ledgerError adds the ledger to an error, except to one about an argument, which is not the ledger's. The exit code
// distinguishes a ledger that contradicts itself from one that cannot be read.
func ledgerError(ctx context.Context, path string, err error) error {
	if _, ok := errors.AsType[*argument.ValueError](err); ok {
		return err
	}
	err = unsigned(err)
	text := fmt.Sprintf("%s: %v", shown(path), err)
	if place, ok := errors.AsType[*fs.PathError](err); ok && !replay.IsDatabase(path) {
		text = place.Error() // names the file
	}
	if contradicts(err) {
		return &cli.ExitError{Code: cli.ExitFailed, Text: text}
	}
	if ctx.Err() != nil {
		return &cli.ExitError{Code: cli.ExitPartial, Text: shown(path) + ": interrupted before the end of the ledger"}
	}
	return &cli.ExitError{Code: cli.ExitUsage, Text: text}
}
