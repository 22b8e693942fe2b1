package zkbench

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/view/progress"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/head"
	"github.com/zkbench/zkbench/token/ledger/receipt"
	"github.com/zkbench/zkbench/token/ledger/replay"
)

const (
	acceptedHeadKey = "the path of a PEM file with one PRIVATE KEY (PKCS #8), or the PKCS #11 URI of a key in a token: Ed25519, of a validator of the ledger's policy"
	acceptedState   = "the path of this validator's state file, which --new makes"
)

func ledgerSignCommand(stdout, stderr io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sign LEDGER --params FILE --key FILE --state FILE",
		Short: "Sign a head of the log as a validator, and store it on the ledger",
		Long: "Sign a head of the log (its size and root) with a validator's key, and store it on the ledger. First, the\n" +
			"requests since this validator's last head are validated, so that it vouches only for valid ones. If another\n" +
			"validator has signed the last head, the signature is added to that one. If the policy names validators, wallets\n" +
			"count only requests under a head that enough of them have signed. LEDGER is like PATH of ledger verify.\n\n" +
			"The state file has the last head that the key has signed. A ledger that does not extend it is refused, so that\n" +
			"no validator vouches for two histories. With --new, the file is made, and signs the genesis first. Keep one\n" +
			"file for each key, and never restore it from a backup: a key with an older file, or with a second one, can\n" +
			"sign a second history. If the file is lost, replace the key: zkbench policy new --validator.\n\n" +
			"With --watch, a ledger in PostgreSQL is signed as it grows until the command is interrupted. Only its owner\n" +
			"may have access to the key's file (mode 0600). The exit code is 1 if the ledger contradicts a signed head, or\n" +
			"if a request is not valid.",
		Args: func(cmd *cobra.Command, args []string) error { return ledgers(cmd, args, "LEDGER", 1) },
	}
	flags := cmd.Flags()
	params := argument.Define(flags, "params", argument.KindFile, "", "the path of a file of public parameters", "the ledger's public parameters")
	s := &headSigning{stdout: stdout, stderr: stderr}
	s.key = argument.Define(flags, "key", argument.KindFile, "", acceptedHeadKey, "the validator's secret key: "+acceptedHeadKey)
	s.state = argument.Define(flags, "state", argument.KindFile, "", acceptedState, "the file with the last head that the key has signed")
	flags.BoolVar(&s.create, "new", false, "make the state file: for a key that has not signed any head of this ledger")
	flags.BoolVar(&s.watch, "watch", false, "go on and sign the log as it grows, on a ledger in a database")
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		switch {
		case !params.Given:
			return params.Refuse("params", "")
		case !s.key.Given:
			return s.key.Refuse("key", "")
		case s.state.Text == "":
			return s.state.Refuse("state", "")
		case s.watch && !replay.IsDatabase(args[0]):
			return (&argument.Option{Accepted: "a ledger in a database; nobody can change a ledger in a file while a command has it open"}).Refuse("watch", args[0])
		}
		if s.params, err = loadParams(params.Text); err != nil {
			return err
		}
		return withLedger(cmd.Context(), args[0], func(l replay.Store) error { return s.sign(cmd.Context(), l) })
	}
	return cmd
}

// headSigning is the command ledger sign.
type headSigning struct {
	stdout, stderr io.Writer
	params         *token.PublicParams
	key, state     *argument.Option
	create, watch  bool
}

// sign signs heads of the ledger.
func (s *headSigning) sign(ctx context.Context, l replay.Store) (err error) {
	g := &governed{params: s.params, current: &s.params.Policy, ledger: l}
	if err := g.follow(ctx); err != nil {
		return err
	}
	if len(g.current.Validators) == 0 {
		return noValidators(head.ErrNoValidators)
	}
	key, err := loadSigner(s.key, headKeys(g.current))
	if err != nil {
		return err
	}
	signer, err := s.open(ctx, l, key)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, signer.Close()) }()
	follower, err := s.follow(ctx, l, signer)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, follower.Close()) }()
	v := &validated{follower.Store(), follower.Policy, key.Identity()}
	keeper := &head.Keeper{Store: v, Signer: signer, Policy: g.current}
	if err := s.signAll(ctx, keeper); err != nil {
		return s.accuse(err)
	}
	if err := s.report(ctx, v, signer); err != nil || !s.watch {
		return err
	}
	if err := keeper.Run(ctx); ctx.Err() == nil || !errors.Is(err, context.Cause(ctx)) {
		return s.accuse(err)
	}
	return s.report(context.WithoutCancel(ctx), v, signer)
}

// copyOf is what the name of the directory with a validator's copy of the ledger has behind the path of the state file,
// whose lock keeps other processes away from both.
const copyOf = ".replay"

// follow validates what the signer has not signed yet.
func (s *headSigning) follow(ctx context.Context, l replay.Store, signer *head.Signer) (*replay.Follower, error) {
	last, err := head.ParseSigned(signer.Last())
	if err != nil {
		return nil, err
	}
	show, done := progress.Counter(s.stderr, "requests validated")
	defer done()
	return replay.Follow(ctx, l, s.params, last, s.state.Text+copyOf, show)
}

// open opens the signer, or makes it.
func (s *headSigning) open(ctx context.Context, l replay.Store, key identity.Signer) (*head.Signer, error) {
	path, genesis := s.state.Text, l.Genesis()
	if s.create {
		if err := unused(ctx, l, key.Identity()); err != nil {
			return nil, err
		}
		edge := ledger.NewEdge(genesis)
		err := head.CreateSigner(path, key, head.Head{Ledger: genesis.ID(), Size: 1, Root: edge.Root()}, time.Now())
		if errors.Is(err, fs.ErrExist) {
			return nil, (&argument.Option{Accepted: "with --new, a path at which there is no file; without --new, the key goes on with its file"}).Refuse("state", path)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if _, err := fmt.Fprintf(s.stdout, "%s: new; it signed the genesis: 1 leaf, root %v\n", path, edge.Root()); err != nil {
			return nil, err
		}
	}
	signer, err := head.OpenSigner(path, key, genesis.ID())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, (&argument.Option{Accepted: "the state file of this key; --new makes the file of a key that has never signed; if the file was lost, " +
			"replace the key (zkbench policy new --validator), because with a new file it could sign a second history"}).Refuse("state", path)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return signer, nil
}

// unused refuses a key that has signed one of the ledger's two heads: it has a state file already, or has lost it.
func unused(ctx context.Context, l ledger.Store, key identity.Identity) error {
	proposed, err := l.Proposed(ctx)
	if err != nil {
		return err
	}
	counts, err := l.Head(ctx)
	if err != nil {
		return err
	}
	public := publicKey(key)
	known := note.VerifierList(head.NewVerifier(head.KeyName(public), public))
	for _, signed := range [][]byte{proposed, counts} {
		if _, err := note.Open(signed, known); err != nil {
			continue
		}
		return (&argument.Option{Accepted: "a key that has not signed a head of this ledger; this key has, so it goes on with its state file, or is replaced if that was lost"}).Refuse("new", "true")
	}
	return nil
}

// signAll signs the last head of other validators, and a head of the whole log, which may have to wait for them.
func (s *headSigning) signAll(ctx context.Context, k *head.Keeper) error {
	to, err := k.Store.State(ctx)
	for err == nil {
		if _, err = k.Sign(ctx); err != nil {
			break
		}
		var last head.Head
		if last, err = head.ParseSigned(k.Signer.Last()); last.Size > to.Last {
			break
		}
		select {
		case <-ctx.Done():
			err = context.Cause(ctx)
		case <-time.After(head.DefaultInterval):
		}
	}
	return err
}

// accuse writes both heads of a contradiction, since the ledger keeps the one of others only until they replace it.
func (s *headSigning) accuse(err error) error {
	if c, ok := errors.AsType[*head.Contradiction](err); ok {
		_, failed := io.WriteString(s.stdout, c.Text())
		return errors.Join(err, failed)
	}
	return err
}

// report writes which head was signed last, and how many validators have signed it.
func (s *headSigning) report(ctx context.Context, v *validated, signer *head.Signer) error {
	id, rules := v.Genesis().ID(), v.policy()
	must := rules.HeadThreshold
	rules.HeadThreshold = 1 // so that Open tells who has signed, also if they are too few
	own, err := head.Open(signer.Last(), id, rules)
	if err != nil {
		return err
	}
	stored, err := v.Proposed(ctx)
	if err != nil {
		return err
	}
	if o, err := head.Open(stored, id, rules); err == nil && o.Head == own.Head {
		own.Validators = o.Validators
	}
	_, err = fmt.Fprintf(s.stdout, "signed: %d leaves, root %v, at %s; %d of %d validators have signed, %d must\n",
		own.Size, tlog.Hash(own.Root), own.Time.Format(time.RFC3339), len(own.Validators), len(rules.Validators), must)
	return err
}

// validated is a ledger whose requests are validated, as long as the key is one of its validators'.
type validated struct {
	ledger.Store
	policy func() *token.Policy // the current one
	key    identity.Identity
}

// State implements ledger.Store. It returns an error if the key is not a validator's under the current policy.
func (v *validated) State(ctx context.Context) (ledger.State, error) {
	s, err := v.Store.State(ctx)
	if err != nil {
		return s, err
	}
	if p := v.policy(); !slices.ContainsFunc(headKeys(p), func(id []byte) bool { return string(id) == string(v.key) }) {
		return s, fmt.Errorf("%w: %s is no validator of policy %d", zkbench.ErrPolicy, head.KeyName(publicKey(v.key)), p.Version)
	}
	return s, nil
}

// headKeys returns the validators' keys for heads as identities.
func headKeys(p *token.Policy) [][]byte {
	all := make([][]byte, len(p.Validators))
	for i, v := range p.Validators {
		all[i] = append([]byte{byte(identity.TypeEd25519)}, v.HeadKey[:]...)
	}
	return all
}

// publicKey returns the key of an Ed25519 identity.
func publicKey(id identity.Identity) [ed25519.PublicKeySize]byte {
	return [ed25519.PublicKeySize]byte(id[1:])
}

// noValidators adds to an error about a policy without validators how they are named.
func noValidators(err error) error {
	return fmt.Errorf("%w; zkbench policy new --validator names them by an update, and a head that they sign covers older requests too", err)
}

// unsigned adds to an error about a head that is missing, or that too few validators have signed, how they sign.
func unsigned(err error) error {
	_, few := errors.AsType[*head.ThresholdError](err)
	_, uncovered := errors.AsType[*receipt.HeadError](err)
	if few || uncovered || errors.Is(err, head.ErrNoHead) {
		return fmt.Errorf("%w; they sign with zkbench ledger sign", err)
	}
	return err
}
