package main

// g1 is a point of y² = x³ + 3 over Fp, except the identity. The build's tags select how multiples
// are computed.
type g1 struct{ x, y fp }

// base1 generates G1.
var base1 = g1{one, constant(2)}
