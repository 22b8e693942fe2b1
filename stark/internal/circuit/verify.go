package circuit

// Verifier is embedded in stark.System, and gives Verify access to it. The type parameter S stands for
// stark.Statement.
type Verifier[S any] struct {
	verify func(b *Builder, proof []byte, about S) ([]Cell, error)
}

// NewVerifier returns the Verifier of a system that does what Verify says by the function verify.
func NewVerifier[S any](verify func(b *Builder, proof []byte, about S) ([]Cell, error)) Verifier[S] {
	return Verifier[S]{verify}
}

func (v Verifier[S]) access() Verifier[S] { return v }

// System is a *stark.System that stark.New returned.
type System[S any] interface{ access() Verifier[S] }

// Verify writes down the verifier of a proof as a program, and runs this program on the proof. The statement
// must accept exactly one Form. If proof is nil, Verify runs the program on zeros, only to write it down.
// Verify returns the cells that hold the numbers of the statement, two numbers in each cell. The numbers are
// the public values, the tuple of each message, the context with its length, and the digests of the image's cap. If
// one of these lists has an odd length, its last cell ends with a 0.
//
// The program depends on the heights of the tables, and on the Bus and Times of each message. If these
// differ, another program is needed. If the proof opens other positions than the queries ask for, Verify
// returns the cells all the same. The program is then complete and has run on zeros for these positions, and
// b.Err reports the failure.
//
// Verify returns zkbench.ErrParams if the system uses another field than Goldilocks, another hash than
// Poseidon, another extension than the builder, or zero knowledge. It also returns this error if the
// statement accepts several forms.
func Verify[S any](s System[S], b *Builder, proof []byte, about S) ([]Cell, error) {
	return s.access().verify(b, proof, about)
}
