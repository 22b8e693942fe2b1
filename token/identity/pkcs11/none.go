//go:build !pkcs11 || !cgo

package pkcs11

func open(*URI) (Key, error) {
	return nil, unavailable("this program was built without the tag pkcs11; build it with cgo and go build -tags pkcs11")
}
