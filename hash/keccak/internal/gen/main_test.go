package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestCheckedIn: the file is what the generator writes.
func TestCheckedIn(t *testing.T) {
	t.Parallel()
	got, err := os.ReadFile(filepath.Join("../..", output))
	if err != nil || !bytes.Equal(got, lanesAMD64()) {
		t.Errorf("%s is not what go generate writes (%v)", output, err)
	}
}
