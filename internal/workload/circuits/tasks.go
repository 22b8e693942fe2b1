package circuits

import (
	"fmt"
	"math/rand/v2"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark/frontend"

	"github.com/zkbench/zkbench/circuits/gates"
	"github.com/zkbench/zkbench/circuits/pedersen"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/transcript"
)

// corpus returns the stream that the assignment of a sequence number is drawn from.
func corpus(seed, seq uint64) *rand.ChaCha8 {
	xof := transcript.XOF("zkbench/v1/corpus/circuits", fmt.Appendf(nil, "%d %d", seed, seq))
	var key [32]byte
	_, _ = xof.Read(key[:]) // which never fails
	return rand.NewChaCha8(key)
}

func element(r *rand.ChaCha8) (e fr.Element) {
	var wide [48]byte
	_, _ = r.Read(wide[:]) // which never fails
	e.SetBytes(wide[:])
	return e
}

// largestSize returns the largest size up to most of which fits tells that it fits.
func largestSize(most int, fits func(n int) bool) int {
	lo, hi := 0, most
	for lo < hi {
		if mid := (lo + hi + 1) / 2; fits(mid) {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	return lo
}

// Gates is a circuit of arithmetic gates.
func Gates() workload.Def {
	const most = 1 << 25
	return define("Gates", "gnark's proof of a circuit of arithmetic gates, three multiplications and one addition in turn", stageVerify,
		[]workload.Axis{workload.IntAxis(workload.Axis{Name: "gates", Usage: "numbers of gates", Smoke: "1024"}, gates.MinGates, most, 1<<10, 1<<12, 1<<14, 1<<16)},
		func(c workload.Case, seed uint64) (task, estimate, error) {
			n, err := c.Int("gates")
			if err != nil {
				return task{}, estimate{}, err
			}
			circuit, err := gates.New(n)
			if err != nil {
				return task{}, estimate{}, err
			}
			t := task{circuit: circuit, assign: func(seq uint64) (frontend.Circuit, error) {
				r := corpus(seed, seq)
				return circuit.Assign(element(r), element(r)), nil
			}}
			return t, estimate{n, func(have int64) string {
				return fmt.Sprintf("%d gates", largestSize(most, func(n int) bool { return bytesOf(c.Get("system"), n) <= have }))
			}}, nil
		})
}

// Pedersen is a chain of Pedersen hashes.
func Pedersen() workload.Def {
	forms := make([]string, 0, 3)
	for _, f := range pedersen.Forms() {
		forms = append(forms, string(f))
	}
	const most = 1 << 17
	return define("Pedersen", "gnark's proof of a chain of two-to-one Pedersen hashes", stageVerify,
		[]workload.Axis{
			workload.NameAxis(workload.Axis{Name: "form", Usage: "forms of the circuit"}, forms, forms),
			workload.IntAxis(workload.Axis{Name: "hashes", Usage: "numbers of hashes", Smoke: "1"}, 1, most, 8, 32, 125),
		},
		func(c workload.Case, seed uint64) (task, estimate, error) {
			n, err := c.Int("hashes")
			if err != nil {
				return task{}, estimate{}, err
			}
			form := pedersen.Form(c.Get("form"))
			circuit, err := pedersen.New(form, n)
			if err != nil {
				return task{}, estimate{}, err
			}
			t := task{circuit: circuit, hints: pedersen.Hints(), assign: func(seq uint64) (frontend.Circuit, error) {
				r := corpus(seed, seq)
				first, others := element(r), make([]fr.Element, n)
				for i := range others {
					others[i] = element(r)
				}
				return circuit.Assign(first, others...)
			}}
			return t, estimate{pedersen.Constraints(form, n), func(have int64) string {
				return fmt.Sprintf("%d hashes", largestSize(most, func(n int) bool { return bytesOf(c.Get("system"), pedersen.Constraints(form, n)) <= have }))
			}}, nil
		})
}
