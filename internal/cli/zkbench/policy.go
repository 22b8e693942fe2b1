package zkbench

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/sys/atomicfile"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger/replay"
	"github.com/zkbench/zkbench/token/policy"
	"github.com/zkbench/zkbench/token/validator"
)

// policyCommand returns the command policy.
func policyCommand(stdout io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy new|sign|show|apply",
		Short: "Change issuers, auditors and administrators of a running system",
		Long: "Change the policy of a running token system: issuers, auditors, administrators, kinds of owners,\n" +
			"limits. new makes an update of the current policy. show prints what it changes, its digest, and whose\n" +
			"signatures are missing. Administrators compare the digest and sign. apply puts it on the ledger.\n\n" +
			"The current policy is that of --params, after the updates on --ledger. Without a ledger, as on an\n" +
			"administrator's machine, it is that after the updates in the files --after, on the ledger --id.",
		Args: cobra.ArbitraryArgs,
		RunE: cli.ACommand,
	}
	cmd.AddCommand(policyNewCommand(stdout), policySignCommand(stdout), policyShowCommand(stdout), policyApplyCommand(stdout))
	return cmd
}

// sourceFlags say where to find the current policy.
type sourceFlags struct{ params, ledger, id, after *argument.Option }

func newSourceFlags(flags *pflag.FlagSet) *sourceFlags {
	define := func(name, kind, accepted, help string) *argument.Option {
		return argument.Define(flags, name, kind, "", accepted, help+": "+accepted)
	}
	return &sourceFlags{
		params: define("params", argument.KindFile, "the path of a file of public parameters", "the ledger's parameters"),
		ledger: define("ledger", argument.KindText, "the path of a ledger, or the URL of a database", "the ledger with the policy"),
		id:     define("id", argument.KindText, "64 hex digits, as ledger verify prints them", "without --ledger: the ledger's id"),
		after:  define("after", argument.KindList, "the paths of the files, in order", "without --ledger: the updates that are on the ledger"),
	}
}

// governed is a ledger with its current policy.
type governed struct {
	params  *token.PublicParams
	id      token.LedgerID
	current *token.Policy
	ledger  replay.Store // nil if only its id is known
}

func (g *governed) close() error {
	if g.ledger == nil {
		return nil
	}
	return g.ledger.Close()
}

// open finds the current policy.
func (f *sourceFlags) open(ctx context.Context) (g *governed, err error) {
	if !f.params.Given {
		return nil, f.params.Refuse("params", "")
	}
	if f.ledger.Given == f.id.Given || f.ledger.Given && f.after.Given {
		return nil, (&argument.Option{Accepted: "--ledger, or --id with --after if there are updates"}).Refuse("ledger", shown(f.ledger.Text))
	}
	g = new(governed)
	if g.params, err = loadParams(f.params.Text); err != nil {
		return nil, err
	}
	g.current = &g.params.Policy
	if f.id.Given {
		id, err := hex.DecodeString(f.id.Text)
		if err != nil || copy(g.id[:], id) != len(id) || len(id) != len(g.id) {
			return nil, f.id.Refuse("id", f.id.Text)
		}
		return g, f.replay(g)
	}
	if g.ledger, err = replay.Open(ctx, f.ledger.Text); err != nil {
		return nil, ledgerError(ctx, f.ledger.Text, err)
	}
	if err := g.follow(ctx); err != nil {
		return nil, errors.Join(ledgerError(ctx, f.ledger.Text, err), g.close())
	}
	return g, nil
}

// follow advances to the newest policy on the ledger.
func (g *governed) follow(ctx context.Context) error {
	digest, err := g.params.Digest()
	if err != nil {
		return err
	}
	genesis := g.ledger.Genesis()
	if err := genesis.CheckParams(digest); err != nil {
		return err
	}
	g.id = genesis.ID()
	g.current, err = policy.Follow(ctx, g.ledger, genesis, g.current)
	return err
}

// replay advances to the newest policy by the updates in files.
func (f *sourceFlags) replay(g *governed) error {
	if !f.after.Given {
		return nil
	}
	for path := range strings.SplitSeq(f.after.Text, ",") {
		u, err := loadUpdate(path)
		if err == nil {
			err = u.Verify(g.id, g.current)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		g.current = &u.Policy
	}
	return nil
}

func loadUpdate(path string) (*policy.Update, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return policy.Decode(data)
}

// oneUpdate refuses any number of arguments except one.
func oneUpdate(cmd *cobra.Command, args []string) error {
	if len(args) != 1 || args[0] == "" {
		o := argument.Option{Accepted: "the path of one file that policy new wrote"}
		return o.Refuse("FILE of policy "+cmd.Name(), strings.Join(args, " "))
	}
	return nil
}

func policyNewCommand(stdout io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "new --out FILE --params FILE --ledger PATH",
		Short: "Make an unsigned update of the current policy",
		Args:  cli.NoArguments,
	}
	source := newSourceFlags(cmd.Flags())
	changes := newPolicyFlags(cmd.Flags(), nil)
	out := argument.Define(cmd.Flags(), "out", argument.KindFile, "", "the path of a file that does not exist", "write the update to this file: the path of a file that does not exist")
	cmd.RunE = func(cmd *cobra.Command, _ []string) (err error) {
		if out.Text == "" {
			return out.Refuse("out", "")
		}
		g, err := source.open(cmd.Context())
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, g.close()) }()
		next := g.current.Clone()
		if err := changes.change(next); err != nil {
			return err
		}
		u, err := policy.New(g.id, g.current, next)
		if err != nil {
			return err
		}
		data, err := u.Encode()
		if err != nil {
			return err
		}
		if err := writeNew(out.Text, data); errors.Is(err, os.ErrExist) {
			return out.Refuse("out", out.Text)
		} else if err != nil {
			return fmt.Errorf("out: %w", err)
		}
		return showUpdate(stdout, g, u)
	}
	return cmd
}

const acceptedDigest = "its digest, 40 hex digits, as another administrator reads it out"

func policySignCommand(stdout io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sign FILE --digest DIGEST --key FILE --params FILE --ledger PATH",
		Short: "Add an administrator's signature to an update",
		Long: "Add an administrator's signature to an update, if the update has the digest --digest. Get the digest\n" +
			"from another administrator, for example by telephone, and not from the file or its sender. Case,\n" +
			"spaces and hyphens do not matter in it. Without --digest, the update and its digest are shown, nothing\n" +
			"is signed, and the exit code is 2, as after every refusal. Only its owner may have access to the key's\nfile (mode 0600).",
		Args: oneUpdate,
	}
	source := newSourceFlags(cmd.Flags())
	digest := argument.Define(cmd.Flags(), "digest", argument.KindText, "", acceptedDigest, "the update to sign: "+acceptedDigest)
	key := argument.Define(cmd.Flags(), "key", argument.KindFile, "", acceptedKey, "the administrator's secret key: "+acceptedKey)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return source.update(cmd.Context(), args[0], func(g *governed, u *policy.Update) error {
			if !digest.Given {
				o := argument.Option{Accepted: "the digest above, if another administrator has read out the same; nothing was signed"}
				return errors.Join(showUpdate(stdout, g, u), o.Refuse("digest", ""))
			}
			if same, err := u.HasShortDigest(digest.Text); err != nil {
				return err
			} else if !same {
				return (&argument.Option{Accepted: "the digest of the update in " + args[0] + "; this digest belongs to another update"}).Refuse("digest", digest.Text)
			}
			signer, err := loadSigner(key, g.current.Administrators.Identities, u.Policy.Administrators.Identities)
			if err != nil {
				return err
			}
			if err := u.Sign(g.current, signer); err != nil {
				return err
			}
			data, err := u.Encode()
			if err != nil {
				return err
			}
			if err := atomicfile.Write(args[0], data); err != nil {
				return err
			}
			return showUpdate(stdout, g, u)
		})
	}
	return cmd
}

func policyShowCommand(stdout io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show FILE --params FILE --ledger PATH",
		Short: "Show what an update changes, its digest, and whose signatures are missing",
		Args:  oneUpdate,
	}
	source := newSourceFlags(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return source.update(cmd.Context(), args[0], func(g *governed, u *policy.Update) error {
			return showUpdate(stdout, g, u)
		})
	}
	return cmd
}

func policyApplyCommand(stdout io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "apply FILE --params FILE --ledger PATH",
		Short: "Put an update on the ledger, where validators, auditors and wallets follow it",
		Args:  oneUpdate,
	}
	source := newSourceFlags(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !source.ledger.Given {
			return source.ledger.Refuse("ledger", "")
		}
		return source.update(cmd.Context(), args[0], func(g *governed, u *policy.Update) error {
			if err := g.submit(cmd.Context(), u); err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			_, err := fmt.Fprintf(stdout, "ok: policy %d is on the ledger %x\n", u.Policy.Version, g.id)
			return err
		})
	}
	return cmd
}

// submit puts an update on the ledger.
func (g *governed) submit(ctx context.Context, u *policy.Update) error {
	raw, err := u.Encode()
	if err != nil {
		return err
	}
	v, err := validator.New(g.params, g.ledger.Genesis(), executor.Serial(), token.Tuning{}, 1)
	if err == nil {
		err = v.Follow(ctx, g.ledger)
	}
	if err != nil {
		return err
	}
	s, err := validator.NewSubmitter(v, g.ledger, nil)
	if err != nil {
		return err
	}
	verdicts, err := s.Submit(ctx, [][]byte{raw})
	if err != nil {
		return err
	}
	return verdicts[0].Err
}

// update calls work with the update at path and the policy that it changes. It returns an error if
// the update does not belong to that policy.
func (f *sourceFlags) update(ctx context.Context, path string, work func(*governed, *policy.Update) error) (err error) {
	u, err := loadUpdate(path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	g, err := f.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.close()) }()
	if err := u.Follows(g.id, g.current); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return work(g, u)
}
