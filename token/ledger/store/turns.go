package store

import (
	"context"
	"math"
	"time"
)

// Turns say when the snapshot that a verification reads is renewed, so that it holds none for long, and tell progress when one has ended:
// that may take its time.
type Turns struct {
	time     time.Duration
	progress func(done, total uint64)
	opened   time.Time
	left     uint64 // entries, when the snapshot was renewed last
	passed   [][2]uint64
}

// SnapshotTime is how long a snapshot is read.
const SnapshotTime = time.Second

// NewTurns are of snapshots that are read so long each. progress may be nil.
func NewTurns(each time.Duration, progress func(done, total uint64)) Turns {
	return Turns{time: each, progress: progress, left: math.MaxUint64}
}

// Open notes that a snapshot begins.
func (t *Turns) Open() { t.opened = time.Now() }

// Passed notes what progress is to be told when the snapshot has ended.
func (t *Turns) Passed(done, total uint64) { t.passed = append(t.passed, [2]uint64{done, total}) }

// Due tells whether the snapshot has had its time. It goes on where the end of the log was nearer the last time: reading ends, however
// fast the log grows.
func (t *Turns) Due(left uint64) bool {
	if time.Since(t.opened) < t.time || left >= t.left {
		return false
	}
	t.left = left
	return true
}

// Tell tells progress what has passed, now that the snapshot has ended, unless ctx has.
func (t *Turns) Tell(ctx context.Context) error {
	for _, p := range t.passed {
		if t.progress != nil && ctx.Err() == nil {
			t.progress(p[0], p[1])
		}
	}
	t.passed = t.passed[:0]
	return ctx.Err()
}
