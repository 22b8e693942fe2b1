package main

// g1 is a point of y² = x³ + 3 over Fp, not the identity. How multiples are made is the build's choice.
type g1 struct{ x, y fp }

// base1 generates G1.
var base1 = g1{one, constant(2)}
