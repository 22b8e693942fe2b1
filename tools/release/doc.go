// Package release holds what a release promises: that the module can be installed from its tag,
// and that its programs are the same bytes wherever they are built. It has tests alone, which
// look at the last commit and not at what has changed since:
//
//	go test -C tools ./release
package release
