package montgomery

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestGenerated: product.go is what generate.go writes.
func TestGenerated(t *testing.T) {
	generator, err := filepath.Abs("generate.go")
	if err != nil {
		t.Fatal(err)
	}
	run := exec.CommandContext(t.Context(), "go", "run", generator)
	run.Dir = t.TempDir()
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want, err := os.ReadFile(filepath.Join(run.Dir, "product.go"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile("product.go"); err != nil || !bytes.Equal(got, want) {
		t.Fatalf("go generate ./riscv/guests/... (%v)", err)
	}
}
