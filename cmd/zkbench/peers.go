package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/zkbench/zkbench/internal/peer"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/token"
)

// peerCommand is our own peer program: peer PROOF list, peer PROOF run CASE.
func peerCommand(stdout, stderr io.Writer, defs []workload.Def) *cobra.Command {
	return &cobra.Command{
		Use: "peer PROOF list|run CASE", Hidden: true, Args: cobra.MinimumNArgs(2),
		DisableFlagParsing: true, // -samples is the peers' own
		RunE: func(_ *cobra.Command, args []string) error {
			if code := peer.Serve(args[1:], stdout, stderr, peerCases(args[0], defs)); code != exitOK {
				return &exitError{code: code}
			}
			return nil
		},
	}
}

// peersCommand measures ours and other people's systems side by side.
func peersCommand(stdout, stderr io.Writer, defs []workload.Def) *cobra.Command {
	var rounds int
	var cases, dir string
	cmd := &cobra.Command{
		Use:   "peers",
		Short: "Measure ours and other people's range proofs side by side, and transfers beside Panurus",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			match, err := regexp.Compile(cases)
			if err != nil {
				return &workload.ValueError{Field: "cases", Value: cases, Accepted: "a regular expression on case names"}
			}
			self, err := os.Executable()
			if err != nil {
				return err
			}
			one := []string{"GOMAXPROCS=1"}
			programs := []peer.Program{
				{Name: "zkbench-bp", Argv: []string{self, "peer", token.Bulletproof}, Env: one},
				{Name: "zkbench-csp", Argv: []string{self, "peer", token.CSP}, Env: one},
				{Name: "dalek", Argv: []string{filepath.Join(dir, "rust", "target", "release", "peer-dalek")}},
				{Name: "tari", Argv: []string{filepath.Join(dir, "rust", "target", "release", "peer-tari")}},
				{Name: "kryptology", Argv: []string{filepath.Join(dir, "go", "bin", "kryptology")}, Env: one},
			}
			result, err := peer.Compare(cmd.Context(), programs, peer.Options{Rounds: rounds, Cases: match, Progress: stderr})
			if result == nil {
				return err
			}
			if writeErr := writePeers(stdout, result, defs); writeErr != nil {
				return writeErr
			}
			if err != nil {
				return &exitError{exitPartial, err.Error()}
			}
			if len(result.Failed) > 0 {
				return &exitError{exitFailed, fmt.Sprintf("%d cases failed", len(result.Failed))}
			}
			return nil
		},
	}
	cmd.Flags().IntVar(&rounds, "rounds", peer.MinRounds, "rounds, at least 10")
	cmd.Flags().StringVar(&cases, "cases", "", "regular expression on case names; empty: all")
	cmd.Flags().StringVar(&dir, "dir", "peers", "directory of the peers, built as peers/README.md says")
	return cmd
}

// writePeers writes the ratios, and the transfers by the yardstick of the run.
func writePeers(w io.Writer, result *peer.Result, defs []workload.Def) error {
	if err := result.WriteText(w); err != nil {
		return err
	}
	var rows []peer.Own
	for _, p := range []struct{ program, proof string }{{"zkbench-bp", token.Bulletproof}, {"zkbench-csp", token.CSP}} {
		for _, t := range transferCases(p.proof, defs) {
			own, ok := result.Find(p.program, t.name())
			glv, glvOK := result.Find(p.program, peer.GLVCaseName(t.own.Curve))
			if ok && glvOK {
				t.own.Ns, t.own.GLVNs = own.Median, glv.Median
				rows = append(rows, t.own)
			}
		}
	}
	if len(rows) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	return peer.WriteYardstick(w, rows)
}
