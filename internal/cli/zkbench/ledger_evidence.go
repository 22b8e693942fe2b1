package zkbench

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/zkbench/zkbench/internal/cli/wallet"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/token/service"
)

// shownEvidence is the number of contradictions that fit a screen, with one line each.
const shownEvidence = 20

const acceptedVault = "the directory of a wallet, or the file of a vault"

func ledgerEvidenceCommand(stdout io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "evidence WALLET",
		Short: "Show where a ledger contradicted its signed heads",
		Long: "Show the contradictions that a wallet, an issuer or an auditor has met when it followed its ledger, one in\n" +
			"a line: a signed head (the log's size and root) that does not extend the last one, or a record that is\n" +
			"not the one that validators have signed. WALLET is " + acceptedVault + ". With -v, the\n" +
			"signed heads and the records are printed in full, to be handed on. Two heads of one size with different\n" +
			"roots prove to everybody who has the policy that their signers signed two histories.",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] == "" {
				return (&argument.Option{Accepted: acceptedVault}).Refuse("WALLET of ledger evidence", fmt.Sprint(args))
			}
			return nil
		},
	}
	verbose := cmd.Flags().BoolP("verbose", "v", false, "print heads and records in full")
	cmd.RunE = func(_ *cobra.Command, args []string) error { return showEvidence(stdout, args[0], *verbose) }
	return cmd
}

// showEvidence prints the evidence of the vault at path, which may be a wallet's directory.
func showEvidence(stdout io.Writer, path string, verbose bool) (err error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, wallet.VaultFile)
	}
	genesis, err := service.VaultGenesis(path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	vault, err := service.OpenVault(path, genesis)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer func() { err = errors.Join(err, vault.Close()) }()
	n := 0
	for e, err := range vault.Evidence() {
		if err != nil {
			return err
		}
		switch n++; {
		case verbose:
			_, err = fmt.Fprintf(stdout, "contradiction %d: %s\n", n, e.Text())
		case n <= shownEvidence:
			_, err = fmt.Fprintln(stdout, e)
		}
		if err != nil {
			return err
		}
	}
	end := fmt.Sprintf("%s on ledger %x", format.Plural(n, "contradiction"), genesis.ID())
	if n > 0 && !verbose {
		end += "; -v prints all heads and records in full"
	}
	_, err = fmt.Fprintln(stdout, end)
	return err
}
