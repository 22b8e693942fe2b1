//go:build !linux

package subprocess

import "time"

func ownMark() uint64 { return 0 }
func adopt()          {}

// Sweep does nothing on this platform, and returns 0.
func Sweep(...int) int { return 0 }

// watch holds what a running program was last found to use.
type watch struct {
	resident, mark, written uint64
	user, system            time.Duration
}

func (*watch) look([]int) {}

// group is a program's control group.
type group struct{}

func newGroup() *group        { return nil }
func (*group) add(int)        {}
func (*group) members() []int { return nil }
func (*group) end() int       { return 0 }
func (*group) kill()          {}
func (*group) fill(*Use)      {}
func (*group) remove()        {}
