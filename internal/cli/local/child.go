package local

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/zkbench/zkbench/internal/runner/subprocess"
)

const (
	readyTime    = 30 * time.Second // in which a process must serve
	stopTime     = 40 * time.Second // in which it must end; a server waits 30 s for its calls
	restartPause = time.Second      // before it is started again; doubled up to maxRestart while it ends soon
	maxRestart   = 30 * time.Second
	longLife     = time.Minute // after which the pause is the first again
)

// child is a server as a process of this program. It ends when this process does, because its standard input ends then.
type child struct {
	name            string
	program         string   // its argument 0
	args            []string // without addresses
	listen, metrics string   // host:port; after the first start, those that it has
	log             string   // path of the file for its standard error
	say             func(format string, args ...any)

	url, page string // of its service and of its metrics

	tether  io.Closer // its standard input
	process *os.Process
	ended   <-chan error       // has what ended the process
	since   time.Time          // when it was started
	quit    context.CancelFunc // ends keep; nil if the process was never started
	gone    chan struct{}      // closed when keep has ended
}

// begin starts the process, and starts it again whenever it ends, until end is called.
func (c *child) begin(ctx context.Context) error {
	url, page, err := c.start(ctx)
	if err != nil {
		return fmt.Errorf("%w; %s", err, c.lastLines())
	}
	c.url, c.page = url, page
	c.listen, c.metrics = hostOf(url), hostOf(page)
	life, quit := context.WithCancel(context.WithoutCancel(ctx))
	c.quit, c.gone = quit, make(chan struct{})
	go c.keep(life)
	return nil
}

// end stops the process.
func (c *child) end() error {
	if c.quit == nil {
		return nil
	}
	c.quit()
	select {
	case <-c.gone:
		return nil
	case <-time.After(2 * stopTime):
		return fmt.Errorf("%s does not end", c.name)
	}
}

// start starts the process, waits until it serves, and returns the URLs of its service and of its metrics.
func (c *child) start(ctx context.Context) (url, page string, err error) {
	executable, err := subprocess.Executable()
	if err != nil {
		return "", "", err
	}
	log, err := os.OpenFile(c.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return "", "", err
	}
	defer log.Close()
	cmd := &exec.Cmd{
		Path: executable, Stderr: log,
		Args: append(append([]string{c.program}, c.args...), "--listen", c.listen, "--metrics", c.metrics, "--tethered"),
	}
	subprocess.InGroup(cmd) // so that an interrupt from the terminal reaches only this process, which stops them in order
	if c.tether, err = cmd.StdinPipe(); err != nil {
		return "", "", err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", "", err
	}
	if err := cmd.Start(); err != nil {
		return "", "", fmt.Errorf("%s: %w", c.name, err)
	}
	ended := make(chan error, 1)
	c.process, c.since, c.ended = cmd.Process, time.Now(), ended
	ready := make(chan struct{})
	go func() {
		lines := bufio.NewReader(out)
		if url = readURL(lines); url != "" {
			page = readURL(lines)
		}
		close(ready)
		_, _ = io.Copy(io.Discard, lines)
		ended <- cmd.Wait()
	}()
	select {
	case <-ready:
		if page == "" {
			err = fmt.Errorf("%s: %w", c.name, ending(<-ended))
		}
		return url, page, err
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-time.After(readyTime):
		err = fmt.Errorf("%s does not serve after %v", c.name, readyTime)
	}
	_ = cmd.Process.Kill()
	<-ended
	return "", "", err
}

// readURL reads a line that ends with a URL. It returns an empty text if there is none.
func readURL(lines *bufio.Reader) string {
	line, err := lines.ReadString('\n')
	at := strings.LastIndex(line, " at ")
	if err != nil || at < 0 {
		return ""
	}
	return strings.TrimSpace(line[at+len(" at "):])
}

// hostOf returns host:port of a URL.
func hostOf(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	host, _, _ := strings.Cut(rest, "/")
	return host
}

// keep starts the process again whenever it ends, until life ends. If it cannot be started, keep tries again.
func (c *child) keep(life context.Context) {
	defer close(c.gone)
	pause := restartPause
	for {
		select {
		case <-life.Done():
			c.stop()
			return
		case err := <-c.ended:
			if time.Since(c.since) > longLife {
				pause = restartPause
			}
			c.say("%s ended: %v; it is started again in %v; %s", c.name, ending(err), pause, c.lastLines())
		}
		for {
			select {
			case <-life.Done():
				return
			case <-time.After(pause):
			}
			pause = min(2*pause, maxRestart)
			_, _, err := c.start(life)
			if err == nil {
				c.say("%s serves again at %s", c.name, c.url)
				break
			}
			c.say("%v; it is started again in %v; %s", err, pause, c.lastLines())
		}
	}
}

// stop ends the process's standard input, upon which it answers what it has begun, and ends.
func (c *child) stop() {
	_ = c.tether.Close()
	select {
	case <-c.ended:
	case <-time.After(stopTime):
		c.say("%s has not ended after %v, and is killed", c.name, stopTime)
		_ = c.process.Kill()
		<-c.ended
	}
}

// ending says how a process has ended.
func ending(err error) error {
	if err == nil {
		return errors.New("exit status 0")
	}
	return err
}

// lastLines returns the last lines of the process's log, and where the log is.
func (c *child) lastLines() string {
	const most, bytesRead = 3, 8 << 10
	log, err := os.Open(c.log)
	if err != nil {
		return err.Error()
	}
	defer log.Close()
	if size, err := log.Seek(0, io.SeekEnd); err == nil {
		_, _ = log.Seek(max(0, size-bytesRead), io.SeekStart)
	}
	text, _ := io.ReadAll(io.LimitReader(log, bytesRead))
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	out := "the last lines of " + c.log + ":"
	for _, line := range lines[max(0, len(lines)-most):] {
		out += "\n    " + subprocess.Printable(string(line))
	}
	return out
}
