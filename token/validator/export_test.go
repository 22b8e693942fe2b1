package validator

import "time"

// Room sets how many bytes wait at most.
func (q *Queue) Room(bytes int) { q.most = bytes }

// WaitingCost is what a request counts beside its bytes.
const WaitingCost = waitingCost

// Ahead is how far ahead of a clock a block may be under the policy of the tests.
const Ahead = time.Minute

// MaxLate is maxLate.
const MaxLate = maxLate
