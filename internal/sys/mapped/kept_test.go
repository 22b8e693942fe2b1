package mapped

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// TestKept: a file is used if its check takes it, and it is said why another is not; none is no
// news.
func TestKept(t *testing.T) {
	var warned []string
	k := &Kept{
		Path: filepath.Join(t.TempDir(), "file"), Size: 4,
		Warn: func(reason string) { warned = append(warned, reason) },
		Check: func(data []byte) error {
			if string(data) != "good" {
				return errors.New("not good")
			}
			return nil
		},
	}
	said := func(what string) {
		t.Helper()
		if len(warned) != min(len(what), 1) || what != "" && !strings.Contains(warned[0], what) {
			t.Errorf("warned of %q, want %q", warned, what)
		}
		warned = nil
	}
	take := func(data []byte, free func() error) string {
		taken := string(data)
		if free != nil {
			must.Do(t, free())
		}
		return taken
	}
	golden.Equal(t, "no file", "", take(k.Read()))
	said("")
	golden.Equal(t, "what does not pass", "", take(k.Write([]byte("ba"), []byte("d!"))))
	said("cannot be used: not good")
	golden.Equal(t, "what does not pass, read", "", take(k.Read()))
	said("cannot be used and is replaced: not good")
	golden.Equal(t, "what passes", "good", take(k.Write([]byte("go"), []byte("od"))))
	golden.Equal(t, "what passes, read", "good", take(k.Read()))
	said("")
	must.Do(t, os.WriteFile(k.Path, []byte("good, longer"), 0o600))
	golden.Equal(t, "another length", "", take(k.Read()))
	said("cannot be used and is replaced: 12 bytes, want 4")
	k.Path = filepath.Join(t.TempDir(), "none", "file")
	golden.Equal(t, "where there is no directory", "", take(k.Write([]byte("good"))))
	said("cannot be written: ")
	k.Warn = nil
	golden.Equal(t, "said to nobody", "", take(k.Write([]byte("good"))))
	k.Path = ""
	golden.Equal(t, "no path", "", take(k.Write([]byte("good")))+take(k.Read()))
}
