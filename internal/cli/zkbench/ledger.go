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
	"github.com/zkbench/zkbench/token/ledger/replay"
)

// ledgerCommand works on ledgers of tokens.
func ledgerCommand(stdout, stderr io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ledger new|verify|fork|demo",
		Short: "Make a ledger of tokens, verify it from its first request, fork it; run a small token system step by step",
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				args = []string{shown(args[0])}
			}
			return cli.ACommand(cmd, args)
		},
	}
	cmd.AddCommand(ledgerNewCommand(stdout), ledgerVerifyCommand(stdout, stderr), ledgerForkCommand(stdout, stderr), ledgerDemoCommand(stdout))
	return cmd
}

func ledgerNewCommand(stdout io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "new PATH",
		Short: "Make an empty ledger under public parameters, and say its id",
		Long: "Make an empty ledger under public parameters, and say its id, which all that is signed on it names. PATH\n" +
			"is a file or a directory for a " + replay.FileName + ", neither of which has one yet, the postgres:// URL\n" +
			"of a database, or a \"host=... user=...\" string.",
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
		Short: "Replay a stored ledger from its first request, and hold its tokens against it",
		Long: "Replay a stored ledger from its first request: the structure of the file, the chain of the log,\n" +
			"and that tokens and anchors are what the log makes of them. PATH is a file, a directory with a\n" +
			replay.FileName + ", the postgres:// URL of a database, or a \"host=... user=...\" string. The\n" +
			"ledger is not changed. Proofs and signatures are checked with --params only: then every request is\n" +
			"validated again besides, at the time that is stored with it, against the state before it: whoever\n" +
			"wrote the ledger could recompute checksums and hashes, but not make proofs and signatures. The times are the operator's word:\n" +
			"nothing signs them, and locks hold or are over by them. The first line shows the first and the\n" +
			"last, and how many requests have an earlier one than the request before.\n" +
			"Exit code 1 for a ledger that contradicts itself, 2 for one that cannot be read.",
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
		Short: "Make a copy of a ledger that has an id of its own, to test on",
		Long: "Verify a ledger, and make a fork of it: a copy that has an id of its own. A plain copy has the id of\n" +
			"the original, so what is signed for the copy, as a test, is good on the original too. What is signed\n" +
			"for a fork is good on the fork only, and what is signed for the original on the original only. The\n" +
			"fork's genesis names the original and the hash of its chain, and its requests up to there are\n" +
			"verified as the original's. Vaults of wallets and auditors begin anew on a fork. FROM is not changed;\n" +
			"it and TO are what PATH is for ledger new and ledger verify.",
		Args: func(cmd *cobra.Command, args []string) error { return ledgers(cmd, args, "FROM and TO", 2) },
	}
	last := argument.Define(cmd.Flags(), "last", argument.KindNumber, "", "0 or the number of the last request of a batch", "last request that the fork has of the ledger; all if not given")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return forkLedger(cmd.Context(), stdout, stderr, args[0], args[1], last)
	}
	return cmd
}

// forkLedger makes a fork of the ledger at path, and writes its id.
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
	_, err = fmt.Fprintf(stdout, "ledger %x, a fork of %x behind request %d\n", genesis.ID(), parent.ID(), end)
	return err
}

// oneLedger refuses all but one argument.
func oneLedger(cmd *cobra.Command, args []string) error { return ledgers(cmd, args, "PATH", 1) }

// ledgers refuses all but so many arguments, which are ledgers.
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

// shown is an argument as it may be shown: nothing of a connection string, which may
// hold a password wherever it is malformed.
func shown(arg string) string {
	if replay.IsDatabase(arg) {
		return "database"
	}
	return arg
}

// verifyLedger verifies the ledger at path, with every request in it if there are
// parameters, and writes a line on what it holds.
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
		_, err = fmt.Fprintln(stdout, "not checked: proofs, signatures and the policy, by which each request is valid; --params FILE checks them")
	}
	return err
}

// ledgerError names the ledger, and tells one that contradicts itself from one that
// cannot be read.
func ledgerError(ctx context.Context, path string, err error) error {
	text := fmt.Sprintf("%s: %v", shown(path), err)
	if place, ok := errors.AsType[*fs.PathError](err); ok && !replay.IsDatabase(path) {
		text = place.Error() // which names the file
	}
	if _, corrupt := errors.AsType[*ledger.CorruptError](err); corrupt {
		return &cli.ExitError{Code: cli.ExitFailed, Text: text}
	}
	if ctx.Err() != nil {
		return &cli.ExitError{Code: cli.ExitPartial, Text: shown(path) + ": interrupted before the end of the ledger"}
	}
	return &cli.ExitError{Code: cli.ExitUsage, Text: text}
}
