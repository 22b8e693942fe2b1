package zkbench

import (
	"bytes"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/cli/keyfile"
	"github.com/zkbench/zkbench/internal/cli/wallet"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
)

const acceptedAnyKey = "the path of a PEM file with secret keys (mode 0600), or the PKCS #11 URI of a key in a token"

const acceptedPlainKey = "the path of one PEM file with secret keys (mode 0600), which is not encrypted"

// keyCommand returns the command key.
func keyCommand(stdout io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "key show|encrypt",
		Short: "Show the public keys of a file of secret keys, or encrypt the file",
		Args:  cobra.ArbitraryArgs,
		RunE:  cli.ACommand,
	}
	cmd.AddCommand(keyShowCommand(stdout), keyEncryptCommand(stdout))
	return cmd
}

func keyShowCommand(stdout io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:   "show KEY",
		Short: "Show the public keys of a file of secret keys, or of a key in a token",
		Long: "Show the public keys that belong to a file of secret keys, or to a key in a token, as the flags --issuer, --auditor,\n" +
			"--administrator and --validator accept them: as text, or as a PEM block for a file. KEY is\n" + acceptedAnyKey + ".\n" +
			"No secret is printed.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] == "" {
				return (&argument.Option{Accepted: acceptedAnyKey}).Refuse("KEY of key show", "")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			keys, err := keyfile.Read("KEY", args[0], acceptedAnyKey)
			if err != nil {
				return err
			}
			return showKeys(stdout, keys)
		},
	}
}

// showKeys writes the public part of keys, one in a line.
func showKeys(w io.Writer, keys *keyfile.Keys) error {
	var lines strings.Builder
	line := func(what, key string) { fmt.Fprintf(&lines, "%-10s %s\n", what, key) }
	file := func(typ string, body []byte) { lines.Write(pem.EncodeToMemory(&pem.Block{Type: typ, Bytes: body})) }
	named := func(what string, id identity.Identity) {
		if id.Type() != identity.TypeX509 {
			line(what, wallet.PublicKey(id))
			return
		}
		line(what, wallet.PublicKey(id)+", whose certificate a file holds:")
		file("CERTIFICATE", id[1:])
	}
	var own identity.Identity
	if s := keys.Self(); s != nil {
		own = s.Identity()
		named("signs", own)
	} else if keys.Signing != nil {
		line("signs", "a key on P-256, without its certificate")
	}
	if keys.Opening != nil {
		public := keys.Opening.PublicKey()
		if kem := token.KEM(public.KEM().ID()); kem == token.X25519 {
			line("opens", x25519Prefix+hex.EncodeToString(public.Bytes()))
		} else {
			line("opens", kem.String()+", whose public key a file holds:")
			file(kem.String()+publicBlock, public.Bytes())
		}
	}
	if keys.Holder != nil || keys.Enrolment != nil {
		line("holds", "pseudonyms")
	}
	for _, id := range keys.Identities {
		if !bytes.Equal(id, own) {
			named("authority", id)
		}
	}
	_, err := io.WriteString(w, lines.String())
	return err
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
