// Command bulletproof is a guest that verifies a range proof over BN254. If the proof is valid, the
// guest's output is the Pedersen commitment, whose value is then known to be in the range. Its
// input is in the format of package frames: one byte with the number of bits of the range, the
// commitment, and the proof.
package main

import (
	"context"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/rangeproof/bulletproof"
	"github.com/zkbench/zkbench/riscv/guest"
	"github.com/zkbench/zkbench/riscv/guests/frames"
)

func main() {
	input := frames.Split(guest.Input())
	bits, commitment, proof := int(input[0][0]), input[1], input[2]
	guest.Begin("setup")
	system, err := bulletproof.NewSystem(group.BN254(), bits, 1)
	if err != nil {
		panic(err)
	}
	guest.End()
	guest.Begin("verify")
	claim, err := system.Decode(nil, 1, commitment, proof)
	if err == nil {
		err = system.Verify(context.Background(), executor.Serial(), claim)
	}
	guest.End()
	if err != nil {
		panic(err)
	}
	guest.Commit(commitment)
}
