//go:build !linux

package runner

import "time"

func sharpen() {}

// nap does nothing, so that the worker spins for longer.
func nap(time.Duration) {}
