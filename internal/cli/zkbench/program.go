// Package zkbench is the command zkbench: its workloads and suites, and its commands that do not
// measure workloads.
package zkbench

import (
	"embed"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/measure/jobs"
	"github.com/zkbench/zkbench/internal/measure/suite"
	studytoken "github.com/zkbench/zkbench/internal/study/token"
	"github.com/zkbench/zkbench/internal/view/charts"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/internal/workload/circuits"
	"github.com/zkbench/zkbench/internal/workload/goldilocks"
	"github.com/zkbench/zkbench/internal/workload/guest"
	"github.com/zkbench/zkbench/internal/workload/hash"
	"github.com/zkbench/zkbench/internal/workload/rangeproof"
	"github.com/zkbench/zkbench/internal/workload/stark"
	"github.com/zkbench/zkbench/internal/workload/token"
)

//go:embed suites/*.yaml
var suites embed.FS

// Program returns the description of the zkbench command.
func Program() *cli.Program {
	files, err := fs.Sub(suites, "suites")
	if err != nil {
		panic(err) // only for a malformed name
	}
	return &cli.Program{
		Name: "zkbench", Short: "Build, load-test and compare zero-knowledge payment proofs",
		Suites: suite.Collection{Files: files, Families: []suite.Family{
			{Name: "token", Defs: token.Defs()},
			{Name: "rangeproof", Defs: rangeproof.Defs()},
			{Name: "circuits", Defs: circuits.Defs()},
			{Name: "hash", Defs: hash.Defs()},
			{Name: "goldilocks", Defs: goldilocks.Defs()},
			{Name: "stark", Defs: stark.Defs()},
			{Name: "riscv", Defs: guest.Defs()},
		}},
		Main: mainJob(), Hidden: studyDefs(), Tables: recordTables(), Grids: grids(), More: commands,
	}
}

// mainJob returns the main job: transfers of two inputs and two outputs, proved and verified with
// both range proofs on BN254.
func mainJob() *jobs.MainJob {
	return &jobs.MainJob{
		Workloads: []string{"Sender", "VerificationSenderProof"},
		Axes: map[string]string{
			"curve": "BN254", "bits": "32", "in": "2", "out": "2",
			"proof": "bulletproof,csp", "exec": "pool",
		},
	}
}

// grids are the charts of what inputs and outputs cost.
func grids() []charts.Grid {
	return []charts.Grid{{RowKey: workload.InputsAxis(1).Key, Rows: "inputs", ColumnKey: workload.OutputsAxis(1).Key, Columns: "outputs"}}
}

// recordTables are what report and suite write of records beside their own tables.
func recordTables() []cli.Table {
	return []cli.Table{{File: studytoken.IOStatsFile, Write: studytoken.IOStats}}
}

// execServerCommand returns the command by which a workload starts the server that it measures.
func execServerCommand(stdout io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:    token.ExecServer,
		Short:  "Run the server of a workload's case: read a job and orders as lines of JSON from standard input",
		Hidden: true,
		Args:   cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return token.RunServer(cmd.Context(), cmd.InOrStdin(), stdout)
		},
	}
}

func commands(p *cli.Program, stdout, stderr io.Writer) []cli.Theme {
	defs := p.Defs()
	return []cli.Theme{
		{ID: cli.ThemeMeasure, Commands: []*cobra.Command{studyCommand(stdout, stderr, defs), guestCommand(stdout, stderr), peersCommand(stdout, stderr, defs), initCommand(stdout)}},
		{ID: "tokens", Title: "Run a token system:", Commands: []*cobra.Command{paramsCommand(stdout), policyCommand(stdout), keyCommand(stdout), ledgerCommand(stdout, stderr), walletCommand(stdout, stderr), serveCommand(stdout, stderr), certCommand(stdout), localCommand(stdout)}},
		{Commands: []*cobra.Command{peerCommand(stdout, stderr, defs), execServerCommand(stdout)}},
	}
}
