package secretfile

import (
	"os"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/golden"
)

// TestForeign: only the group of a file that root owns may read it, and only if another user does.
func TestForeign(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		owner, reader int
		may           os.FileMode // permissions of others than the owner that are accepted
	}{{1000, 1000, 0}, {0, 0, 0}, {1000, 0, 0}, {1000, 1001, 0}, {-1, 1000, 0}, {0, 1000, 0o040}} {
		golden.Equal(t, "accepted permissions", c.may, 0o077&^foreign(c.owner, c.reader))
	}
	file, err := os.Create(t.TempDir() + "/secret")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	golden.Equal(t, "owner", os.Geteuid(), ownerOf(info))
}
