package validator

import "time"

// Room sets how many bytes wait at most.
func (q *Queue) Room(bytes int) { q.most = bytes }

// WaitingCost is what a waiting request counts in addition to its bytes.
const WaitingCost = waitingCost

// Ahead is how far ahead of a clock a block may be under the tests' policy.
const Ahead = time.Minute

// MaxLate exports maxLate.
const MaxLate = maxLate
