package ledger

import (
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/zkbench/zkbench"
)

// ErrRolledBack is returned when a ledger no longer has the log that was seen before, for example because a backup
// was put in its place. It wraps zkbench.ErrEnv.
var ErrRolledBack = fmt.Errorf("%w: the ledger went back to an earlier state", zkbench.ErrEnv)

// RolledBackError reports the log that was seen before, and the log that is there now. Each is the tree of its
// records; it has one leaf more than records. Now is shorter than Seen, or does not begin with it. If a reader only
// knows that the log is shorter, Now is the zero value. RolledBackError wraps ErrRolledBack.
type RolledBackError struct{ Seen, Now tlog.Tree }

func (e *RolledBackError) Error() string {
	now := "now it ends before that"
	if e.Now.N > 0 {
		now = "now it has " + shownTree(e.Now)
	}
	return fmt.Sprintf("%v: it had %s, %s", ErrRolledBack, shownTree(e.Seen), now)
}

func (e *RolledBackError) Unwrap() error { return ErrRolledBack }

func shownTree(t tlog.Tree) string { return fmt.Sprintf("%d requests with root %v", t.N-1, t.Hash) }

// ReplacedError reports that the file at Path is no longer the file that this process has open: it was deleted,
// renamed, exchanged or overwritten. ReplacedError wraps zkbench.ErrEnv.
type ReplacedError struct{ Path string }

func (e *ReplacedError) Error() string {
	return fmt.Sprintf("%v: %s is not the file that was opened: it was deleted, renamed, exchanged or overwritten", zkbench.ErrEnv, e.Path)
}

func (e *ReplacedError) Unwrap() error { return zkbench.ErrEnv }

// Tree returns the log's tree: its number of leaves, Last()+1, and its root.
func (e *Edge) Tree() tlog.Tree { return tlog.Tree{N: int64(e.last + 1), Hash: e.Root()} }

// Peak returns the hash of the largest complete subtree whose last leaf is record Last: the last of the nodes that
// Append returned for that record. A log whose record Last has this node is not sure to have the records before the
// subtree.
func (e *Edge) Peak() tlog.Hash { return e.peaks[Nodes(e.last)-1] }
