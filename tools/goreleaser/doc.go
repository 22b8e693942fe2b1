// Package goreleaser checks .goreleaser.yaml with GoReleaser's own reader, in the version that make
// dist runs. It contains only a test, in a module of its own because GoReleaser requires hundreds of
// modules:
//
//	go test -C tools/goreleaser
package goreleaser
