//go:build !linux

package runner

import "time"

func sharpen() {}

// nap does nothing: the worker is awake for longer.
func nap(time.Duration) {}
