//go:build !pkcs11 || !cgo

package pkcs11

func openSigning(*URI) (Key, error) { return nil, withoutTag() }

func openExchange(*URI) (ExchangeKey, error) { return nil, withoutTag() }

func openAny(*URI) (Key, ExchangeKey, error) { return nil, nil, withoutTag() }

func withoutTag() error {
	return unavailable("this program was built without the tag pkcs11; build it with cgo and go build -tags pkcs11")
}
