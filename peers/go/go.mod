module github.com/zkbench/zkbench/peers/go

go 1.26.8

require (
	github.com/coinbase/kryptology v1.8.0
	github.com/gtank/merlin v0.1.1
	github.com/pokt-network/smt v0.14.1
	go.etcd.io/bbolt v1.5.0
)

require (
	filippo.io/edwards25519 v1.2.0 // indirect
	github.com/btcsuite/btcd v0.21.0-beta.0.20201114000516-e9c7a5ac6401 // indirect
	github.com/bwesterb/go-ristretto v1.2.0 // indirect
	github.com/consensys/gnark-crypto v0.5.3 // indirect
	github.com/mimoo/StrobeGo v0.0.0-20181016162300-f8f6d4d2b643 // indirect
	github.com/pkg/errors v0.9.1 // indirect
	golang.org/x/crypto v0.0.0-20210711020723-a769d52b0f97 // indirect
	golang.org/x/sys v0.45.0 // indirect
)
