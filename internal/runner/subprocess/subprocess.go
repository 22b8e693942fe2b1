// Package subprocess runs programs that are measured. It reports the time, memory and I/O that a
// program used together with all the processes that it started. When the program has ended, the
// package kills the processes that the program left behind.
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

// Command says which program to run, and how.
type Command struct {
	Argv []string // the program and its arguments
	Dir  string
	Env  []string // KEY=value, in addition to Environ
	// Environ is the base of the program's environment; nil means the environment of this
	// process.
	Environ []string
	Limit   Limits
}

// Limits bound what a program may use; 0 means no limit. A program that exceeds a limit is
// killed. Memory and Written are checked ten times per second, and more often at first. These two
// limits apply to all processes of the program if it has a control group, and otherwise only to
// its first process.
type Limits struct {
	Output  int64  // B of standard output that Run keeps
	Memory  uint64 // B, resident
	Written uint64 // B written to files, pipes and standard output
}

const (
	watchEvery = 100 * time.Millisecond
	// messages is the number of bytes that are kept of a program's standard error.
	messages = 16 << 10
	// drained is how long Wait waits for output after a program has ended. Processes that it
	// left behind may hold its output open.
	drained = time.Second
)

// Use says what a program used, together with the descendants that it waited for.
type Use struct {
	Wall          time.Duration
	User, System  time.Duration // processor time
	PeakRSS       uint64        // B, of the program's largest process; 0: not known
	GroupPeak     uint64        // B, of all processes together with their page cache; 0: there is no control group
	Read, Written uint64        // B, from and to disks
	Left          int           // processes that still ran when the program had ended, and were killed
}

// CPU returns the processor time, User + System.
func (u Use) CPU() time.Duration { return u.User + u.System }

// ExitError says that a program failed: its exit status was not 0, or a signal killed it.
type ExitError struct {
	Program string
	State   string   // for example exit status 3
	Killed  bool     // by a signal
	Message string   // first line of standard error with a message, as Tail.Message returns it
	Lines   []string // last lines of standard error
}

// Error returns the program's name, its state and its message. If there is no message and SIGKILL
// ended the program, Error adds that memory may have run out.
func (e *ExitError) Error() string {
	if e.Message == "" && e.State != killed {
		return fmt.Sprintf("%s: %s", e.Program, e.State)
	}
	return fmt.Sprintf("%s: %s: %s", e.Program, e.State, Cause(e.State, e.Message))
}

// killed is the state of a program that SIGKILL ended.
const killed = "signal: killed"

// Cause returns the reason why a program failed, for an error's text. The parameter message is
// the program's own message. If it is not empty, Cause returns it. Otherwise Cause returns "no
// message". If the parameter state says that SIGKILL ended the program, the text adds that memory
// may have run out.
func Cause(state, message string) string {
	switch {
	case message != "":
		return message
	case state == killed:
		return "no message; the system may have killed it because memory ran out"
	}
	return "no message"
}

// Process is a program that was started. Call Wait to release its resources.
type Process struct {
	Stdin  *os.File
	Stdout *os.File // what the program writes; read it to its end before Wait

	cmd     *exec.Cmd
	limit   Limits
	begun   time.Time
	mark    uint64 // B, peak resident set of this process when the program began
	stderr  *Tail
	drains  []drain
	group   *group
	watched watch
	marked  atomic.Uint64 // watched.mark
	stop    chan struct{} // closed when the program has ended
	done    chan struct{} // closed when watch has ended
	beyond  atomic.Pointer[zkbench.LimitError]
}

// Start starts a program. When ctx ends, the program and everything that it started is killed.
// Start returns an *argument.ValueError if the program or its directory does not exist.
func Start(ctx context.Context, c Command) (*Process, error) { return start(ctx, c, nil) }

// start starts a program that writes to out, if out is not nil.
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
	InGroup(p.cmd)
	var err error
	var input *os.File
	if input, p.Stdin, err = os.Pipe(); err != nil {
		return nil, err
	}
	p.cmd.Stdin = input
	defer input.Close() // the program has a copy
	stderr, its, err := os.Pipe()
	if err != nil {
		p.closePipes()
		return nil, err
	}
	p.cmd.Stderr = its
	defer its.Close()
	p.Stdout, its, err = os.Pipe()
	if err != nil {
		p.closePipes()
		stderr.Close()
		return nil, err
	}
	p.cmd.Stdout = its
	defer its.Close()
	p.mark = ownMark()
	p.group = newGroup()
	p.begun = time.Now()
	if err := p.cmd.Start(); err != nil {
		p.closePipes()
		stderr.Close()
		p.group.remove()
		return nil, notStarted(c, err)
	}
	p.drain(stderr, p.stderr)
	if out != nil {
		out.process = p
		p.drain(p.Stdout, out)
		p.Stdout = nil
	}
	p.group.add(p.cmd.Process.Pid)
	go p.watch()
	return p, nil
}

// drain starts a goroutine that copies what the program writes, up to its end.
func (p *Process) drain(from *os.File, to io.Writer) {
	done := make(chan struct{})
	p.drains = append(p.drains, drain{from, done})
	go func() {
		defer close(done)
		_, _ = io.Copy(to, from)
	}()
}

// drain is an output of the program that is being copied.
type drain struct {
	from *os.File
	done chan struct{}
}

// notStarted returns the error for a program that could not be started.
func notStarted(c Command, err error) error {
	switch {
	case c.Dir != "" && !isDir(c.Dir): // the system would say that the program does not exist
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

// watch checks the program against its limits until it ends.
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

// pids returns the program's processes as far as they are known.
func (p *Process) pids() []int {
	if members := p.group.members(); len(members) > 0 {
		return members
	}
	return []int{p.cmd.Process.Pid}
}

// exceeds records that the program exceeds a limit, and kills it.
func (p *Process) exceeds(what string, is, most int64) {
	p.beyond.CompareAndSwap(nil, &zkbench.LimitError{What: what + " of " + p.cmd.Args[0], Estimate: is, Max: most})
	p.kill()
}

// kill kills all processes of the program.
func (p *Process) kill() {
	p.group.kill()
	killGroup(p.cmd.Process)
}

// Kill kills the program and everything that it started. Wait must be called afterwards.
func (p *Process) Kill() { p.kill() }

// Look says what a running program has used so far. Fields that the platform does not report
// are 0.
type Look struct {
	User, System time.Duration // processor time; that of children that it waited for comes in ticks of 10 ms
	Resident     uint64        // B, of all its processes
	PeakRSS      uint64        // B, of its largest process
}

// Look returns what the running program has used so far.
func (p *Process) Look() Look {
	var now watch
	now.look(p.pids())
	return Look{now.user, now.system, now.resident, max(now.mark, p.marked.Load())}
}

// PID returns the process ID of the program's first process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

func (p *Process) closePipes() {
	p.Stdin.Close()
	if p.Stdout != nil {
		p.Stdout.Close()
	}
}

// Wait waits until the program has ended, then kills the processes that it left behind. The
// caller must have read all of Stdout before it calls Wait. Wait returns a *zkbench.LimitError if
// the program exceeded a limit, the cause of ctx if ctx has ended, and an *ExitError if the
// program failed.
func (p *Process) Wait(ctx context.Context) (Use, error) {
	err := p.cmd.Wait()
	use := Use{Wall: time.Since(p.begun)}
	open, cancel := context.WithTimeout(context.WithoutCancel(ctx), drained)
	defer cancel()
	for _, d := range p.drains {
		select {
		case <-d.done:
		case <-open.Done(): // a process that the program left behind holds the output open
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
		use.Left = 0 // the program did not end by itself
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

// Run runs a program to its end and returns its standard output. If Start returns an error, Run
// returns this error. If Wait returns an error, Run returns the output so far together with this
// error.
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

// output keeps a program's standard output, up to a limit.
type output struct {
	process *Process
	limit   int64
	buf     []byte
}

func (o *output) Write(b []byte) (int, error) {
	if n := int64(len(o.buf) + len(b)); o.limit > 0 && n > o.limit {
		o.process.exceeds("bytes on standard output", n, o.limit)
		return 0, io.ErrShortWrite
	}
	o.buf = append(o.buf, b...)
	return len(b), nil
}

// Tail is an io.Writer that keeps the last bytes written to it. It keeps the message of a crash
// in a bounded amount of memory.
type Tail struct {
	Limit int // minimum number of bytes to keep; up to twice as many are kept, so that writes rarely move them
	buf   []byte
}

// Write adds b to the bytes that t keeps. It never fails.
func (t *Tail) Write(b []byte) (int, error) {
	t.buf = append(t.buf, b...)
	if len(t.buf) > 2*t.Limit {
		t.buf = append(t.buf[:0], t.buf[len(t.buf)-t.Limit:]...)
	}
	return len(b), nil
}

// Bytes returns the bytes that t keeps. They are valid until the next Write.
func (t *Tail) Bytes() []byte { return t.buf }

// Message returns the first kept line that has a message. After a crash, this line gives the
// reason. Message returns an empty string if there is no such line. It skips lines in which the go
// command only names a package ("# path") or a download.
func (t *Tail) Message() string {
	for _, line := range t.Lines() {
		if !strings.HasPrefix(line, "# ") && !strings.HasPrefix(line, "go: downloading ") {
			return line
		}
	}
	return ""
}

// Printable removes from text what a terminal must not receive from a child process: every
// character that is not printable, for example escape sequences that move the cursor. Line feeds
// and tabs stay.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) || r == '\n' || r == '\t' {
			return r
		}
		return -1
	}, text)
}

// Lines returns the kept lines that are not empty, made printable and trimmed of white space.
func (t *Tail) Lines() (all []string) {
	for line := range strings.Lines(string(t.buf)) {
		if line = strings.TrimSpace(Printable(line)); line != "" {
			all = append(all, line)
		}
	}
	return all
}
