package keyfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"filippo.io/age"
	"filippo.io/age/armor"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
)

const quick = 10 // a work factor for tests

// TestEncrypted: what is encrypted is decrypted by its passphrase, as text and as binary, and by no other. A file with too
// much work, a file for other recipients and a changed file are refused.
func TestEncrypted(t *testing.T) {
	plain := must.Get(some(t, token.X25519).Encode())(t)
	text := must.Get(encrypt(plain, "hunter2", quick))(t)
	binary := must.Get(io.ReadAll(armor.NewReader(bytes.NewReader(text))))(t)
	for name, file := range map[string][]byte{"text": text, "binary": binary} {
		golden.Equal(t, name, string(plain), string(must.Get(decrypt(encrypted(file), "hunter2"))(t)))
		must.FailGet(decrypt(encrypted(file), "hunter3"))(t, zkbench.ErrParams, "%s, another passphrase", name)
	}
	if encrypted(plain) != nil {
		t.Error("a file of keys counts as encrypted")
	}
	if bytes.Contains(text, []byte("PRIVATE KEY")) || bytes.Contains(binary, []byte("PRIVATE KEY")) {
		t.Error("keys in an encrypted file")
	}

	heavy := bytes.Replace(binary, []byte(fmt.Sprintf(" %d\n", quick)), []byte(fmt.Sprintf(" %d\n", maxWork+1)), 1)
	_, err := decrypt(encrypted(heavy), "hunter2") // which would take seconds and fail, since the header is authenticated
	if err == nil || !strings.Contains(err.Error(), "work factor too large: 21; accepted: ") {
		t.Error(err)
	}
	recipient := must.Get(age.GenerateX25519Identity())(t).Recipient()
	var other bytes.Buffer
	w := must.Get(age.Encrypt(&other, recipient))(t)
	_ = must.Get(w.Write(plain))(t)
	must.Do(t, w.Close())
	must.FailGet(decrypt(encrypted(other.Bytes()), "hunter2"))(t, zkbench.ErrParams, "encrypted to a key")
	for at := range binary {
		changed := bytes.Clone(binary)
		changed[at] ^= 1
		if file := encrypted(changed); file != nil && at%7 == 0 {
			must.FailGet(decrypt(file, "hunter2"))(t, must.ErrAny, "changed at byte %d", at)
		}
	}
	must.FailGet(decrypt(encrypted(binary[:len(binary)-1]), "hunter2"))(t, must.ErrAny, "cut off")
}

// The variables of the environment that make the test binary a command.
const (
	readFiles   = "ZKBENCH_TEST_READ"    // reads files of keys
	encryptFile = "ZKBENCH_TEST_ENCRYPT" // encrypts one
)

// TestMain lets the test binary read files of keys as a command does, or encrypt one, if the environment names them.
func TestMain(m *testing.M) {
	if path := os.Getenv(encryptFile); path != "" {
		if err := Encrypt("FILE", path, "a key"); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if paths := os.Getenv(readFiles); paths != "" {
		for path := range strings.SplitSeq(paths, ",") {
			k, err := Read("key", path, "a key")
			if err != nil {
				fmt.Println(err)
				os.Exit(1)
			}
			fmt.Printf("%x\n", []byte(k.Self().Identity()))
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// command returns the command of TestMain for files of keys.
func command(t *testing.T, variable string, paths ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), must.Get(os.Executable())(t))
	cmd.Env = append(os.Environ(), variable+"="+strings.Join(paths, ","))
	return cmd
}

// TestDescriptor: passphrases come from a file descriptor, a line for each file. What is wrong with them is said, without
// them.
func TestDescriptor(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("children do not inherit descriptors")
	}
	one, two := some(t, token.X25519), some(t, token.X25519)
	var paths []string
	for i, k := range []*Keys{one, two} {
		path := filepath.Join(t.TempDir(), "keys.pem")
		must.Do(t, os.WriteFile(path, must.Get(encrypt(must.Get(k.Encode())(t), fmt.Sprintf("hunter%d", i), quick))(t), 0o600))
		paths = append(paths, path)
	}
	plain := filepath.Join(t.TempDir(), "keys.pem")
	must.Do(t, Write(plain, one))
	paths = append(paths, plain) // takes no line
	ids := fmt.Sprintf("%x\n%x\n%x\n", []byte(one.Self().Identity()), []byte(two.Self().Identity()), []byte(one.Self().Identity()))
	for _, c := range []struct{ descriptor, lines, says string }{
		{"3", "hunter0\nhunter1\n", ids},
		{"3", "hunter0\r\nhunter1", ids},
		{"3", "hunter1\nhunter1\n", "it is encrypted with another passphrase"},
		{"3", "hunter0\n", "passphrase: 0 bytes; accepted: a line of 1 to 1024 bytes"},
		{"3", strings.Repeat("hunter", 1000), "passphrase: 1025 bytes; accepted"},
		{"9", "hunter0\nhunter1\n", "unsuitable environment: " + DescriptorVariable},
		{"hunter", "", "invalid parameters: " + DescriptorVariable + ": not a number"},
	} {
		r, w, err := os.Pipe()
		must.Do(t, err)
		_ = must.Get(w.WriteString(c.lines))(t)
		must.Do(t, w.Close())
		cmd := command(t, readFiles, paths...)
		cmd.ExtraFiles = []*os.File{r} // the first one is descriptor 3
		cmd.Env = append(cmd.Env, DescriptorVariable+"="+c.descriptor)
		out, err := cmd.Output()
		if _, failed := errors.AsType[*exec.ExitError](err); !strings.Contains(string(out), c.says) || failed != (c.says != ids) || strings.Contains(string(out), "hunter") {
			t.Errorf("%s %.20q: %v, %s; want ...%s", c.descriptor, c.lines, err, out, c.says)
		}
		must.Do(t, r.Close())
	}
}

// TestEncryptRefuses: what is no file of keys of its owner's is left as it is.
func TestEncryptRefuses(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		must.Do(t, os.WriteFile(path, []byte(text), mode))
		return path
	}
	keys := string(must.Get(some(t, token.X25519).Encode())(t))
	cases := map[string]string{
		"is encrypted already": write("encrypted", string(must.Get(encrypt([]byte(keys), "hunter2", quick))(t)), 0o600),
		"no PEM block":         write("noise", "hunter2", 0o600),
		"no such file":         filepath.Join(dir, "missing"),
	}
	if runtime.GOOS != "windows" {
		cases["chmod 600"] = write("open", keys, 0o644)
	}
	for says, path := range cases {
		before, _ := os.ReadFile(path)
		err := Encrypt("FILE", path, "a key")
		if runtime.GOOS == "windows" && says == "no such file" {
			says = ""
		}
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v; want ...%s", err, says)
		}
		after, _ := os.ReadFile(path)
		golden.Equal(t, path, string(before), string(after))
	}
}
