package zkbench

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/cli/keyfile"
	"github.com/zkbench/zkbench/internal/cli/wallet"
	"github.com/zkbench/zkbench/internal/input/argument"
)

const acceptedPlainKey = "the path of one PEM file with secret keys (mode 0600), which is not encrypted"

// keyCommand returns the command key.
func keyCommand(stdout io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "key encrypt",
		Short: "Encrypt a file of secret keys with a passphrase",
		Args:  cobra.ArbitraryArgs,
		RunE:  cli.ACommand,
	}
	cmd.AddCommand(keyEncryptCommand(stdout))
	return cmd
}

func keyEncryptCommand(stdout io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:   "encrypt FILE",
		Short: "Encrypt a file of secret keys with a passphrase",
		Long: "Encrypt a file of secret keys, which may also be the " + wallet.KeysFile + " of a wallet, with a passphrase. Every command that reads\n" +
			"the file then asks for the passphrase on the terminal, or reads it as a line from the file descriptor whose number\n" +
			"is in the environment variable " + keyfile.DescriptorVariable + ". The format is that of the program age: age --decrypt FILE\n" +
			"prints the keys. The file is replaced, but the disk and its backups may still have the old one.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] == "" {
				return (&argument.Option{Accepted: acceptedPlainKey}).Refuse("FILE of key encrypt", strings.Join(args, " "))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if err := keyfile.Encrypt("FILE", args[0], acceptedPlainKey); err != nil {
				return err
			}
			_, err := fmt.Fprintf(stdout, "ok: %s is encrypted; without the passphrase its keys are lost\n", args[0])
			return err
		},
	}
}
