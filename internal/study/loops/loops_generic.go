//go:build purego || (!amd64 && !arm64)

package loops

var assembled []Loop
