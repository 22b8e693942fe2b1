package state_test

import (
	"fmt"

	"github.com/zkbench/zkbench/token/ledger/state"
)

// Two copies of a ledger reach one state in different orders, and have one commitment.
func ExampleSum() {
	issued := state.Record{Kind: state.Unspent, Key: []byte("issued")}
	paid := state.Record{Kind: state.Unspent, Key: []byte("paid")}
	var one, other state.Sum
	one.Add(issued)
	one.Add(paid)
	one.Remove(issued)
	other.Add(paid)
	fmt.Println(one.Commitment() == other.Commitment())
	other.Add(issued)
	fmt.Println(one.Commitment() == other.Commitment())
	// Output:
	// true
	// false
}
