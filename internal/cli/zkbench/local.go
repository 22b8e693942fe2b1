package zkbench

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/cli/local"
	"github.com/zkbench/zkbench/internal/input/argument"
)

func localCommand(stdout io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "local --dir DIR",
		Short: "Run a token system of seven servers on this machine, for a trial",
		Long: "Run a token system on this machine, for a trial: a validator, an auditor, two issuers and three wallets, each\n" +
			"a process that serves over TLS. The issuers issue, the wallets pay each other, and the command prints where\n" +
			"they serve and how to pay. It runs until it is interrupted, and starts a process again that ends before. The\n" +
			"next start goes on with what is in DIR. All secret keys are in DIR: it is for trials only. docs/operate.md\n" +
			"says how to run such a system on several machines.",
		Args: cli.NoArguments,
	}
	dir := argument.Define(cmd.Flags(), "dir", argument.KindFile, "", local.AcceptedDir, "the system's directory: "+local.AcceptedDir)
	listen := argument.Define(cmd.Flags(), "listen", argument.KindText, "127.0.0.1:7300", local.AcceptedListen, "the validator's address, the others have the ports after it: "+local.AcceptedListen)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if dir.Text == "" {
			return dir.Refuse("dir", "")
		}
		err := local.Run(cmd.Context(), local.Options{Dir: dir.Text, Listen: listen.Text, Program: os.Args[0], Out: stdout})
		if err != nil && !errors.Is(err, zkbench.ErrParams) {
			return &cli.ExitError{Code: cli.ExitFailed, Text: err.Error()}
		}
		return err
	}
	return cmd
}

// tether gives a command that serves a hidden flag with which it ends when its standard input does: when the process that
// started it has ended, however that happened.
func tether(cmd *cobra.Command) {
	tethered := cmd.Flags().Bool("tethered", false, "end when standard input ends")
	_ = cmd.Flags().MarkHidden("tethered") // fails only for a flag that does not exist
	cmd.PreRun = func(cmd *cobra.Command, _ []string) {
		if !*tethered {
			return
		}
		ctx, stop := context.WithCancel(cmd.Context())
		cmd.SetContext(ctx)
		go func() {
			defer stop()
			_, _ = io.Copy(io.Discard, cmd.InOrStdin())
		}()
	}
}
