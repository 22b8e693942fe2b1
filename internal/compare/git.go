package compare

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/child"
	"github.com/zkbench/zkbench/internal/counts"
	"github.com/zkbench/zkbench/internal/figure"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/usage"
)

// Work names the working tree as it is, where a revision is expected.
const Work = "WORK"

// RangeAccepted says in words what ParseRange takes.
const RangeAccepted = "REV1..REV2, for example HEAD~1..HEAD; " + Work + " stands for the working tree as it is"

// ParseRange splits REV1..REV2. The error is a *usage.ValueError.
func ParseRange(text string) (from, to string, err error) {
	from, to, two := strings.Cut(text, "..")
	if !two || from == "" || to == "" || strings.HasPrefix(to, ".") || strings.Contains(to, "..") {
		return "", "", &usage.ValueError{Field: "git", Value: text, Accepted: RangeAccepted}
	}
	return from, to, nil
}

// Repository is a git repository that revisions are built from. It is never changed, but for
// worktrees that exist while they are needed.
type Repository struct {
	root string
	here string // the current directory, relative to the root
}

// OpenRepository returns the repository that the current directory is in, or a
// zkbench.ErrEnv.
func OpenRepository(ctx context.Context) (Repository, error) {
	root, err := Repository{}.git(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return Repository{}, fmt.Errorf("%w: git: %w; accepted: a directory inside a clone", zkbench.ErrEnv, err)
	}
	here, err := Repository{}.git(ctx, "rev-parse", "--show-prefix")
	if err != nil {
		return Repository{}, fmt.Errorf("%w: git: %w", zkbench.ErrEnv, err)
	}
	return Repository{root, filepath.FromSlash(here)}, nil
}

// Revision is a state of the repository that exists.
type Revision struct {
	Name   string // as it was given
	Commit string // with figure.Dirty where the working tree differs from it
}

// Resolve finds the commit of a revision. The error is a *usage.ValueError.
func (r Repository) Resolve(ctx context.Context, name string) (Revision, error) {
	rev := name
	if name == Work {
		rev = "HEAD"
	}
	commit, err := r.git(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", rev+"^{commit}")
	if err != nil {
		return Revision{}, &usage.ValueError{Field: "git", Value: name, Accepted: "a revision of this repository, or " + Work}
	}
	if name == Work {
		changes, err := r.git(ctx, "status", "--porcelain")
		if err != nil {
			return Revision{}, fmt.Errorf("%w: git status: %w", zkbench.ErrEnv, err)
		}
		if changes != "" {
			commit += figure.Dirty
		}
	}
	return Revision{Name: name, Commit: commit}, nil
}

// String names the revision in tables, HEAD~1 5019ef6.
func (v Revision) String() string {
	commit := figure.Commit(v.Commit)
	if strings.HasPrefix(v.Commit, v.Name) {
		return commit
	}
	return v.Name + " " + commit
}

// worktreeTime is more than git needs to make or remove a worktree. Both are let
// finish when the comparison is interrupted, so that nothing is left behind.
const worktreeTime = time.Minute

// Build builds the main package of a revision as the file program. Paths and revisions are
// kept out of it, so that like sources make like programs. Progress goes to log, one line.
func (r Repository) Build(ctx context.Context, v Revision, main Main, program string, log io.Writer) error {
	fmt.Fprintf(log, "building %s\n", v)
	return r.in(ctx, []Revision{v}, func(trees []string) error {
		dir, err := main.in(v, trees[0])
		if err != nil {
			return err
		}
		return build(ctx, v, dir, program)
	})
}

// BuildCounting builds the main package of a revision as a program that counts, and returns
// what it counts.
func (r Repository) BuildCounting(ctx context.Context, v Revision, main Main, program string, log io.Writer) (index *counts.Index, err error) {
	fmt.Fprintf(log, "building %s to count\n", v)
	err = r.in(ctx, []Revision{v}, func(trees []string) error {
		dir, err := main.in(v, trees[0])
		if err != nil {
			return err
		}
		if err := build(ctx, v, dir, program, counts.BuildFlags(main.Module)...); err != nil {
			return err
		}
		index, err = counts.NewIndex(ctx, dir)
		return err
	})
	return index, err
}

// build builds the package that lies in the directory, with further flags.
func build(ctx context.Context, v Revision, dir, program string, flags ...string) error {
	args := append([]string{"build", "-trimpath", "-buildvcs=false", "-o", program}, flags...)
	cmd := exec.CommandContext(ctx, "go", append(args, ".")...)
	cmd.Dir = dir
	if _, err := output(cmd); err != nil {
		return notBuilt(v, err)
	}
	return nil
}

func notBuilt(v Revision, err error) error {
	return fmt.Errorf("%w: %s does not build: %w", zkbench.ErrEnv, v, err)
}

// in calls do with the trees of revisions: worktrees of their own that are removed again, at
// paths of one length, or, of Work, the repository's.
func (r Repository) in(ctx context.Context, revs []Revision, do func(trees []string) error) (err error) {
	dir, err := os.MkdirTemp("", "zkbench-compare-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	whole, cancel := context.WithTimeout(context.WithoutCancel(ctx), worktreeTime)
	defer cancel()
	var trees []string
	for i, v := range revs {
		tree := r.root
		if v.Name != Work {
			tree = filepath.Join(dir, strconv.Itoa(i+1))
			defer func() { err = errors.Join(err, r.removeWorktree(ctx, tree)) }()
			if _, err := r.git(whole, "worktree", "add", "--quiet", "--detach", tree, v.Commit); err != nil {
				return fmt.Errorf("%w: %s: git worktree: %w", zkbench.ErrEnv, v, err)
			}
		}
		trees = append(trees, tree)
	}
	return do(trees)
}

// hereIn is what the current directory is in a tree of the revision.
func (r Repository) hereIn(v Revision, tree string) (string, error) {
	dir := filepath.Join(tree, r.here)
	if _, err := os.Stat(dir); err != nil {
		return "", fmt.Errorf("%w: %s has no directory %s; accepted: a directory of both revisions", zkbench.ErrEnv, v, r.here)
	}
	return dir, nil
}

func (r Repository) removeWorktree(ctx context.Context, tree string) error {
	if _, err := os.Stat(tree); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	whole, cancel := context.WithTimeout(context.WithoutCancel(ctx), worktreeTime)
	defer cancel()
	if _, err := r.git(whole, "worktree", "remove", "--force", tree); err != nil {
		return fmt.Errorf("%w: git worktree remove: %w", zkbench.ErrEnv, err)
	}
	return nil
}

func (r Repository) git(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = r.root
	return output(cmd)
}

// mostMessages is how much is kept of what a command writes to standard error.
const mostMessages = 64 << 10

// output runs a command and returns what it wrote, without space around it. The
// error is the first line of its messages that tells a reason.
func output(cmd *exec.Cmd) (string, error) {
	var out bytes.Buffer
	messages := &child.Tail{Limit: mostMessages}
	cmd.Stdout, cmd.Stderr = &out, messages
	measure.Interruptible(cmd, 5*time.Second)
	err := cmd.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); exited && messages.Message() != "" {
		return "", errors.New(messages.Message())
	}
	return strings.TrimSpace(out.String()), err
}
