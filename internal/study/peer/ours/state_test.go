package ours

import (
	"testing"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// TestStateUpdates: updates replace the oldest records, and what is in the state afterwards is all that counts.
func TestStateUpdates(t *testing.T) {
	t.Parallel()
	s := newReplacing(10)
	must.Do(t, s.check())
	op, _, err := writeState(s)
	must.Do(t, err)
	must.Do(t, op())
	const updates = 1 + 2*writtenUpdates
	golden.Equal(t, "records replaced", updates*replacedRecords, int(s.first))
	golden.Equal(t, "records", 10, int(s.next-s.first))
	must.Do(t, s.check())
	s.sum.Add(stateRecord(0))
	must.Fail(t, s.check(), must.ErrAny, "a record too many")
}
