//go:build purego || (!amd64 && !arm64)

package sve

var assembled = map[string]*assembly{"portable": {}}
