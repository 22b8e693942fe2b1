package keyfile

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
)

// terminal is a pseudoterminal with a command on it.
type terminal struct {
	t           *testing.T
	user, there *os.File // the user's side, and the command's
	cmd         *exec.Cmd
	shown       strings.Builder
}

func startOnTerminal(t *testing.T, cmd *exec.Cmd) *terminal {
	t.Helper()
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudoterminals here: %v", err)
	}
	t.Cleanup(func() { user.Close() })
	must.Do(t, unix.IoctlSetPointerInt(int(user.Fd()), unix.TIOCSPTLCK, 0))
	number := must.Get(unix.IoctlGetInt(int(user.Fd()), unix.TIOCGPTN))(t)
	there := must.Get(os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0))(t)
	t.Cleanup(func() { there.Close() })
	cmd.Stdin, cmd.Stdout, cmd.Stderr = there, there, there
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true} // of descriptor 0
	must.Do(t, cmd.Start())
	return &terminal{t: t, user: user, there: there, cmd: cmd}
}

// echoes reports whether the terminal shows what the user types.
func (c *terminal) echoes() bool {
	c.t.Helper()
	return must.Get(unix.IoctlGetTermios(int(c.there.Fd()), unix.TCGETS))(c.t).Lflag&unix.ECHO != 0
}

// answer types a text when the command has asked, and the terminal shows no input.
func (c *terminal) answer(prompt, text string) {
	c.t.Helper()
	for b := make([]byte, 1); !strings.HasSuffix(c.shown.String(), prompt); {
		n, err := c.user.Read(b)
		must.Do(c.t, err, c.shown.String())
		c.shown.Write(b[:n])
	}
	for c.echoes() {
		time.Sleep(time.Millisecond)
	}
	_ = must.Get(c.user.WriteString(text))(c.t)
}

// wait waits for the end of the command, and returns its error and all that the terminal has shown.
func (c *terminal) wait() (shown string, err error) {
	c.t.Helper()
	err = c.cmd.Wait()
	if !c.echoes() {
		c.t.Error("the terminal no longer shows what is typed")
	}
	must.Do(c.t, c.there.Close()) // so that reading ends
	for b := make([]byte, 1024); ; {
		n, err := c.user.Read(b)
		if c.shown.Write(b[:n]); err != nil {
			break
		}
	}
	if strings.Contains(c.shown.String(), "hunter") {
		c.t.Errorf("the terminal shows a passphrase: %s", c.shown.String())
	}
	return c.shown.String(), err
}

// TestTerminal: a file is encrypted with a passphrase that is typed twice, and read with it. The terminal does not show it,
// and shows what is typed again after an interrupt.
func TestTerminal(t *testing.T) {
	keys := some(t, token.X25519)
	path := filepath.Join(t.TempDir(), "keys.pem")
	must.Do(t, Write(path, keys))
	prompt, again := "passphrase of "+path+": ", "the same passphrase again: "

	differs := startOnTerminal(t, command(t, encryptFile, path))
	differs.answer(prompt, "hunter2\n")
	differs.answer(again, "hunter3\n")
	if shown, err := differs.wait(); err == nil || !strings.Contains(shown, "the second one differs") {
		t.Errorf("%v: %s", err, shown)
	}
	encrypts := startOnTerminal(t, command(t, encryptFile, path))
	encrypts.answer(prompt, "hunter2\n")
	encrypts.answer(again, "hunter2\n")
	if shown, err := encrypts.wait(); err != nil {
		t.Fatalf("%v: %s", err, shown)
	}
	golden.Equal(t, "mode", 0o600, int(must.Get(os.Stat(path))(t).Mode()))
	if encrypted(must.Get(os.ReadFile(path))(t)) == nil {
		t.Error("the file is not encrypted")
	}
	for _, c := range []struct {
		typed, says string
		ok          bool
	}{
		{"hunter2\n", fmt.Sprintf("%x", []byte(keys.Self().Identity())), true},
		{"hunter3\n", "encrypted with another passphrase", false},
		{"\n", "passphrase: 0 bytes", false},
		{"hun\x03", "passphrase: interrupted", false},
	} {
		reads := startOnTerminal(t, command(t, readFiles, path))
		reads.answer(prompt, c.typed)
		if shown, err := reads.wait(); (err == nil) != c.ok || !strings.Contains(shown, c.says) {
			t.Errorf("%q: %v: %s", c.typed, err, shown)
		}
	}
}
