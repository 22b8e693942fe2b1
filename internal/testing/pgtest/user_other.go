//go:build !unix

package pgtest

import (
	"errors"
	"os/exec"
)

func asUser(*exec.Cmd, string) error {
	return errors.New("database servers are run on Unix only")
}
