//go:build !linux

package resources

import "time"

var started = time.Now()

func clock() time.Duration { return time.Since(started) }

// counted returns counts of the process only.
func counted() counts { return counts{own: ownCounts()} }
