//go:build !pkcs11 || !cgo

package pkcs11_test

import (
	"strings"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token/identity/pkcs11"
)

// TestWithout: a program without the tag says what it lacks, after it has read the URI.
func TestWithout(t *testing.T) {
	t.Parallel()
	_, err := pkcs11.Open(good)
	must.Fail(t, err, zkbench.ErrEnv, "without the tag")
	if err == nil || !strings.Contains(err.Error(), "built without the tag pkcs11") {
		t.Error(err)
	}
	must.FailGet(pkcs11.OpenExchange(good))(t, zkbench.ErrEnv, "an exchange key without the tag")
	must.FailGet(pkcs11.Open("pkcs11:"))(t, zkbench.ErrParams, "no key")
}
