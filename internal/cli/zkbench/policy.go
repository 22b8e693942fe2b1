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

// policyCommand changes the policy of a ledger.
func policyCommand(stdout io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy new|sign|show|apply",
		Short: "Change who issues, audits and administrates a running token system",
		Long: "Change the policy of a running token system: who issues, audits and administrates, kinds of owners,\n" +
			"limits. new makes an update of the current policy, show says what it changes, its digest and whose\n" +
			"signatures are missing, administrators compare the digest and sign, apply puts it on the ledger.\n" +
			"The current policy is that of --params, after the updates on the --ledger; without a ledger, as on the\n" +
			"machine of an administrator, after those of the files --after, on the ledger --id.",
		Args: cobra.ArbitraryArgs,
		RunE: cli.ACommand,
	}
	cmd.AddCommand(policyNewCommand(stdout), policySignCommand(stdout), policyShowCommand(stdout), policyApplyCommand(stdout))
	return cmd
}

// sourceFlags say where the current policy is found.
type sourceFlags struct{ params, ledger, id, after *argument.Option }

func newSourceFlags(flags *pflag.FlagSet) *sourceFlags {
	define := func(name, kind, accepted, help string) *argument.Option {
		return argument.Define(flags, name, kind, "", accepted, help+": "+accepted)
	}
	return &sourceFlags{
		params: define("params", argument.KindFile, "the path of a file of public parameters", "the ledger's parameters"),
		ledger: define("ledger", argument.KindText, "the path of a ledger, or the URL of a database", "whose policy it is"),
		id:     define("id", argument.KindText, "64 hex digits, as ledger verify prints them", "that of the ledger, without --ledger"),
		after:  define("after", argument.KindList, "the paths of the updates that have landed, in their order", "without --ledger"),
	}
}

// governed is a ledger with its current policy.
type governed struct {
	params  *token.PublicParams
	id      token.LedgerID
	current *token.Policy
	ledger  replay.Store // nil where only its id is known
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

// follow goes on to the newest policy of the ledger.
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

// replay goes on by the updates in files.
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

// oneUpdate refuses all but one argument.
func oneUpdate(cmd *cobra.Command, args []string) error {
	if len(args) != 1 || args[0] == "" {
		o := argument.Option{Accepted: "the path of one file of policy new"}
		return o.Refuse("FILE of policy "+cmd.Name(), strings.Join(args, " "))
	}
	return nil
}

func policyNewCommand(stdout io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "new --out FILE --params FILE --ledger PATH",
		Short: "Make an update of the current policy, which nobody has signed yet",
		Args:  cli.NoArguments,
	}
	source := newSourceFlags(cmd.Flags())
	changes := newPolicyFlags(cmd.Flags(), nil)
	out := argument.Define(cmd.Flags(), "out", argument.KindFile, "", "the path of a file that does not exist", "file that is written: the path of a file that does not exist")
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
		Short: "Add the signature of an administrator to the update with a digest",
		Long: "Add the signature of an administrator to an update, if it has the digest that --digest names. Take the\n" +
			"digest from another administrator, for example by telephone, and not from the file or who sent it. Case,\n" +
			"spaces and hyphens make no difference in it. Without --digest the update and its digest are shown, nothing\n" +
			"is signed, and the exit code is 2, as after every refusal. The key's file must be its owner's alone (mode 0600).",
		Args: oneUpdate,
	}
	source := newSourceFlags(cmd.Flags())
	digest := argument.Define(cmd.Flags(), "digest", argument.KindText, "", acceptedDigest, "the update that is signed: "+acceptedDigest)
	key := argument.Define(cmd.Flags(), "key", argument.KindFile, "", acceptedKey, "the administrator's secret key: "+acceptedKey)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return source.update(cmd.Context(), args[0], func(g *governed, u *policy.Update) error {
			if !digest.Given {
				o := argument.Option{Accepted: "the digest above, when another administrator has read out the same; nothing was signed"}
				return errors.Join(showUpdate(stdout, g, u), o.Refuse("digest", ""))
			}
			if same, err := u.HasShortDigest(digest.Text); err != nil {
				return err
			} else if !same {
				return (&argument.Option{Accepted: "the digest of the update in " + args[0] + "; this is that of another update"}).Refuse("digest", digest.Text)
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
		Short: "Say what an update changes, its digest, and whose signatures are missing",
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
		Short: "Put an update on the ledger, from where validators, auditors and wallets follow it",
		Args:  oneUpdate,
	}
	source := newSourceFlags(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !source.ledger.Given {
			return source.ledger.Refuse("ledger", "")
		}
		return source.update(cmd.Context(), args[0], func(g *governed, u *policy.Update) error {
			if err := g.land(cmd.Context(), u); err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			_, err := fmt.Fprintf(stdout, "ok: policy %d is on the ledger %x\n", u.Policy.Version, g.id)
			return err
		})
	}
	return cmd
}

// land puts an update on the ledger.
func (g *governed) land(ctx context.Context, u *policy.Update) error {
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

// update does work on an update and the policy that it changes, to which it must belong.
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
