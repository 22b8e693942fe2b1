package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoBranch: kernels may compute with secrets; what they jump by is a counter.
func TestNoBranch(t *testing.T) {
	t.Parallel()
	for name, source := range outputs {
		loops := 0
		for line := range strings.Lines(string(source())) {
			switch line = strings.TrimSpace(line); {
			case line == "JNZ loop":
				loops++
			case strings.HasPrefix(line, "J"), strings.HasPrefix(line, "CALL"):
				t.Errorf("%s: %s", name, line)
			}
		}
		if loops != strings.Count(string(source()), "TEXT ") {
			t.Errorf("%s: %d loops", name, loops)
		}
	}
}

// TestCheckedIn: the files are what the generator writes.
func TestCheckedIn(t *testing.T) {
	t.Parallel()
	for name, source := range outputs {
		got, err := os.ReadFile(filepath.Join("..", name))
		if err != nil || !bytes.Equal(got, source()) {
			t.Errorf("%s is not what go generate writes (%v)", name, err)
		}
	}
}
