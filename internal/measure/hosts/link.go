package hosts

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner/subprocess"
)

const (
	// mostNoise is the maximum number of bytes on the output that are not from Serve or the script.
	mostNoise = 64 << 10
	// greetingLimit is how long a host that was reached may take to greet. Copying the program
	// does not count.
	greetingLimit = time.Minute
	// answerSlack is how long after a job's deadline, which the host enforces, an answer may come.
	answerSlack = time.Minute
)

// conn is a connection to a host: its standard streams, and how to end it.
type conn struct {
	in   io.WriteCloser
	out  io.ReadCloser
	said *subprocess.Tail // on standard error
	kill func()           // ends it at once, and out with it
	wait func() string    // waits until it has ended and returns its exit state
}

// ssh connects to a host and runs a command there.
func ssh(host, command string) (*conn, error) {
	cmd := exec.Command("ssh", sshArgs(host, command)...)
	c := &conn{said: &subprocess.Tail{Limit: 64 << 10}}
	cmd.Stderr = c.said
	cmd.WaitDelay = time.Second // do not wait for other processes that hold our pipe
	var err error
	if c.out, err = cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	if c.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c.kill = func() {
		_ = cmd.Process.Kill()
		_ = c.out.Close() // another process may hold it, if ssh is a script
	}
	c.wait = func() string {
		_ = cmd.Wait()
		return cmd.ProcessState.String()
	}
	return c, nil
}

// link is a connection with Serve at the other end.
type link struct {
	*conn
	env record.Env // of the host

	lines *bufio.Reader    // of out
	noise *subprocess.Tail // of out, lines that are not from Serve or the script
	noisy int              // bytes of noise
	jobs  int              // sent so far

	writing sync.Mutex    // guards writes of jobs and heartbeats
	ended   chan struct{} // closed when the connection has ended
	state   string        // its exit state
	closing sync.Once
}

func newLink(c *conn) *link {
	return &link{conn: c, lines: bufio.NewReaderSize(c.out, mostNoise), noise: &subprocess.Tail{Limit: mostNoise}, ended: make(chan struct{})}
}

// dial connects to a host and first copies the program there if the host does not have it; copied
// reports whether it did. The error says in a line why the host cannot be used.
func dial(ctx context.Context, host string, p *Program) (l *link, copied bool, err error) {
	c, err := ssh(host, p.command())
	if err != nil {
		return nil, false, err
	}
	l = newLink(c)
	defer context.AfterFunc(ctx, l.kill)()
	if copied, err = l.open(p); err != nil {
		l.close()
		if ctx.Err() != nil {
			return nil, copied, context.Cause(ctx)
		}
		return nil, copied, l.why(err)
	}
	go l.sendBeats()
	return l, copied, nil
}

// open exchanges messages up to the greeting of Serve.
func (l *link) open(p *Program) (copied bool, err error) {
	words, err := l.next(greetingLimit)
	if err != nil {
		return false, err
	}
	state, where, _ := strings.Cut(string(words), " ")
	system, machine, _ := strings.Cut(where, " ")
	if err := runsHere(system, machine); err != nil {
		return false, err
	}
	switch state {
	case wants:
		if err := l.send(p); err != nil {
			return false, err
		}
		copied = true
	case has:
	default:
		return false, fmt.Errorf("it greets with %q", words)
	}
	if words, err = l.next(greetingLimit); err != nil {
		return copied, err
	}
	return copied, json.Unmarshal(words, &l.env)
}

// send copies the program to a host that wants it. It fails if the host accepts nothing for
// silenceLimit.
func (l *link) send(p *Program) error {
	late := time.AfterFunc(silenceLimit, l.kill)
	err := p.send(writerFunc(func(b []byte) (int, error) {
		n, err := l.in.Write(b)
		if err == nil {
			late.Reset(silenceLimit)
		}
		return n, err
	}))
	if !late.Stop() {
		return fmt.Errorf("it has accepted no part of the program for %v", silenceLimit)
	}
	return err
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// next returns the next line of the host. It fails if none comes within limit.
func (l *link) next(limit time.Duration) ([]byte, error) {
	late := time.AfterFunc(limit, l.kill)
	line, err := l.line()
	if !late.Stop() {
		return nil, fmt.Errorf("nothing was heard from it for %v", limit)
	}
	return line, err
}

// line returns the next line of Serve or the script, without the greeting that begins it. Other
// output is skipped, up to mostNoise.
func (l *link) line() ([]byte, error) {
	var line []byte
	begins, ours := true, false
	for {
		part, err := l.lines.ReadSlice('\n')
		ends := err == nil
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			_, _ = l.noise.Write(part)
			return nil, err
		}
		if begins {
			part, ours = bytes.CutPrefix(part, []byte(greeting))
		}
		if ours {
			line = append(line, part...)
		} else {
			_, _ = l.noise.Write(part)
			l.noisy += len(part)
		}
		if l.noisy > mostNoise || len(line) > measure.LargestRecord {
			l.kill() // it would go on printing
			return nil, errors.New("it prints more than it should")
		}
		if begins = ends; ends && ours {
			return bytes.TrimSpace(line), nil
		}
	}
}

// question is a job as it is sent to a host; answer is the reply.
type (
	question struct {
		Number int         `json:"number"`
		Job    measure.Job `json:"job"`
	}
	answer struct {
		Number int             `json:"number"`
		Record json.RawMessage `json:"record,omitempty"`
		Error  string          `json:"error,omitempty"` // why the case could not be started
	}
)

// run runs a job on the host and returns its record. If there is none, the error says why; usually
// the connection was lost.
func (l *link) run(ctx context.Context, job measure.Job) (*record.Record, error) {
	l.jobs++
	line, err := json.Marshal(question{l.jobs, job})
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, l.hangUp)()
	defer time.AfterFunc(job.Deadline+answerSlack, l.kill).Stop()
	if err = l.write(append(line, '\n')); err == nil {
		for line = nil; err == nil && len(line) == 0; { // beats are empty
			line, err = l.next(silenceLimit)
		}
	}
	if err != nil {
		l.close()
		return nil, l.why(err)
	}
	rec, err := l.parseAnswer(line, job)
	if err != nil {
		l.close()
		return nil, err
	}
	return rec, nil
}

// parseAnswer parses an answer and returns its record. It returns an error unless the record is the
// job's.
func (l *link) parseAnswer(line []byte, job measure.Job) (*record.Record, error) {
	var a answer
	if err := json.Unmarshal(line, &a); err != nil {
		return nil, fmt.Errorf("its answer: %w", err)
	}
	switch {
	case a.Number != l.jobs:
		return nil, fmt.Errorf("it answers job %d, and was asked for %d", a.Number, l.jobs)
	case a.Error != "":
		return nil, errors.New(subprocess.Printable(a.Error))
	}
	recs, err := record.ReadAll(bytes.NewReader(a.Record))
	switch {
	case err != nil:
		return nil, err
	case len(recs) != 1:
		return nil, fmt.Errorf("it answers with %d records", len(recs))
	}
	return recs[0], job.Answers(recs[0])
}

func (l *link) write(line []byte) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	_, err := l.in.Write(line)
	return err
}

// sendBeats sends heartbeats to the host until the connection has ended.
func (l *link) sendBeats() {
	ticks := time.NewTicker(beatInterval)
	defer ticks.Stop()
	for {
		select {
		case <-l.ended:
			return
		case <-ticks.C:
			_ = l.write([]byte("\n")) // the reader notices an error
		}
	}
}

// hangUp closes our end of the connection. The other side then ends its case, and ssh with it; ssh
// is killed if that takes longer than lastWords.
func (l *link) hangUp() {
	_ = l.in.Close()
	time.AfterFunc(lastWords, l.kill)
}

// close ends the connection. Nobody may read from it any more.
func (l *link) close() {
	l.hangUp()
	l.closing.Do(func() {
		_, _ = io.Copy(io.Discard, l.lines) // to its end, before which wait must not be called
		l.state = l.wait()
		close(l.ended)
	})
}

// isCut reports whether err says only that the other end of a pipe is gone.
func isCut(err error) bool {
	_, broken := errors.AsType[*fs.PathError](err)
	return broken || errors.Is(err, io.EOF)
}

// why returns an error that says in a line why a connection has ended. If the pipe was cut, that is
// the last line on standard error, from ssh or the host's shell. If there is none, it is what the
// host printed in place of a greeting.
func (l *link) why(err error) error {
	if !isCut(err) {
		return err
	}
	if lines := l.said.Lines(); len(lines) > 0 {
		return errors.New(lines[len(lines)-1])
	}
	if lines := l.noise.Lines(); len(lines) > 0 {
		return fmt.Errorf("it prints %q and no more", lines[0])
	}
	return fmt.Errorf("it ended the connection: %s", l.state)
}
