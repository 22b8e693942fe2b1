//go:build !unix

package hosts

import (
	"context"
	"time"
)

// lockMachine does nothing, because no host runs here: the script that starts one needs sh.
func lockMachine(context.Context, time.Duration) (unlock func(), err error) { return func() {}, nil }
