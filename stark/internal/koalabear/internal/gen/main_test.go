package main

import (
	"bytes"
	"os"
	"testing"
)

func TestCheckedIn(t *testing.T) {
	got, err := os.ReadFile("../../" + output)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, products()) {
		t.Errorf("%s is not what go generate writes", output)
	}
}
