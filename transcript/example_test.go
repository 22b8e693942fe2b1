package transcript_test

import (
	"fmt"

	"github.com/zkbench/zkbench/transcript"
)

// Prover and verifier absorb the same messages and so draw the same challenge. If one byte differs,
// so does the challenge.
func Example() {
	challenge := func(commitment string) [transcript.StateLen]byte {
		t := transcript.New("example")
		t.AppendUint64("bits", 64)
		t.Append("commitment", []byte(commitment))
		return t.Challenge("x")
	}
	prover, verifier, forger := challenge("C"), challenge("C"), challenge("D")
	fmt.Println(prover == verifier, prover == forger)
	// Output: true false
}

// Sub-proofs run concurrently on forks, which the parent then absorbs.
func ExampleTranscript_Fork() {
	t := transcript.New("example")
	t.Append("statement", []byte("two proofs"))
	forks := []transcript.Transcript{t.Fork("proof", 0), t.Fork("proof", 1)}
	for i := range forks {
		forks[i].Append("message", []byte("the same"))
	}
	fmt.Println(forks[0].State() == forks[1].State())
	t.Join(forks...)
	state := t.State()
	fmt.Printf("%x\n", state[:8])
	// Output:
	// false
	// ad0a899300edd296
}
