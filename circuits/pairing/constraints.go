package pairing

// size is the number of constraints of a circuit on PLONK and as R1CS.
type size struct{ plonk, r1cs int }

// sizes are those of the circuits that can be built.
func sizes() map[Relation]map[Form]size {
	return map[Relation]map[Form]size{
		Tripartite: {Emulated: {27_960_136, 7_201_848}, LimbsMul: {15_373_368, 3_862_180}, Std: {10_293_558, 2_810_349}},
		Pairing:    {Emulated: {8_161_424, 2_107_833}, Limbs: {20_292_361, 10_064_378}, LimbsMul: {4_814_342, 1_226_737}, Std: {3_027_526, 836_825}},
		Scalars:    {Emulated: {1_487_208, 402_458}, Limbs: {3_113_886, 1_555_582}, LimbsMul: {759_924, 197_786}, Std: {676_648, 178_109}},
		Check:      {Std: {1_785_309, 503_447}},
	}
}

// Composed tells whether Constraints are those of a circuit's parts: of the exchange on
// Limbs, which takes more memory to build than most machines have.
func Composed(r Relation, f Form) bool { return r == Tripartite && f == Limbs }

// Constraints is the number of constraints of a circuit, on PLONK or as R1CS; 0: there is
// no such circuit.
func Constraints(r Relation, f Form, plonk bool) int {
	if Composed(r, f) {
		return Parties * (Constraints(Pairing, f, plonk) + Constraints(Scalars, f, plonk))
	}
	s := sizes()[r][f]
	if plonk {
		return s.plonk
	}
	return s.r1cs
}
