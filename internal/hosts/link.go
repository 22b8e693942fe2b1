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

	"github.com/zkbench/zkbench/internal/child"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/record"
)

const (
	// mostNoise bounds the bytes that a login shell prints before the greeting.
	mostNoise = 64 << 10
	// greets is how long a host that can be reached may take to greet; the copying of the
	// program is not counted.
	greets = time.Minute
	// answers is what a host may take beyond a job's deadline, which its own side watches.
	answers = time.Minute
)

// link is a connection to a host: a process of ssh and, at its other end, Serve.
type link struct {
	env record.Env // of the host

	ssh   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	said  *child.Tail   // on standard error
	noise *child.Tail   // before the greeting
	ended chan struct{} // closed when ssh has ended

	writing sync.Mutex // of jobs and beats
	letGo   sync.Once
}

// dial connects to a host, which gets the program first if it does not have it; copied hears
// of that. The error is why it does not, in a line.
func dial(ctx context.Context, host string, p *Program, copied func()) (*link, error) {
	l := &link{
		ssh:  exec.Command("ssh", sshArgs(host, p.command())...),
		said: &child.Tail{Limit: 64 << 10}, noise: &child.Tail{Limit: mostNoise}, ended: make(chan struct{}),
	}
	l.ssh.Stderr = l.said
	l.ssh.WaitDelay = time.Second // one who has our pipe, and is not ssh, is not waited for
	out, err := l.ssh.StdoutPipe()
	if err == nil {
		l.in, err = l.ssh.StdinPipe()
	}
	if err == nil {
		err = l.ssh.Start()
	}
	if err != nil {
		return nil, err
	}
	l.out = bufio.NewReaderSize(out, mostNoise)
	defer context.AfterFunc(ctx, l.kill)()
	if err := l.open(p, copied); err != nil {
		l.close()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, l.why(err)
	}
	go l.beat()
	return l, nil
}

// open leads the conversation up to the greeting of Serve.
func (l *link) open(p *Program, copied func()) error {
	words, err := l.greeting()
	if err != nil {
		return err
	}
	state, where, _ := strings.Cut(words, " ")
	system, machine, _ := strings.Cut(where, " ")
	if err := runsHere(system, machine); err != nil {
		return err
	}
	switch state {
	case wants:
		if err := p.send(l.in); err != nil {
			return err
		}
		copied()
	case has:
	default:
		return fmt.Errorf("it greets with %q", words)
	}
	if words, err = l.greeting(); err != nil {
		return err
	}
	return json.Unmarshal([]byte(words), &l.env)
}

// greeting is what follows on the next line that begins as one.
func (l *link) greeting() (string, error) {
	late := time.AfterFunc(greets, l.kill)
	words, err := l.nextGreeting()
	if !late.Stop() {
		return "", fmt.Errorf("it has not greeted within %v", greets)
	}
	return words, err
}

func (l *link) nextGreeting() (string, error) {
	begins := true
	for n := 0; n < mostNoise; {
		part, err := l.out.ReadSlice('\n')
		text, found := bytes.CutPrefix(part, []byte(greeting))
		switch {
		case begins && found && err == nil:
			return string(bytes.TrimSpace(text)), nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return "", err
		}
		_, _ = l.noise.Write(part)
		n += len(part)
		begins = err == nil
	}
	l.kill() // which would go on
	return "", errors.New("it prints more than it should")
}

// run has the host run a job. The error is that the connection was lost, and why.
func (l *link) run(ctx context.Context, job measure.Job) (*record.Record, error) {
	line, err := json.Marshal(job)
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, l.hangUp)()
	defer time.AfterFunc(job.Deadline+answers, l.kill).Stop()
	if err = l.write(append(line, '\n')); err == nil {
		line, err = l.out.ReadBytes('\n')
	}
	if err != nil {
		l.close()
		return nil, l.why(err)
	}
	recs, err := record.ReadAll(bytes.NewReader(line))
	if err == nil && (len(recs) != 1 || recs[0].Workload == "" || recs[0].Axes == nil) {
		err = fmt.Errorf("it answers with %d records", len(recs))
	}
	if err != nil {
		l.close()
		return nil, err
	}
	return recs[0], nil
}

func (l *link) write(line []byte) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	_, err := l.in.Write(line)
	return err
}

// beat lets the host know that we are there.
func (l *link) beat() {
	ticks := time.NewTicker(beat)
	defer ticks.Stop()
	for {
		select {
		case <-l.ended:
			return
		case <-ticks.C:
			_ = l.write([]byte("\n")) // whoever reads finds out
		}
	}
}

// hangUp has the connection end: the other side ends its case when its input ends, and ssh
// with it.
func (l *link) hangUp() {
	_ = l.in.Close()
	time.AfterFunc(lastWords, l.kill)
}

// close ends the connection. Nobody reads from it any more.
func (l *link) close() {
	l.hangUp()
	l.letGo.Do(func() {
		_, _ = io.Copy(io.Discard, l.out) // to its end, before which Wait must not be called
		_ = l.ssh.Wait()
		close(l.ended)
	})
}

func (l *link) kill() { _ = l.ssh.Process.Kill() }

// isCut tells of an error whether it says only that the other end of a pipe is gone.
func isCut(err error) bool {
	_, broken := errors.AsType[*fs.PathError](err)
	return broken || errors.Is(err, io.EOF)
}

// why says in a line why a connection has ended. Where the pipe was cut, the reason of ssh, or
// of the shell there, stands last on standard error; where neither gave one, there is what
// came in place of a greeting.
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
	return fmt.Errorf("it ended the connection: %v", l.ssh.ProcessState)
}
