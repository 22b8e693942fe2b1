package zkbench

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/ledger/head"
	"github.com/zkbench/zkbench/token/ledger/receipt"
	"github.com/zkbench/zkbench/token/ledger/replay"
)

const (
	acceptedNewFile = "the path of a file that does not exist"
	acceptedRequest = "the anchor of a request on the ledger, in hex, as wallet history -v prints it"
)

// parseAnchor parses an anchor in hex.
func parseAnchor(field string, o *argument.Option) ([]byte, error) {
	anchor, err := hex.DecodeString(o.Text)
	if err != nil || len(anchor) == 0 {
		return nil, o.Refuse(field, o.Text)
	}
	return anchor, nil
}

// writeOut writes a new file at the path of the flag out.
func writeOut(out *argument.Option, data []byte) error {
	err := writeNew(out.Text, data)
	if errors.Is(err, fs.ErrExist) {
		return out.Refuse("out", out.Text)
	}
	if err != nil {
		return fmt.Errorf("out: %w", err)
	}
	return nil
}

// writeReceipt writes a receipt to the file of the flag out, or to stdout without the flag.
func writeReceipt(stdout io.Writer, out *argument.Option, data []byte) error {
	if !out.Given {
		_, err := stdout.Write(data)
		return err
	}
	if err := writeOut(out, data); err != nil {
		return err
	}
	_, err := fmt.Fprintf(stdout, "%s: %d bytes; zkbench ledger verify-receipt %s --params FILE verifies it\n", out.Text, len(data), out.Text)
	return err
}

func ledgerReceiptCommand(stdout io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "receipt PATH ANCHOR",
		Short: "Write a receipt: a file that proves that a request is in the log",
		Long: "Write a receipt: a file that proves to somebody who has only the public parameters that a request is in the\n" +
			"ledger's log. It is a C2SP tlog-proof: the request, its proof of inclusion, the signed head, and the updates of\n" +
			"the policy. A head must cover the request: validators sign heads, if the policy names them.\n" +
			"PATH is like that of ledger verify. ANCHOR is " + acceptedRequest + ".",
		Args: func(cmd *cobra.Command, args []string) error {
			return ledgers(cmd, args[:min(1, len(args))], "PATH", 1)
		},
	}
	out := argument.Define(cmd.Flags(), "out", argument.KindFile, "", acceptedNewFile, "write the receipt to this file instead of standard output: "+acceptedNewFile)
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		anchor, err := parseAnchor("ANCHOR of ledger receipt", &argument.Option{Accepted: acceptedRequest, Text: strings.Join(args[1:], " ")})
		if err != nil {
			return err
		}
		l, err := replay.Open(cmd.Context(), args[0])
		if err != nil {
			return ledgerError(cmd.Context(), args[0], err)
		}
		defer func() { err = errors.Join(err, l.Close()) }()
		r, err := receipt.Make(cmd.Context(), l, anchor)
		if err != nil {
			return ledgerError(cmd.Context(), args[0], err)
		}
		data, err := r.Encode()
		if err != nil {
			return err
		}
		return writeReceipt(stdout, out, data)
	}
	return cmd
}

func ledgerVerifyReceiptCommand(stdout io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "verify-receipt FILE --params FILE",
		Short: "Verify a receipt with nothing but the public parameters",
		Long: "Verify a receipt of ledger receipt or wallet receipt with nothing but the public parameters: that as many\n" +
			"validators as the policy asks have signed a head of the log, that the request is under that head, and that the\n" +
			"opening, if there is one, is that of an output. The validators have checked the request's proofs and\n" +
			"signatures. Updates of the policy after those in the receipt are unknown. The exit code is 1 if the receipt\n" +
			"does not verify, and 2 if the file is not a receipt.",
		Args: oneFile,
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
		return verifyReceipt(cmd.Context(), stdout, args[0], p)
	}
	return cmd
}

// verifyReceipt verifies the receipt in a file and prints what it proves.
func verifyReceipt(ctx context.Context, stdout io.Writer, path string, params *token.PublicParams) error {
	data, err := readUpTo(path, receipt.MaxReceipt+1) // one more than accepted, so that a longer file is refused
	if err != nil {
		return err
	}
	c, err := receipt.Verify(ctx, data, params)
	if errors.Is(err, head.ErrNoValidators) {
		err = noValidators(err)
	}
	if _, refused := errors.AsType[*zkbench.CheckError](err); refused {
		return &cli.ExitError{Code: cli.ExitFailed, Text: fmt.Sprintf("%s: not proved: %v", path, err)}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return showChecked(stdout, c)
}

// showChecked prints what a receipt proves, and what it does not.
func showChecked(stdout io.Writer, c *receipt.Checked) error {
	var out strings.Builder
	what, outputs := "update of the policy", 0
	if c.Parsed.Request != nil {
		inputs := 0
		for _, a := range c.Parsed.Actions {
			inputs, outputs = inputs+len(a.Inputs), outputs+len(a.Outputs)
		}
		what = fmt.Sprintf("%d inputs, %d outputs", inputs, outputs)
	}
	fmt.Fprintf(&out, "ok: request %d is in the log of ledger %x\n", c.Record.Seq, c.Ledger)
	fmt.Fprintf(&out, "request: anchor %x, %s, accepted under policy %d\n", c.Record.Anchor, what, c.Record.Policy)
	fmt.Fprintf(&out, "time, by the operator: %s\n", c.Record.Time.UTC().Format(time.RFC3339))
	fmt.Fprintf(&out, "head: %d leaves at %s, signed by %d of the %d validators of policy %d, who must be %d\n",
		c.Head.Size, c.Head.Time.Format(time.RFC3339), len(c.Head.Validators), len(c.Policy.Validators), c.Policy.Version, c.Policy.HeadThreshold)
	hidden := "the values and types of its tokens; "
	if o := c.Output; o != nil {
		fmt.Fprintf(&out, "output %d: %d %s to %s\n", o.Output, o.Value, shownType(o.Type), ownerInFull(o.Owner))
		hidden = "the values of its other tokens; "
	}
	if outputs == 0 {
		hidden = ""
	}
	fmt.Fprintf(&out, "not proved: %sits proofs and signatures, which the validators have checked; whether policy %d is the last\n", hidden, c.Policy.Version)
	_, err := io.WriteString(stdout, out.String())
	return err
}

// ownerInFull describes the owner of a token so that it can be compared with an identity that is known.
func ownerInFull(owner []byte) string {
	if len(owner) == 0 {
		return "nobody: redeemed"
	}
	switch id := identity.Identity(owner); id.Type() {
	case identity.TypeEd25519:
		return fmt.Sprintf("%s%x", ed25519Prefix, owner[1:])
	case identity.TypePseudonym:
		return fmt.Sprintf("%v %x", id.Type(), owner[1:])
	}
	view := identityViews([][]byte{owner})[0]
	if view.Subject != "" {
		view.Subject = fmt.Sprintf(" of %q", view.Subject)
	}
	return fmt.Sprintf("%s%s, SHA-256 %s", view.Type, view.Subject, view.Fingerprint)
}

func walletReceiptCommand(stdout, stderr io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "receipt ANCHOR --open NUMBER --dir DIR --ledger PATH",
		Short: "Write a receipt that shows value and payee of one output of a payment",
		Long: "Write a receipt for a payment, like ledger receipt, that also opens one of its outputs: to everyone who has\n" +
			"the file it shows value and payee of that output, and the type, which all tokens of its action have. It shows\n" +
			"no other value. wallet history -v numbers the outputs, change included. Only the vault that made the payment\n" +
			"has the openings; one that was restored from its keys has lost them.",
		Args: cobra.ArbitraryArgs,
	}
	f := newWalletFlags(cmd.Flags(), stderr)
	const acceptedOpen = "the number of an output, as wallet history -v prints it"
	open := argument.Define(cmd.Flags(), "open", argument.KindNumber, "", acceptedOpen, "open this output: "+acceptedOpen)
	out := argument.Define(cmd.Flags(), "out", argument.KindFile, "", acceptedNewFile, "write the receipt to this file instead of standard output: "+acceptedNewFile)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		anchor, err := parseAnchor("ANCHOR of wallet receipt", &argument.Option{Accepted: acceptedRequest, Text: strings.Join(args, " ")})
		if err != nil {
			return err
		}
		output, err := open.Number("open", 1, 1<<64-1)
		if err != nil {
			return err
		}
		return f.withWallet(cmd.Context(), func(h *holding) error {
			data, err := h.Receipt(cmd.Context(), h.ledger, anchor, output)
			if err != nil {
				return f.failed(cmd.Context(), err)
			}
			return writeReceipt(stdout, out, data)
		})
	}
	return cmd
}
