package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"

	"github.com/spf13/cobra"
	"golang.org/x/crypto/sha3"

	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/internal/workload/prover"
)

// longestInput is the maximum number of bytes of a message.
const longestInput = 1 << 30

// inputCommand returns a command that prints the input of a target of csp-benchmarks in the form of
// their own program: a message in hexadecimal and, on a second line, its digest.
func inputCommand(stdout io.Writer) *cobra.Command {
	cmd := &cobra.Command{Use: prover.InputsCommand + " sha256|keccak", Hidden: true, Args: cobra.ExactArgs(1)}
	size := cmd.Flags().StringP("size", "n", "128", "bytes of the message")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		var h hash.Hash
		switch args[0] {
		case "sha256":
			h = sha256.New()
		case "keccak":
			h = sha3.NewLegacyKeccak256()
		default:
			return &argument.ValueError{Field: "target", Value: args[0], Accepted: "sha256, keccak; the environment variable UTILS_BIN names another program of inputs"}
		}
		o := argument.Option{Text: *size, Accepted: fmt.Sprintf("0 to %d", longestInput)}
		n, err := o.Number("n", 0, longestInput)
		if err != nil {
			return err
		}
		message := make([]byte, n)
		_, _ = workload.Random(measure.DefaultSeed, n).Read(message) // never fails
		h.Write(message)
		_, err = fmt.Fprintf(stdout, "%s\n%s\n", hex.EncodeToString(message), hex.EncodeToString(h.Sum(nil)))
		return err
	}
	return cmd
}
