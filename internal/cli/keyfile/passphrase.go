package keyfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/term"

	"github.com/zkbench/zkbench"
)

// DescriptorVariable is an environment variable with the number of a file descriptor, from which passphrases are read: a
// line for each encrypted file, in the order in which a command reads the files. Without it, a command asks for them on
// the terminal.
const DescriptorVariable = "ZKBENCH_PASSPHRASE_FD"

// maxPassphrase is the maximum number of bytes in a passphrase.
const maxPassphrase = 1024

// passphrase returns the passphrase of the file at path.
func passphrase(path string) (string, error) {
	file, err := descriptor()
	if err != nil {
		return "", err
	}
	if file != nil {
		return readLine(file)
	}
	return ask("passphrase of " + path + ": ")
}

// newPassphrase returns a passphrase for the file at path. On a terminal it asks twice.
func newPassphrase(path string) (string, error) {
	first, err := passphrase(path)
	if err != nil {
		return "", err
	}
	if file, _ := descriptor(); file != nil {
		return first, nil
	}
	again, err := ask("the same passphrase again: ")
	if err != nil {
		return "", err
	}
	if again != first {
		return "", fmt.Errorf("%w: passphrase: the second one differs; nothing was encrypted", zkbench.ErrParams)
	}
	return first, nil
}

// descriptor returns the file of DescriptorVariable, nil without it. It stays open: a command may read several files.
var descriptor = sync.OnceValues(func() (*os.File, error) {
	text, given := os.LookupEnv(DescriptorVariable)
	if !given {
		return nil, nil
	}
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: not a number; accepted: that of a file descriptor, such as 3", zkbench.ErrParams, DescriptorVariable)
	}
	return os.NewFile(uintptr(n), "passphrases"), nil
})

// readLine reads a line. It reads byte by byte, since the next line belongs to another file.
func readLine(r io.Reader) (string, error) {
	var line []byte
	for one := make([]byte, 1); len(line) <= maxPassphrase; {
		n, err := r.Read(one)
		if n == 1 && one[0] == '\n' || errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", fmt.Errorf("%w: %s: %w", zkbench.ErrEnv, DescriptorVariable, err)
		}
		line = append(line, one[:n]...)
	}
	return checked(strings.TrimSuffix(string(line), "\r"))
}

// checked refuses a passphrase by its length.
func checked(passphrase string) (string, error) {
	if passphrase == "" || len(passphrase) > maxPassphrase {
		return "", fmt.Errorf("%w: passphrase: %d bytes; accepted: a line of 1 to %d bytes", zkbench.ErrParams, len(passphrase), maxPassphrase)
	}
	return passphrase, nil
}

// ask asks for a passphrase on the terminal, which does not show it. An interrupt ends the question.
func ask(prompt string) (string, error) {
	in, out, err := openTerminal()
	if err != nil {
		return "", fmt.Errorf("%w: passphrase: no terminal to ask on (%w); accepted: a terminal, or %s with the number of a file descriptor", zkbench.ErrEnv, err, DescriptorVariable)
	}
	fd := int(in.Fd())
	state, err := term.GetState(fd)
	if err != nil {
		return "", fmt.Errorf("%w: passphrase: %w", zkbench.ErrEnv, err)
	}
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(interrupted)
	fmt.Fprint(out, prompt)
	defer fmt.Fprintln(out)
	type answer struct {
		text []byte
		err  error
	}
	answers := make(chan answer, 1)
	go func() {
		text, err := term.ReadPassword(fd)
		answers <- answer{text, err}
	}()
	select {
	case a := <-answers:
		err := errors.Join(in.Close(), out.Close())
		if a.err != nil || err != nil {
			return "", fmt.Errorf("%w: passphrase: %w", zkbench.ErrEnv, errors.Join(a.err, err))
		}
		return checked(string(a.text))
	case <-interrupted: // the other goroutine still waits for a line, and the program ends
		return "", errors.Join(errors.New("passphrase: interrupted"), term.Restore(fd, state))
	}
}

// openTerminal opens the terminal that the program runs on, whatever its standard input is.
func openTerminal() (in, out *os.File, err error) {
	reads, writes := "/dev/tty", "/dev/tty"
	if runtime.GOOS == "windows" {
		reads, writes = "CONIN$", "CONOUT$"
	}
	if in, err = os.OpenFile(reads, os.O_RDWR, 0); err != nil {
		return nil, nil, err
	}
	if out, err = os.OpenFile(writes, os.O_WRONLY, 0); err != nil {
		return nil, nil, errors.Join(err, in.Close())
	}
	return in, out, nil
}
