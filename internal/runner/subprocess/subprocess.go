// Package subprocess runs programs that are measured, and tells what each took of the machine with all
// the processes that it started. What it leaves behind is ended with it.
package subprocess

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/input/argument"
)

// Command is what is run.
type Command struct {
	Argv []string
	Dir  string
	Env  []string // KEY=value, beside what Environ has
	// Environ is the environment that it begins with; nil: this process'.
	Environ []string
	Limit   Limits
}

// Limits end a program that goes beyond them; 0: none. They are looked at ten
// times a second, more often at first, and hold for all its processes where it has a control group, else for the first of them.
type Limits struct {
	Output  int64  // B of standard output that are kept
	Memory  uint64 // B, resident
	Written uint64 // B that it writes, to files, pipes and standard output
}

const (
	watchEvery = 100 * time.Millisecond
	// messages is how much is kept of what a program writes to standard error.
	messages = 16 << 10
	// drained is how long output is waited for after a program has ended: what it left behind
	// may hold it open.
	drained = time.Second
)

// Use is what a program took, with all its descendants that it waited for.
type Use struct {
	Wall          time.Duration
	User, System  time.Duration // processor time
	PeakRSS       uint64        // B, of the greatest of its processes; 0: not told
	GroupPeak     uint64        // B, of all at once, files in the page cache included, by its control group; 0: it has none
	Read, Written uint64        // B, from and to disks
	Left          int           // processes that were there when it had ended, and were killed
}

// CPU is the processor time.
func (u Use) CPU() time.Duration { return u.User + u.System }

// ExitError is a program that ended badly.
type ExitError struct {
	Program string
	State   string   // for example exit status 3
	Killed  bool     // by a signal
	Message string   // the first line that it wrote to standard error; empty: none
	Lines   []string // of standard error, the last ones
}

func (e *ExitError) Error() string {
	if e.Message == "" && e.State != killed {
		return fmt.Sprintf("%s: %s", e.Program, e.State)
	}
	return fmt.Sprintf("%s: %s: %s", e.Program, e.State, Cause(e.State, e.Message))
}

// killed is the state of a program that was ended by a signal which it cannot handle.
const killed = "signal: killed"

// Cause returns the message of a program that ended badly. Of one that says nothing it says that, and what may
// have killed it: the system kills what takes too much memory in this way.
func Cause(state, message string) string {
	switch {
	case message != "":
		return message
	case state == killed:
		return "no message; the system may have killed it because memory ran out"
	}
	return "no message"
}

// Process is a program that runs.
type Process struct {
	Stdin  *os.File
	Stdout *os.File // what it writes, to be read up to its end before Wait

	cmd     *exec.Cmd
	limit   Limits
	begun   time.Time
	mark    uint64 // B, this process' own greatest resident set when the program began
	stderr  *Tail
	drains  []drain
	group   *group
	watched watch
	marked  atomic.Uint64 // watched.mark
	stop    chan struct{} // closed when the program has ended
	done    chan struct{} // closed when nobody watches it any more
	beyond  atomic.Pointer[zkbench.LimitError]
}

// Start starts a program. When ctx ends it is killed, with all that it started. The error is a
// *argument.ValueError where there is no such program.
func Start(ctx context.Context, c Command) (*Process, error) { return start(ctx, c, nil) }

// start has the program write to out, where that is not nil.
func start(ctx context.Context, c Command, out *output) (*Process, error) {
	if len(c.Argv) == 0 {
		return nil, &argument.ValueError{Field: "command", Value: "", Accepted: "a program and its arguments"}
	}
	adopt()
	p := &Process{
		cmd: exec.CommandContext(ctx, c.Argv[0], c.Argv[1:]...), limit: c.Limit,
		stderr: &Tail{Limit: messages}, stop: make(chan struct{}), done: make(chan struct{}),
	}
	p.cmd.Dir = c.Dir
	if p.cmd.Env = slices.Concat(c.Environ, c.Env); c.Environ == nil {
		p.cmd.Env = append(os.Environ(), c.Env...)
	}
	p.cmd.Cancel = func() error { p.kill(); return nil }
	inGroup(p.cmd)
	var err error
	var input *os.File
	if input, p.Stdin, err = os.Pipe(); err != nil {
		return nil, err
	}
	p.cmd.Stdin = input
	defer input.Close() // the program has it then
	said, its, err := os.Pipe()
	if err != nil {
		p.closePipes()
		return nil, err
	}
	p.cmd.Stderr = its
	defer its.Close()
	p.Stdout, its, err = os.Pipe()
	if err != nil {
		p.closePipes()
		said.Close()
		return nil, err
	}
	p.cmd.Stdout = its
	defer its.Close()
	p.mark = ownMark()
	p.group = newGroup()
	p.begun = time.Now()
	if err := p.cmd.Start(); err != nil {
		p.closePipes()
		said.Close()
		p.group.remove()
		return nil, notStarted(c, err)
	}
	p.drain(said, p.stderr)
	if out != nil {
		out.of = p
		p.drain(p.Stdout, out)
		p.Stdout = nil
	}
	p.group.add(p.cmd.Process.Pid)
	go p.watch()
	return p, nil
}

// drain copies what the program writes, up to the end of it.
func (p *Process) drain(from *os.File, to io.Writer) {
	done := make(chan struct{})
	p.drains = append(p.drains, drain{from, done})
	go func() {
		defer close(done)
		_, _ = io.Copy(to, from)
	}()
}

// drain is an output that is copied.
type drain struct {
	from *os.File
	done chan struct{}
}

// notStarted is the error of a program that could not be started.
func notStarted(c Command, err error) error {
	switch {
	case c.Dir != "" && !isDir(c.Dir): // which the system says of the program
		return &argument.ValueError{Field: "directory of " + c.Argv[0], Value: c.Dir, Accepted: "a directory that exists"}
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return &argument.ValueError{Field: "command", Value: c.Argv[0], Accepted: "a program in the PATH, or the path of one"}
	}
	return fmt.Errorf("%w: start %s: %w", zkbench.ErrEnv, c.Argv[0], err)
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// watch holds the limits against the program until it ends.
func (p *Process) watch() {
	defer close(p.done)
	for wait := time.Millisecond; ; wait = min(2*wait, watchEvery) {
		select {
		case <-p.stop:
			return
		case <-time.After(wait):
		}
		p.watched.look(p.pids())
		p.marked.Store(p.watched.mark)
		for _, l := range []struct {
			what      string
			is, limit uint64
		}{{"bytes of memory", p.watched.resident, p.limit.Memory}, {"bytes written", p.watched.written, p.limit.Written}} {
			if l.limit > 0 && l.is > l.limit {
				p.exceeds(l.what, int64(l.is), int64(l.limit))
				return
			}
		}
	}
}

// pids are the program's processes, as far as they are known.
func (p *Process) pids() []int {
	if members := p.group.members(); len(members) > 0 {
		return members
	}
	return []int{p.cmd.Process.Pid}
}

// exceeds kills a program that is beyond a limit.
func (p *Process) exceeds(what string, is, most int64) {
	p.beyond.CompareAndSwap(nil, &zkbench.LimitError{What: what + " of " + p.cmd.Args[0], Estimate: is, Max: most})
	p.kill()
}

// kill ends all processes of the program.
func (p *Process) kill() {
	p.group.kill()
	killGroup(p.cmd.Process)
}

// Kill ends the program, with all that it started. Wait is called all the same.
func (p *Process) Kill() { p.kill() }

// Look is what a program that runs has taken by now, as far as it is told.
type Look struct {
	User, System time.Duration // processor time; of children that it waited for, in ticks of 10 ms
	Resident     uint64        // B, of all its processes
	PeakRSS      uint64        // B, of the greatest of its processes
}

// Look looks at a program that runs.
func (p *Process) Look() Look {
	var now watch
	now.look(p.pids())
	return Look{now.user, now.system, now.resident, max(now.mark, p.marked.Load())}
}

// PID is the number of its first process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

func (p *Process) closePipes() {
	p.Stdin.Close()
	if p.Stdout != nil {
		p.Stdout.Close()
	}
}

// Wait waits for the program's end, and for that of what it left behind, which it kills. The
// error is a *zkbench.LimitError, an *ExitError or the context's cause. All of Stdout is to be
// read before.
func (p *Process) Wait(ctx context.Context) (Use, error) {
	err := p.cmd.Wait()
	use := Use{Wall: time.Since(p.begun)}
	open, cancel := context.WithTimeout(context.WithoutCancel(ctx), drained)
	defer cancel()
	for _, d := range p.drains {
		select {
		case <-d.done:
		case <-open.Done(): // what it left behind holds its output open
		}
		d.from.Close()
		<-d.done
	}
	close(p.stop)
	<-p.done
	p.closePipes()
	use.Left = p.group.end()
	if endGroup(p.cmd.Process) && use.Left == 0 {
		use.Left = 1 // at least
	}
	fillUse(&use, p.cmd.ProcessState, p.mark, p.watched.mark)
	p.group.fill(&use)
	p.group.remove()
	beyond := p.beyond.Load()
	if beyond != nil || ctx.Err() != nil {
		use.Left = 0 // it did not end by itself
	}
	switch {
	case beyond != nil:
		return use, beyond
	case ctx.Err() != nil:
		return use, context.Cause(ctx)
	case err != nil:
		return use, &ExitError{Program: p.cmd.Args[0], State: p.cmd.ProcessState.String(), Killed: !p.cmd.ProcessState.Exited(), Message: p.stderr.Message(), Lines: p.stderr.Lines()}
	}
	return use, nil
}

// Run runs a program to its end and returns its standard output.
func Run(ctx context.Context, c Command) ([]byte, Use, error) {
	out := &output{limit: c.Limit.Output}
	p, err := start(ctx, c, out)
	if err != nil {
		return nil, Use{}, err
	}
	p.Stdin.Close()
	use, err := p.Wait(ctx)
	return out.buf, use, err
}

// output is a program's standard output, up to a limit.
type output struct {
	of    *Process
	limit int64
	buf   []byte
}

func (o *output) Write(b []byte) (int, error) {
	if n := int64(len(o.buf) + len(b)); o.limit > 0 && n > o.limit {
		o.of.exceeds("bytes on standard output", n, o.limit)
		return 0, io.ErrShortWrite
	}
	o.buf = append(o.buf, b...)
	return len(b), nil
}

// Tail keeps the last bytes that were written to it, so that the message of a crash is at hand
// and a chatty program does no harm.
type Tail struct {
	Limit int // bytes at least; up to twice as many are kept, so that not every write moves all
	buf   []byte
}

func (t *Tail) Write(b []byte) (int, error) {
	t.buf = append(t.buf, b...)
	if len(t.buf) > 2*t.Limit {
		t.buf = append(t.buf[:0], t.buf[len(t.buf)-t.Limit:]...)
	}
	return len(b), nil
}

// Bytes are what it keeps.
func (t *Tail) Bytes() []byte { return t.buf }

// Message is the first line that says something, which in a crash is the reason; empty: none does.
// The go command heads the errors of a package with its path.
func (t *Tail) Message() string {
	for _, line := range t.Lines() {
		if !strings.HasPrefix(line, "# ") && !strings.HasPrefix(line, "go: downloading ") {
			return line
		}
	}
	return ""
}

// Printable is a text of a child as it may stand on a terminal: what is no character to be seen,
// such as what moves the cursor, is left out.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) || r == '\n' || r == '\t' {
			return r
		}
		return -1
	}, text)
}

// Lines are those that say something.
func (t *Tail) Lines() (all []string) {
	for line := range strings.Lines(string(t.buf)) {
		if line = strings.TrimSpace(Printable(line)); line != "" {
			all = append(all, line)
		}
	}
	return all
}
