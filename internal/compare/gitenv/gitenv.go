// Package gitenv returns the environment variables for git and for programs that run in a checkout
// that git made. A hook or a user's shell may have set variables that say which repository, index
// and objects git uses. The environment that this package returns does not contain those variables.
package gitenv

import (
	"os"
	"slices"
	"strings"
)

// local lists the variables that bind git to a repository (git rev-parse --local-env-vars, git
// 2.47).
var local = []string{
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_CONFIG", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "GIT_DIR", "GIT_GRAFT_FILE",
	"GIT_IMPLICIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_INTERNAL_SUPER_PREFIX", "GIT_NO_REPLACE_OBJECTS", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX",
	"GIT_REPLACE_REF_BASE", "GIT_SHALLOW_FILE", "GIT_WORK_TREE",
}

// Environ returns this process' environment without the variables that bind git to a repository.
// Git then uses the repository of its working directory.
func Environ() []string {
	return slices.DeleteFunc(os.Environ(), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(local, name)
	})
}
