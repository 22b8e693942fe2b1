// Circuit measures a gnark circuit, written in this file, with PLONK and Groth16. The circuit shows
// that the prover knows the preimage of a MiMC hash.
//
//	go run ./circuit stages preimage --blocks 1,16 --system plonk,groth16
package main

import (
	"math/rand/v2"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	native "github.com/consensys/gnark-crypto/ecc/bn254/fr/mimc"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/std/hash/mimc"

	"github.com/zkbench/zkbench/bench"
	"github.com/zkbench/zkbench/bench/circuit"
)

func main() { bench.Main(preimage()) }

// Preimage is the circuit: Digest is the MiMC hash of Blocks.
type Preimage struct {
	Blocks []frontend.Variable
	Digest frontend.Variable `gnark:",public"`
}

// Define adds the circuit's constraints. It implements frontend.Circuit.
func (p *Preimage) Define(api frontend.API) error {
	h, err := mimc.NewMiMC(api)
	if err != nil {
		return err
	}
	h.Write(p.Blocks...)
	api.AssertIsEqual(p.Digest, h.Sum())
	return nil
}

func preimage() bench.Def {
	blocks := bench.Ints("blocks", "numbers of blocks of the preimage", 1, 1<<16, 1, 16, 256)
	return circuit.Circuit("Preimage", []bench.Axis{blocks},
		func(c bench.Case) (frontend.Circuit, error) {
			return &Preimage{Blocks: make([]frontend.Variable, blocks.Value(c))}, nil
		},
		func(c bench.Case, random *rand.ChaCha8) (frontend.Circuit, error) {
			p := &Preimage{}
			h := native.NewMiMC()
			for range blocks.Value(c) {
				var wide [48]byte
				if _, err := random.Read(wide[:]); err != nil {
					return nil, err
				}
				var block fr.Element
				block.SetBytes(wide[:])
				p.Blocks = append(p.Blocks, block)
				raw := block.Bytes()
				if _, err := h.Write(raw[:]); err != nil {
					return nil, err
				}
			}
			p.Digest = h.Sum(nil)
			return p, nil
		})
}
