package pairing

// size is the number of constraints of a circuit on PLONK and as R1CS.
type size struct{ plonk, r1cs int }

// sizes are those of the circuits that are built in tests; an exchange's are 3 times
// those of a pairing and of Scalars, a thousandth more or less.
func sizes() map[Relation]map[Form]size {
	return map[Relation]map[Form]size{
		Pairing: {Emulated: {8_161_424, 2_107_833}, Limbs: {20_292_361, 10_064_378}, LimbsMul: {4_814_342, 1_226_737}, Std: {3_027_526, 836_825}},
		Scalars: {Emulated: {1_487_208, 402_458}, Limbs: {3_113_886, 1_555_582}, LimbsMul: {759_924, 197_786}, Std: {676_648, 178_109}},
		Check:   {Std: {1_785_309, 503_447}},
	}
}

// Constraints is the number of constraints of a circuit, on PLONK or as R1CS.
func Constraints(r Relation, f Form, plonk bool) int {
	of := func(r Relation) int {
		s := sizes()[r][f]
		if plonk {
			return s.plonk
		}
		return s.r1cs
	}
	if r == Tripartite {
		return Parties * (of(Pairing) + of(Scalars))
	}
	return of(r)
}
