package plonkish

// Plonk returns the arithmetization of PLONK: one arithmetic gate on three columns (Gabizon, Williamson and
// Ciobotaru, ePrint 2019/953).
func Plonk() Arithmetization {
	return Arithmetization{Name: "plonk", Columns: []string{"a", "b", "c"}, Permuted: 3, Params: 5, Gates: []*Gate{Arithmetic()}}
}

// TurboPlonk returns an arithmetization of four columns (a, b, c and d), with gates that read the next
// row.
func TurboPlonk() Arithmetization {
	return Arithmetization{
		Name: "turbo", Columns: []string{"a", "b", "c", "d"}, Permuted: 4, Params: 6,
		Gates: []*Gate{Arithmetic4(), Range(), And(), Xor(), Ladder(), PointAdd(), PointDouble()},
	}
}

// UltraPlonk returns an arithmetization of five columns, with lookups. The tuple that a row looks up has
// three numbers, one for each of the columns 0, 3 and 4. The number for a column is v - p·w. Here v is the
// row's value in the column, w is the next row's value in the column, and p is a parameter of the row. The
// parameters for the three columns have the indices 7, 8 and 9. If these parameters are 0, the tuple
// consists of the row's own values. If a column accumulates digits, the tuple's number for this column can
// be a single digit.
func UltraPlonk() Arithmetization {
	digit := func(column, step int) Expr { return Cell(column).Sub(Param(step).Mul(Next(column))) }
	return Arithmetization{
		Name: "ultra", Columns: []string{"acc", "x", "y", "xa", "ya"}, Permuted: 4, Params: 10,
		Gates:   []*Gate{Arithmetic5(), Window()},
		Lookups: []Lookup{{"table", []Expr{digit(0, 7), digit(3, 8), digit(4, 9)}}},
	}
}
