//go:build counted

package group

// additions counts n additions that are done at once. In a program that is built to count (go build
// -cover), each call of addition is counted.
func additions(n int) {
	for n > 0 {
		n = addition(n)
	}
}

// addition returns how many additions are left to count.
func addition(n int) int { return n - 1 }
