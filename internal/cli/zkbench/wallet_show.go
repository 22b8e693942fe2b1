package zkbench

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/cli/wallet"
	"github.com/zkbench/zkbench/token/service"
)

// shownType returns a type as it may be printed: payers choose it, so it may contain anything.
func shownType(typ string) string {
	if quoted := strconv.Quote(typ); quoted[1:len(quoted)-1] != typ || strings.ContainsRune(typ, ' ') {
		return quoted
	}
	return typ
}

// counted returns "1 token" or, for example, "2 tokens".
func counted(n int) string {
	if n == 1 {
		return "1 token"
	}
	return fmt.Sprintf("%d tokens", n)
}

// listedAmounts formats sums by type.
func listedAmounts(all []service.Total) string {
	parts := make([]string, len(all))
	for i, a := range all {
		parts[i] = fmt.Sprintf("%v %s in %s", a.Sum, shownType(a.Type), counted(a.Tokens))
	}
	return strings.Join(parts, ", ")
}

func walletBalanceCommand(stdout, stderr io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "balance --dir DIR --ledger PATH",
		Short: "Show what the wallet can spend, and what pending payments hold",
		Args:  cli.NoArguments,
	}
	f := newWalletFlags(cmd.Flags(), stderr)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return f.withWallet(cmd.Context(), func(h *holding) error {
			b, err := h.Balance()
			if err != nil {
				return err
			}
			return showBalance(stdout, h, b)
		})
	}
	return cmd
}

func showBalance(stdout io.Writer, h *holding, b *wallet.Balance) error {
	var out strings.Builder
	for _, a := range b.Free {
		fmt.Fprintln(&out, listedAmounts([]service.Total{a}))
	}
	if len(b.Free) == 0 {
		out.WriteString("nothing\n")
	}
	if len(b.Held) > 0 {
		fmt.Fprintf(&out, "held by pending payments: %s\n", listedAmounts(b.Held))
	}
	for _, anchor := range b.Waiting {
		fmt.Fprintf(&out, "pending: %x; wallet pay --again submits it again, wallet cancel takes it back\n", anchor)
	}
	fmt.Fprintln(&out, h.position())
	_, err := io.WriteString(stdout, out.String())
	return err
}

// mostMoves is how many movements history shows without -v.
const mostMoves = 20

func walletHistoryCommand(stdout, stderr io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "history --dir DIR --ledger PATH",
		Short: fmt.Sprintf("Show what was paid and received: the last %d movements, or all with -v", mostMoves),
		Long: fmt.Sprintf("Show what was paid and received: a line for each movement, with its time on the ledger and its status.\n"+
			"The last %d are shown, or all with -v, with anchors and the openings of what was paid. An opening is\n"+
			"secret: everyone who has it can check the value on the ledger.", mostMoves),
		Args: cli.NoArguments,
	}
	f := newWalletFlags(cmd.Flags(), stderr)
	verbose := cmd.Flags().BoolP("verbose", "v", false, "show all movements, with anchors and openings")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return f.withWallet(cmd.Context(), func(h *holding) error {
			var all []service.Movement
			for m, err := range h.History() {
				if err != nil {
					return err
				}
				all = append(all, m)
			}
			return showHistory(stdout, h, all, *verbose)
		})
	}
	return cmd
}

func showHistory(stdout io.Writer, h *holding, all []service.Movement, verbose bool) error {
	var out strings.Builder
	if earlier := len(all) - mostMoves; earlier > 0 && !verbose {
		fmt.Fprintf(&out, "%d earlier movements: -v shows all\n", earlier)
		all = all[earlier:]
	}
	for i := range all {
		m := &all[i]
		at := ""
		if m.Status == service.Landed {
			at = m.Time.UTC().Format(time.RFC3339)
		}
		fmt.Fprintf(&out, "%-20s  %-9v  %s\n", at, m.Status, described(m))
		if !verbose {
			continue
		}
		fmt.Fprintf(&out, "    anchor %x", m.Anchor)
		if m.Number > 0 {
			fmt.Fprintf(&out, ", request %d", m.Number)
		}
		out.WriteByte('\n')
		for i, p := range m.Paid {
			fmt.Fprintf(&out, "    output %d: %d %s to %s, blinding %x\n", i+1, p.Value, shownType(p.Type), wallet.Owner(p.Owner), p.Blinding)
		}
	}
	fmt.Fprintln(&out, h.position())
	_, err := io.WriteString(stdout, out.String())
	return err
}

// described says what a movement does, or would do, to the wallet.
func described(m *service.Movement) string {
	var parts []string
	if m.Status != service.Landed {
		for _, c := range wallet.Changes(m) {
			parts = append(parts, fmt.Sprintf("%v %s", c.Spent, shownType(c.Type)))
		}
		var outputs []string
		for _, p := range m.Paid {
			outputs = append(outputs, fmt.Sprintf("%d %s", p.Value, shownType(p.Type)))
		}
		return fmt.Sprintf("%s to outputs of %s", strings.Join(parts, ", "), strings.Join(outputs, ", "))
	}
	for _, c := range wallet.Changes(m) {
		typ := shownType(c.Type)
		switch c.Spent.Cmp(c.Received) {
		case 1:
			text := fmt.Sprintf("paid %v %s", c.Spent.Sub(c.Spent, c.Received), typ)
			if c.Received.Sign() > 0 {
				text += fmt.Sprintf(", change %v %s", c.Received, typ)
			}
			parts = append(parts, text)
		case 0:
			parts = append(parts, fmt.Sprintf("moved %v %s to oneself", c.Spent, typ))
		default:
			parts = append(parts, fmt.Sprintf("received %v %s", c.Received.Sub(c.Received, c.Spent), typ))
		}
	}
	return strings.Join(parts, "; ")
}

// showPaid prints what a payment has done.
func showPaid(stdout io.Writer, h *holding, m *service.Movement) error {
	b, err := h.Balance()
	if err != nil {
		return err
	}
	where, balance := fmt.Sprintf("request %d", m.Number), "nothing"
	if m.Status == service.Pending { // the ledger has it
		where = "on the ledger, and pending until validators have signed a head over it (zkbench ledger sign)"
	}
	if len(b.Free) > 0 {
		balance = listedAmounts(b.Free)
	}
	_, err = fmt.Fprintf(stdout, "%s; %s, anchor %x\nbalance: %s\n", described(m), where, m.Anchor, balance)
	return err
}

func walletCheckCommand(stdout, stderr io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check --dir DIR --ledger PATH",
		Short: "Compare the wallet with the ledger: each token, each payment",
		Long: "Compare the wallet with the ledger: each token must be there, unspent and the same, and each payment must be\n" +
			"where the wallet found it. With --validate, the log is also followed again from its first request, each\n" +
			"request is validated, and the wallet's tokens are compared with the result: then the ledger is trusted only\n" +
			"for times. The exit code is 1 if something differs.",
		Args: cli.NoArguments,
	}
	f := newWalletFlags(cmd.Flags(), stderr)
	validate := cmd.Flags().Bool("validate", false, "also validate every request of the log")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return f.withWallet(cmd.Context(), func(h *holding) error {
			findings, err := h.Check(cmd.Context(), h.ledger, *validate)
			if err != nil {
				return f.failed(cmd.Context(), err)
			}
			return showFindings(stdout, h, findings, *validate)
		})
	}
	return cmd
}

// showFindings prints how a wallet differs from its ledger. If it does, the error has the exit code
// cli.ExitFailed.
func showFindings(stdout io.Writer, h *holding, findings []service.Finding, validated bool) error {
	for _, finding := range findings {
		if _, err := fmt.Fprintln(stdout, finding); err != nil {
			return err
		}
	}
	if len(findings) > 0 {
		return &cli.ExitError{Code: cli.ExitFailed, Text: fmt.Sprintf("the wallet differs from the ledger in %d places, %s", len(findings), h.position())}
	}
	with := ""
	if validated {
		with = ", each valid under the parameters"
	}
	_, err := fmt.Fprintf(stdout, "ok: the wallet agrees with the ledger's %d requests%s\n", h.last, with)
	return err
}
