// Ptau writes a Groth16 reference string in the format of snarkjs, prepared for the second phase.
// The secrets of this string are public, so use it for measurement only. The program runs for a
// few seconds.
//
//	go run . POWER FILE
//
// The format is that of snarkjs 0.7 (powersoftau_new.js, powersoftau_preparephase2.js):
// little-endian, coordinates in Montgomery form.
package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fp"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr/fft"
)

// The secrets of the reference string, which are public.
var tau, alpha, beta = fr.NewElement(0xC0FFEE), fr.NewElement(0xBADC0DE), fr.NewElement(0x5EED)

// mostPower is the largest power: lengths in bytes must fit in a uint32, and the points in memory.
const mostPower = 22

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "ptau:", err)
		os.Exit(1)
	}
}

func run(args []string) (err error) {
	if len(args) != 2 {
		return fmt.Errorf("accepted: POWER FILE")
	}
	power, err := strconv.Atoi(args[0])
	if err != nil || power < 1 || power > mostPower {
		return fmt.Errorf("power: %q is not accepted; accepted: 1 to %d", args[0], mostPower)
	}
	file, err := os.Create(args[1])
	if err != nil {
		return err
	}
	defer func() {
		if closing := file.Close(); err == nil {
			err = closing
		}
	}()
	w := &writer{out: bufio.NewWriterSize(file, 1<<20)}
	w.ptau(power)
	if w.err == nil {
		w.err = w.out.Flush()
	}
	return w.err
}

type writer struct {
	out *bufio.Writer
	err error
}

func (w *writer) ptau(power int) {
	n := 1 << power
	powers := make([]fr.Element, 2*n)
	powers[0].SetOne()
	for i := 1; i < len(powers); i++ {
		powers[i].Mul(&powers[i-1], &tau)
	}
	powers[2*n-1].SetZero() // the string has no point for this power
	_, _, g1, g2 := bn254.Generators()

	_, _ = io.WriteString(w.out, "ptau")
	w.number(1, 4)
	w.number(11, 4)

	header := binary.LittleEndian.AppendUint32(nil, fp.Bytes)
	q := fp.Modulus().FillBytes(make([]byte, fp.Bytes))
	for i := range q {
		header = append(header, q[len(q)-1-i])
	}
	header = binary.LittleEndian.AppendUint32(header, uint32(power))
	header = binary.LittleEndian.AppendUint32(header, uint32(power))
	w.section(1, header)

	w.section(2, inG1(g1, powers[:2*n-1]))
	w.section(3, inG2(g2, powers[:n]))
	w.section(4, inG1(g1, times(alpha, powers[:n])))
	w.section(5, inG1(g1, times(beta, powers[:n])))
	w.section(6, inG2(g2, []fr.Element{beta}))
	w.section(7, make([]byte, 4)) // contributions: none

	var lagrange []fr.Element // for the domains 1, 2, ..., n
	for k := 0; k <= power; k++ {
		lagrange = append(lagrange, lagrangeOf(powers[:1<<k])...)
	}
	w.section(12, inG1(g1, append(lagrange[:len(lagrange):len(lagrange)], lagrangeOf(powers)...)))
	w.section(13, inG2(g2, lagrange))
	w.section(14, inG1(g1, times(alpha, lagrange)))
	w.section(15, inG1(g1, times(beta, lagrange)))
}

// lagrangeOf returns the values of the Lagrange polynomials at τ, Σ_j ω^(-ij) τ^j / n.
func lagrangeOf(powers []fr.Element) []fr.Element {
	all := append([]fr.Element(nil), powers...)
	if len(all) > 1 {
		fft.NewDomain(uint64(len(all))).FFTInverse(all, fft.DIF)
		fft.BitReverse(all)
	}
	return all
}

func times(factor fr.Element, scalars []fr.Element) []fr.Element {
	all := make([]fr.Element, len(scalars))
	for i := range all {
		all[i].Mul(&factor, &scalars[i])
	}
	return all
}

func inG1(base bn254.G1Affine, scalars []fr.Element) (raw []byte) {
	for _, p := range bn254.BatchScalarMultiplicationG1(&base, scalars) {
		raw = append(append(raw, montgomery(&p.X)...), montgomery(&p.Y)...)
	}
	return raw
}

func inG2(base bn254.G2Affine, scalars []fr.Element) (raw []byte) {
	for _, p := range bn254.BatchScalarMultiplicationG2(&base, scalars) {
		for _, c := range []*fp.Element{&p.X.A0, &p.X.A1, &p.Y.A0, &p.Y.A1} {
			raw = append(raw, montgomery(c)...)
		}
	}
	return raw
}

// montgomery encodes an element as it is in memory: in Montgomery form, little-endian.
func montgomery(e *fp.Element) []byte {
	var raw []byte
	for _, limb := range e {
		raw = binary.LittleEndian.AppendUint64(raw, limb)
	}
	return raw
}

func (w *writer) number(v uint64, size int) {
	var raw [8]byte
	binary.LittleEndian.PutUint64(raw[:], v)
	w.write(raw[:size])
}

func (w *writer) section(kind uint64, content []byte) {
	w.number(kind, 4)
	w.number(uint64(len(content)), 8)
	w.write(content)
}

func (w *writer) write(raw []byte) {
	if w.err == nil {
		_, w.err = w.out.Write(raw)
	}
}
