package store

import (
	"context"
	"math"
	"time"
)

// Turns decides when a verification replaces the snapshot that it reads, so that no snapshot stays open for
// long. It also defers calls of the function progress, which may be slow, until a snapshot has ended.
type Turns struct {
	time     time.Duration
	progress func(done, total uint64)
	opened   time.Time
	left     uint64 // entries, when the snapshot was renewed last
	passed   [][2]uint64
}

// SnapshotTime is how long a reader keeps one snapshot open before it takes the next.
const SnapshotTime = time.Second

// NewTurns returns Turns that keep each snapshot open for about the given time. The function progress may
// be nil.
func NewTurns(each time.Duration, progress func(done, total uint64)) Turns {
	return Turns{time: each, progress: progress, left: math.MaxUint64}
}

// Open records that a snapshot begins.
func (t *Turns) Open() { t.opened = time.Now() }

// Passed queues the call progress(done, total), which Tell makes after the snapshot has ended.
func (t *Turns) Passed(done, total uint64) { t.passed = append(t.passed, [2]uint64{done, total}) }

// Due reports whether the snapshot has been open long enough to be replaced. The parameter left is the number
// of entries that are still to be read. If left has not decreased since Due last returned true, Due returns
// false: the log grows faster than it is read, and the snapshot must be read to its end.
func (t *Turns) Due(left uint64) bool {
	if time.Since(t.opened) < t.time || left >= t.left {
		return false
	}
	t.left = left
	return true
}

// Tell makes the calls of the function progress that Passed has queued. Call it after the snapshot has ended.
// If ctx has ended, Tell drops the calls and returns the error of ctx.
func (t *Turns) Tell(ctx context.Context) error {
	for _, p := range t.passed {
		if t.progress != nil && ctx.Err() == nil {
			t.progress(p[0], p[1])
		}
	}
	t.passed = t.passed[:0]
	return ctx.Err()
}
