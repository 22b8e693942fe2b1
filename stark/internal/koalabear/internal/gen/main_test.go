package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestCheckedIn: the files are what the generator writes.
func TestCheckedIn(t *testing.T) {
	t.Parallel()
	for name, write := range outputs {
		got, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil || !bytes.Equal(got, write()) {
			t.Errorf("%s is not what go generate writes (%v)", name, err)
		}
	}
}
