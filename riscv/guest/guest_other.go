//go:build !riscv64

package guest

func machineInput() ([]byte, bool) { return nil, false }
func machineCommit([]byte) bool    { return false }

// Begin begins a section, and locks the goroutine to its thread until the matching End.
// Instructions that the goroutine retires in between are counted under the given name, and under
// the names of the enclosing sections. Instructions of goroutines that this goroutine starts are
// not counted there.
func Begin(name string) {}

// End ends the section that this goroutine began last.
func End() {}
