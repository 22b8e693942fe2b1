// Package gitenv is the environment of git and of what is run in its trees, where a hook or a user's
// shell may have said which repository, index and objects git is to take.
package gitenv

import (
	"os"
	"slices"
	"strings"
)

// local are the variables that bind git to a repository (git rev-parse --local-env-vars, git 2.47).
var local = []string{
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_CONFIG", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "GIT_DIR", "GIT_GRAFT_FILE",
	"GIT_IMPLICIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_INTERNAL_SUPER_PREFIX", "GIT_NO_REPLACE_OBJECTS", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX",
	"GIT_REPLACE_REF_BASE", "GIT_SHALLOW_FILE", "GIT_WORK_TREE",
}

// Environ is this process' environment without what binds git to a repository: git takes that of
// the directory that it runs in.
func Environ() []string {
	return slices.DeleteFunc(os.Environ(), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(local, name)
	})
}
