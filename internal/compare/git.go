package compare

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/compare/gitenv"
	"github.com/zkbench/zkbench/internal/compare/opcount"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/runner/subprocess"
	"github.com/zkbench/zkbench/internal/workload/guestprogram"
)

// Work stands for the working tree wherever the name of a revision is accepted.
const Work = "WORK"

// RangeAccepted tells the user which texts ParseRange accepts.
const RangeAccepted = "REV1..REV2, for example HEAD~1..HEAD; " + Work + " is the working tree"

// ParseRange splits a text of the form REV1..REV2 into its two revisions. It returns an
// *argument.ValueError if text does not have that form.
func ParseRange(text string) (from, to string, err error) {
	from, to, two := strings.Cut(text, "..")
	if !two || from == "" || to == "" || strings.HasPrefix(to, ".") || strings.Contains(to, "..") {
		return "", "", &argument.ValueError{Field: "git", Value: text, Accepted: RangeAccepted}
	}
	return from, to, nil
}

// Repository is a git repository whose revisions can be built: the one that contains the current
// directory. Environment variables may name another repository, as they do in a git hook; they are
// ignored. Its methods do not change the repository, except that they add worktrees to it and
// remove them when they are no longer needed.
type Repository struct {
	root string
	here string // the current directory, relative to the root
}

// OpenRepository returns the repository that contains the current directory. It returns
// zkbench.ErrEnv if there is none.
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

// Revision is a commit of a Repository, or its working tree.
type Revision struct {
	Name   string // as the user gave it
	Commit string // its hash, followed by format.Dirty if the working tree differs from it
}

// Resolve returns the revision with the given name and its commit. It returns an
// *argument.ValueError if the repository has no such revision.
func (r Repository) Resolve(ctx context.Context, name string) (Revision, error) {
	rev := name
	if name == Work {
		rev = "HEAD"
	}
	commit, err := r.git(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", rev+"^{commit}")
	if err != nil {
		accepted := "a revision of this repository, or " + Work
		if shallow, err := r.git(ctx, "rev-parse", "--is-shallow-repository"); err == nil && shallow == "true" {
			accepted += "; this is a shallow clone, and git fetch --unshallow gets all revisions (actions/checkout: fetch-depth: 0)"
		}
		return Revision{}, &argument.ValueError{Field: "git", Value: name, Accepted: accepted}
	}
	if name == Work {
		changes, err := r.git(ctx, "status", "--porcelain")
		if err != nil {
			return Revision{}, fmt.Errorf("%w: git status: %w", zkbench.ErrEnv, err)
		}
		if changes != "" {
			commit += format.Dirty
		}
	}
	return Revision{Name: name, Commit: commit}, nil
}

// String returns the text for the revision in tables, for example HEAD~1 5019ef6.
func (v Revision) String() string {
	commit := format.Commit(v.Commit)
	if strings.HasPrefix(v.Commit, v.Name) {
		return commit
	}
	return v.Name + " " + commit
}

// worktreeTime limits how long git may take to remove a worktree. It may finish that even if the
// comparison is interrupted.
const worktreeTime = time.Minute

// Build builds a program's main package as it is in the revision v, and writes the executable to
// the file at the given path (program). The executable contains neither paths nor the revision, so
// equal sources give equal executables. If the program has guest programs (Main.Guests), Build
// builds them beside the executable. Build writes one line of progress to log.
func (r Repository) Build(ctx context.Context, v Revision, main Main, program string, log io.Writer) error {
	fmt.Fprintf(log, "building %s\n", v)
	return r.withTrees(ctx, []Revision{v}, func(trees []string) error {
		dir, err := main.dirIn(v, trees[0])
		if err != nil {
			return err
		}
		if err := build(ctx, v, dir, program); err != nil {
			return err
		}
		return buildGuests(ctx, v, main, trees[0], program)
	})
}

// buildGuests builds the guests of a tree's program beside the program.
func buildGuests(ctx context.Context, v Revision, main Main, tree, program string) error {
	if main.Guests == "" {
		return nil
	}
	cmd := exec.CommandContext(ctx, "go", "run", main.Guests, guestprogram.Folder(program))
	cmd.Dir = tree
	if _, err := output(cmd); err != nil {
		return notBuilt(v, tree, err)
	}
	return nil
}

// BuildCounting is like Build, except that the executable counts the operations and statements that
// it executes (package opcount). BuildCounting returns the index with which these counts can be
// read.
func (r Repository) BuildCounting(ctx context.Context, v Revision, main Main, program string, log io.Writer) (index *opcount.Index, err error) {
	fmt.Fprintf(log, "building %s to count\n", v)
	err = r.withTrees(ctx, []Revision{v}, func(trees []string) error {
		dir, err := main.dirIn(v, trees[0])
		if err != nil {
			return err
		}
		if err := build(ctx, v, dir, program, opcount.BuildFlags(main.Module)...); err != nil {
			return err
		}
		if err := buildGuests(ctx, v, main, trees[0], program); err != nil {
			return err
		}
		index, err = opcount.NewIndex(ctx, dir)
		return err
	})
	return index, err
}

// build builds the package in a directory, with further flags.
func build(ctx context.Context, v Revision, dir, program string, flags ...string) error {
	fresh := program + freshSuffix
	args := append([]string{"build", "-trimpath", "-buildvcs=false", "-o", fresh}, flags...)
	cmd := exec.CommandContext(ctx, "go", append(args, ".")...)
	cmd.Dir = dir
	if _, err := output(cmd); err != nil {
		return notBuilt(v, dir, err)
	}
	return settle(fresh, program)
}

// freshSuffix is the file name suffix of a program as the linker wrote it.
const freshSuffix = ".fresh"

// settle moves a new program to its final path by copying it, as the third side is copied. How a
// file was written decides where it is in memory, which changes its speed.
func settle(fresh, program string) error {
	return errors.Join(copyProgram(fresh, program), os.Remove(fresh))
}

// notBuilt returns the error for a revision that does not build in a folder of its worktree.
func notBuilt(v Revision, dir string, err error) error {
	return fmt.Errorf("%w: %s does not build: %w%s", zkbench.ErrEnv, v, err, lacksSubmodules(dir))
}

// lacksSubmodules says that a worktree has no submodules, if the revision of the worktree with this folder has some. It
// returns "" otherwise.
func lacksSubmodules(dir string) string {
	for above := ""; dir != above; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, ".gitmodules")); err == nil {
			return "; the revision has submodules, which its worktree lacks: with --bench or --run, --build 'git submodule update --init' gets them"
		}
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			break // the root of the worktree
		}
		above = dir
	}
	return ""
}

// withTrees calls do with a worktree for each revision and removes them afterwards. Their paths
// have the same length. The tree of Work is the last commit with the changes since, except files
// that git ignores.
func (r Repository) withTrees(ctx context.Context, revs []Revision, do func(trees []string) error) (err error) {
	dir, err := os.MkdirTemp("", "zkbench-compare-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if dir, err = filepath.Abs(dir); err != nil { // git runs in another directory
		return err
	}
	var trees []string
	for i, v := range revs {
		tree := filepath.Join(dir, strconv.Itoa(i+1))
		defer func() { err = errors.Join(err, r.removeWorktree(ctx, tree)) }()
		commit := strings.TrimSuffix(v.Commit, format.Dirty)
		if _, err := r.git(ctx, "worktree", "add", "--quiet", "--detach", tree, commit); err != nil {
			return fmt.Errorf("%w: %s: git worktree: %w", zkbench.ErrEnv, v, err)
		}
		if v.Name == Work {
			if err := r.copyChanges(ctx, tree); err != nil {
				return fmt.Errorf("%w: %s: %w", zkbench.ErrEnv, v, err)
			}
		}
		trees = append(trees, tree)
	}
	return do(trees)
}

// copyChanges copies what differs from the last commit to a tree of that commit: new, changed and
// removed files. Files that git ignores and nested repositories are left out.
func (r Repository) copyChanges(ctx context.Context, tree string) error {
	changed, err := r.git(ctx, "diff", "--name-only", "--no-renames", "--ignore-submodules", "-z", "HEAD")
	if err != nil {
		return fmt.Errorf("git diff: %w", err)
	}
	untracked, err := r.git(ctx, "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return fmt.Errorf("git ls-files: %w", err)
	}
	for name := range strings.SplitSeq(changed+untracked, "\x00") {
		if name == "" || strings.HasSuffix(name, "/") {
			continue
		}
		from, to := filepath.Join(r.root, filepath.FromSlash(name)), filepath.Join(tree, filepath.FromSlash(name))
		if err := copyFile(from, to); err != nil {
			return err
		}
	}
	return nil
}

// copyFile copies a file or symbolic link with its mode. If from does not exist, it removes to.
func copyFile(from, to string) error {
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	info, err := os.Lstat(from)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || err == nil && info.IsDir() {
		return nil
	}
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o777)
	}
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	}
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, info.Mode().Perm())
}

// hereIn returns the directory in a tree of the revision that corresponds to the current one.
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
	// No hooks: they are for trees that somebody works in.
	cmd := exec.CommandContext(ctx, "git", append([]string{"-c", "core.hooksPath=" + os.DevNull}, args...)...)
	cmd.Dir = r.root
	return output(cmd)
}

// mostMessages is how many bytes of a command's standard error are kept.
const mostMessages = 64 << 10

// output runs a command and returns its output without the final line break. If the command fails,
// the error is the first of its messages that gives a reason.
func output(cmd *exec.Cmd) (string, error) {
	var out bytes.Buffer
	messages := &subprocess.Tail{Limit: mostMessages}
	cmd.Stdout, cmd.Stderr, cmd.Env = &out, messages, gitenv.Environ()
	measure.Interruptible(cmd, 5*time.Second)
	err := cmd.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); exited && messages.Message() != "" {
		return "", errors.New(messages.Message())
	}
	return strings.TrimRight(out.String(), "\r\n"), err
}
