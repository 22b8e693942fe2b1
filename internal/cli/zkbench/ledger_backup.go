package zkbench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/view/progress"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/backup"
	"github.com/zkbench/zkbench/token/ledger/replay"
)

func ledgerBackupCommand(stdout, stderr io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "backup LEDGER FILE",
		Short: "Write a ledger to a file from which it can be restored",
		Long: "Write the whole log of a ledger, and all else that restoring needs, to a new file. A ledger in\n" +
			"PostgreSQL may be in use meanwhile. A ledger in a file must be closed, because the process that has it\n" +
			"open locks it: such a process can make a backup itself, with package token/ledger/backup. LEDGER is\n" +
			"like PATH of ledger verify.",
		Args: func(cmd *cobra.Command, args []string) error {
			return places(cmd, args, "LEDGER and FILE", aLedger+", and a path at which there is no file")
		},
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ctx := cmd.Context()
		return withLedger(ctx, args[0], func(l replay.Store) error {
			show, done := progress.Counter(stderr, "requests written")
			s, err := backup.WriteFile(ctx, args[1], l, show)
			done()
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(stdout, "backup of %d requests; ledger %x, root %v\n", s.Last, l.Genesis().ID(), tlog.Hash(s.Root))
			return err
		})
	}
	return cmd
}

func ledgerRestoreCommand(stdout, stderr io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "restore FILE LEDGER",
		Short: "Make a ledger of a backup, and verify it",
		Long: "Make a ledger of a file that ledger backup wrote, and verify it as ledger verify does. LEDGER is like\n" +
			"PATH of ledger new, in which there is no ledger yet. It may be another kind of place than that of the\n" +
			"ledger that was backed up.\n\nThe requests that came after the backup are lost, unless --log names the file of a ledger mirror, which\n" +
			"has them. Wallets, issuers and auditors that have followed the ledger further refuse one that lacks\n" +
			"requests. To go on without them, make a fork of it: ledger fork.",
		Args: func(cmd *cobra.Command, args []string) error {
			return places(cmd, args, "FILE and LEDGER", "the path of a backup, and "+aLedger)
		},
	}
	log := argument.Define(cmd.Flags(), "log", argument.KindFile, "", "the path of a file that ledger mirror wrote", "add the later requests that this file of ledger mirror has")
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		ctx := cmd.Context()
		data, err := os.Open(args[0])
		if err != nil {
			return ledgerError(ctx, args[0], err)
		}
		defer data.Close()
		var kept io.Reader // nil if there is none
		if log.Given {
			file, err := os.Open(log.Text)
			if err != nil {
				return ledgerError(ctx, log.Text, err)
			}
			defer file.Close()
			kept = file
		}
		show, done := progress.Counter(stderr, "requests replayed")
		report, err := backup.Restore(ctx, args[1], data, kept, show)
		done()
		if err != nil {
			return ledgerError(ctx, args[0], err)
		}
		_, err = fmt.Fprintln(stdout, report)
		return err
	}
	return cmd
}

// mirrorPause is how long a mirror waits before it looks for new requests.
const mirrorPause = time.Second

func ledgerMirrorCommand(stdout, stderr io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mirror LEDGER",
		Short: "Keep the log of a ledger in a file, as it grows",
		Long: "Append to a file the requests of a ledger that it does not have yet, each checked against the root of\n" +
			"the log's tree. A ledger that does not continue what the file has is refused. A ledger in PostgreSQL is\n" +
			"followed until the command is interrupted, or to its end with --once. A ledger in a file is followed to\n" +
			"its end, since nobody can change it while the command reads it. The command goes on where it stopped\n" +
			"last. ledger restore --log reads the file. LEDGER is like PATH of ledger verify.",
		Args: oneLedger,
	}
	log := argument.Define(cmd.Flags(), "log", argument.KindFile, "", "the path of a file, which need not exist", "the file that keeps the log")
	once := cmd.Flags().Bool("once", false, "stop at the end of the log")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !log.Given {
			return log.Refuse("log", "")
		}
		ctx := cmd.Context()
		return withLedger(ctx, args[0], func(l replay.Store) (err error) {
			m, err := backup.OpenMirror(log.Text, l.Genesis())
			if err != nil {
				return fmt.Errorf("%s: %w", log.Text, err)
			}
			defer func() { err = errors.Join(err, m.Close()) }()
			show, done := progress.Counter(stderr, "requests kept")
			err = follow(ctx, m, l, *once || !replay.IsDatabase(args[0]), show)
			done()
			if err != nil && ctx.Err() == nil {
				return err
			}
			edge := m.Edge()
			_, err = fmt.Fprintf(stdout, "%d requests; ledger %x, root %v\n", edge.Last(), l.Genesis().ID(), edge.Root())
			return err
		})
	}
	return cmd
}

// follow makes a mirror follow a ledger, to its end or until ctx ends.
func follow(ctx context.Context, m *backup.Mirror, l ledger.Store, once bool, show func(done, total uint64)) error {
	for {
		if err := m.Follow(ctx, l, show); err != nil || once {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(mirrorPause):
		}
	}
}

// withLedger opens the ledger at path for work. Errors name the ledger.
func withLedger(ctx context.Context, path string, work func(l replay.Store) error) error {
	l, err := replay.Open(ctx, path)
	if err == nil {
		err = errors.Join(work(l), l.Close())
	}
	if err != nil {
		return ledgerError(ctx, path, err)
	}
	return nil
}

const aLedger = "a ledger: a file, the directory of a " + replay.FileName + ", a postgres:// URL, \"host=... user=...\" in quotes"

// places refuses any number of arguments except two.
func places(cmd *cobra.Command, args []string, names, accepted string) error {
	if len(args) == 2 && !slices.Contains(args, "") {
		return nil
	}
	words := make([]string, len(args))
	for i := range args {
		words[i] = shown(args[i])
	}
	o := argument.Option{Accepted: accepted}
	return o.Refuse(names+" of ledger "+cmd.Name(), strings.Join(words, " "))
}
