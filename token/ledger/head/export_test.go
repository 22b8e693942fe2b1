package head

// Cosigned is the message that a cosigner signs.
var Cosigned = cosigned

// StoreWith makes the Signer store its heads with f, which gets what would do it.
func (s *Signer) StoreWith(f func(path string, signed []byte, store func(path string, signed []byte) error) error) {
	s.store = func(path string, signed []byte) error { return f(path, signed, storeState) }
}
