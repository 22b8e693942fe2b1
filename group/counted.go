//go:build counted

package group

// additions has so many additions counted that are done at once: in a program that was built
// to count (go build -cover) each call of addition is.
func additions(n int) {
	for n > 0 {
		n = addition(n)
	}
}

// addition returns how many are left.
func addition(n int) int { return n - 1 }
