//go:build !linux

package resources

import "time"

var started = time.Now()

func clock() time.Duration { return time.Since(started) }

// counted knows of the process alone.
func counted() counts { return counts{own: ownCounts()} }
