//go:build !linux

package meter

import "time"

var started = time.Now()

// counted knows of the process alone.
func counted() counts {
	c := usedByProcess()
	if c != (counts{}) {
		c.wall = time.Since(started)
	}
	return c
}
