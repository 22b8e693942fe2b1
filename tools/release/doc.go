// Package release tests what a release promises: that the module can be installed from its tag, and
// that its programs have the same bytes wherever they are built. It contains only tests. They check
// the last commit, not the working tree:
//
//	go test -C tools ./release
package release
