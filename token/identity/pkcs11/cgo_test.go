//go:build pkcs11 && !cgo

package pkcs11_test

import (
	"testing"

	"github.com/zkbench/zkbench/internal/testing/testsize"
)

// TestCgo says that the tests with SoftHSM are left out.
func TestCgo(t *testing.T) { testsize.Without(t, "softhsm", "no cgo, which needs a C compiler") }
