package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/measure/jobs"
	"github.com/zkbench/zkbench/internal/measure/suite"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/internal/workload/prover"
)

const acceptedExec = "the path of a prover's file, or several separated by commas"

// execCommand returns the command exec: this program's commands with the workloads of provers'
// files.
func execCommand(p *Program, stdin io.Reader, stdout, stderr io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:   "exec FILE.yaml [command] [flags of the command]",
		Short: "Measure any prover that a YAML file describes",
		Long: "Measure any prover by its commands. A file names the commands that prepare, prove and verify, and\n" +
			"what to read from their output; or it names a resident prover, which answers line by line.\n" +
			"docs/provers.md describes the file. The commands of " + p.Name + " then have the file's workloads too, and\n" +
			"run is the default:\n\n" +
			"  " + p.Name + " exec prover.yaml                          # a small case, proved and verified\n" +
			"  " + p.Name + " exec prover.yaml --bytes 136,1360 --duration 10s --workers 2\n" +
			"  " + p.Name + " exec prover.yaml list\n" +
			"  " + p.Name + " exec prover.yaml stages NAME\n\n" +
			"FILE may be a directory of scripts, TARGET_prepare.sh, TARGET_prove.sh, TARGET_verify.sh and\n" +
			"TARGET_measure.sh. The file of a suite lists provers' files under the key provers.",
		DisableFlagParsing: true, // the flags belong to the inner command
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return &argument.ValueError{Field: "file of exec", Value: "", Accepted: acceptedExec}
			}
			if args[0] == "--help" || args[0] == "-h" {
				return cmd.Help()
			}
			q, ids, err := p.withProvers("", strings.Split(args[0], ","))
			if err != nil {
				return err
			}
			inner := prepared(q.command(stdin, stdout, stderr), stdout, stderr)
			rest := args[1:]
			if slices.ContainsFunc(rest, func(arg string) bool { return strings.HasPrefix(arg, "--"+workload.MixKey) }) {
				ids = nil // the mix names its workloads
			}
			known := func(c *cobra.Command) bool { return len(rest) > 0 && c.Name() == rest[0] && c.Runnable() } // not a topic of help
			switch {
			case len(rest) > 0 && slices.Contains([]string{jobs.CommandRun, jobs.CommandStages}, rest[0]) && (len(rest) == 1 || strings.HasPrefix(rest[1], "-")):
				rest = slices.Concat(rest[:1], ids, rest[1:])
			case slices.ContainsFunc(inner.Commands(), known):
			case len(rest) == 0 || strings.HasPrefix(rest[0], "-"):
				rest = slices.Concat([]string{jobs.CommandRun}, ids, rest)
			default:
				rest = append([]string{jobs.CommandRun}, rest...)
			}
			inner.SetArgs(rest)
			return inner.ExecuteContext(cmd.Context())
		},
	}
}

// withProvers returns the program with the workloads of provers' files added, and their ids. Paths
// are relative to dir.
func (p *Program) withProvers(dir string, paths []string) (*Program, []string, error) {
	taken := new(Program).FlagNames()
	var defs []workload.Def
	for _, path := range paths {
		if path = strings.TrimSpace(path); dir != "" && !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		specs, err := prover.Open(path, taken)
		if err != nil {
			return nil, nil, err
		}
		for _, s := range specs {
			def, err := s.Def()
			if err == nil {
				err = p.checkNames(def, defs)
			}
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", path, err)
			}
			defs = append(defs, def)
		}
	}
	return p.withFamily(defs), strings.Split(workload.IDs(defs), ", "), nil
}

// withFamily returns the program with further workloads.
func (p *Program) withFamily(defs []workload.Def) *Program {
	q := *p
	q.Suites.Families = append(slices.Clone(p.Suites.Families), suite.Family{Name: "provers", Defs: defs})
	return &q
}

// checkNames returns an error if another workload has the name of def, or the flag of one of its axes.
func (p *Program) checkNames(def workload.Def, others []workload.Def) error {
	for _, other := range append(p.Defs(), others...) {
		if other.Name == def.Name {
			return fmt.Errorf("%w: name: there is a workload %s; accepted: another name", zkbench.ErrParams, def.ID())
		}
		for _, a := range def.Axes {
			for _, b := range other.Axes {
				if (a.Key == b.Key) != (a.Long() == b.Long()) {
					return fmt.Errorf("%w: axes: %s is one of %s; accepted: another name", zkbench.ErrParams, a.Key, other.ID())
				}
			}
		}
	}
	return nil
}
