package zkbench

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/cli/demo"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/token"
)

func ledgerDemoCommand(stdout io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Run a small token system of two banks, step by step",
		Long: "Run a small token system of two banks, an issuer, an auditor and three administrators, step by step:\n" +
			"issue, transfer, a swap, redemption, what the auditor sees and what the ledger shows; a double spend\n" +
			"and a forged request, which are refused; an issuer's key that is stolen and replaced; a wallet that is\n" +
			"lost and restored; and the verification of the whole ledger. The files, with all secret keys, are\n" +
			"written to --dir or to a temporary directory; zkbench wallet can then pay on that ledger.",
		Args: cli.NoArguments,
	}
	flags := cmd.Flags()
	accepted := func(names []string) string { return strings.Join(names, ", ") }
	const emptyDir = "the path of a directory that is empty or does not exist"
	curve := argument.Define(flags, "curve", argument.KindText, "BN254", token.AcceptedCurves(token.Curves()...), "curve: "+token.AcceptedCurves(token.Curves()...))
	bits := argument.Define(flags, "bits", argument.KindNumber, "32", "8 to 64", "values are below 2^bits: 8 to 64")
	proof := argument.Define(flags, "proof-type", argument.KindText, token.Bulletproof, accepted(token.ProofTypes()), "range-proof system: "+accepted(token.ProofTypes()))
	dir := argument.Define(flags, "dir", argument.KindFile, "", emptyDir, "directory for parameters, ledger, keys and wallets: "+emptyDir)
	verbose := flags.BoolP("verbose", "v", false, "print the parts of each step, with their times")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		width, err := bits.Number("bits", 8, 64)
		switch {
		case err != nil:
			return err
		case !slices.Contains(token.Curves(), token.Curve(curve.Text)):
			return curve.Refuse("curve", curve.Text)
		case !slices.Contains(token.ProofTypes(), proof.Text):
			return proof.Refuse("proof-type", proof.Text)
		}
		path, err := demoDir(dir)
		if err != nil {
			return err
		}
		err = demo.Run(cmd.Context(), stdout, demo.Options{Dir: path, Curve: token.Curve(curve.Text), Bits: int(width), ProofType: proof.Text, Verbose: *verbose})
		if err != nil && cmd.Context().Err() != nil {
			return &cli.ExitError{Code: cli.ExitPartial, Text: "interrupted; the files are in " + path}
		}
		if err != nil {
			return &cli.ExitError{Code: cli.ExitFailed, Text: err.Error()}
		}
		return nil
	}
	return cmd
}

// demoDir returns the directory of --dir, or a new one.
func demoDir(dir *argument.Option) (string, error) {
	if !dir.Given {
		return os.MkdirTemp("", "zkbench-demo-")
	}
	if err := os.MkdirAll(dir.Text, 0o755); err != nil {
		return "", fmt.Errorf("dir: %w", err)
	}
	entries, err := os.ReadDir(dir.Text)
	if err != nil {
		return "", fmt.Errorf("dir: %w", err)
	}
	if len(entries) > 0 {
		return "", dir.Refuse("dir", dir.Text)
	}
	return dir.Text, nil
}
