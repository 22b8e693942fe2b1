package validator

// Room sets how many bytes wait at most.
func (q *Queue) Room(bytes int) { q.most = bytes }

// WaitingCost is what a request counts beside its bytes.
const WaitingCost = waitingCost

// MaxLate is maxLate.
const MaxLate = maxLate
