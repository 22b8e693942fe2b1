package hosts

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/runner/subprocess"
)

// Program is what a host runs.
type Program struct {
	path   string // where it is read
	name   string
	digest string // SHA-256
	size   int64
	args   []string
}

// NewProgram returns the program in a file, which has that name on hosts, and whose arguments make it
// call Serve.
func NewProgram(path, name string, args ...string) (*Program, error) {
	digest, size, err := subprocess.Digest(path)
	return &Program{path, name, digest, size, args}, err
}

// greeting begins every line of the script and of Serve: what others print there is none of theirs.
const greeting = "zkbench-host "

// What the script says of the host's copy.
const (
	has   = "has"
	wants = "wants"
)

// script puts the program in its place, if it is not there, and runs it. Its arguments are
// the digest, the size and the name of the program, and those that it is run with. A copy
// that is under way has a name of its own, and takes its place when its digest is right and
// none has come there meanwhile: of two that come at once none harms the other, which may run
// already, and one that is cut off leaves nothing.
//
// It is one line without quotes, backslashes and exclamation marks: those of sh, csh and fish
// mean the same then, whichever is the user's.
var script = strings.Join([]string{
	`umask 077`,
	`command -v sha256sum >/dev/null || command -v shasum >/dev/null || { echo "neither sha256sum nor shasum is there" >&2; exit 1; }`,
	`digest=$1 size=$2 dir=${XDG_CACHE_HOME:-$HOME/.cache}/zkbench/$1 program=$3`,
	`shift 3`,
	`right() { test -f "$1" && test "$({ sha256sum || shasum -a 256; } 2>/dev/null <"$1" | cut -c 1-64)" = "$digest"; }`,
	`clean() { rm -f "$new"; }`,
	`says=` + has,
	`right "$dir/$program" || says=` + wants,
	`if test $says = ` + wants + `; then mkdir -p "$dir" && new=$(mktemp "$dir/.copy.XXXXXX") || exit 1; ` +
		`trap clean EXIT; trap "exit 1" HUP INT PIPE TERM; fi`,
	`echo; echo "` + greeting + `$says $(uname -s) $(uname -m)"`,
	`if test $says = ` + wants + `; then head -c "$size" >"$new" || exit 1; ` +
		`right "$new" || { echo "what was copied has another SHA-256 than the program had" >&2; exit 1; }; ` +
		`chmod 700 "$new" || exit 1; right "$dir/$program" || mv -f "$new" "$dir/$program" || exit 1; clean; fi`,
	`exec "$dir/$program" "$@"`,
}, "; ")

// command is the script with its arguments, as a login shell takes it.
func (p *Program) command() string {
	words := slices.Concat([]string{"sh", "-c", script, "zkbench", p.digest, strconv.FormatInt(p.size, 10), p.name}, p.args)
	for i, w := range words {
		words[i] = argument.Quote(w)
	}
	return strings.Join(words, " ")
}

// send writes the program to a host that wants it.
func (p *Program) send(w io.Writer) error {
	file, err := os.Open(p.path)
	if err != nil {
		return fmt.Errorf("the program is gone: %v", err) // which is not the pipe's error
	}
	defer file.Close()
	// No more than was said: what follows would be taken for a job.
	_, err = io.CopyN(w, file, p.size)
	return err
}

// uname is what uname -s and uname -m print on machines that run this program.
var uname = map[string][]string{
	"amd64": {"x86_64", "amd64"},
	"arm64": {"aarch64", "arm64"},
}

// runsHere tells of a system and a machine of uname whether they run this program.
func runsHere(system, machine string) error {
	if strings.EqualFold(system, runtime.GOOS) && slices.Contains(append(uname[runtime.GOARCH], runtime.GOARCH), machine) {
		return nil
	}
	return fmt.Errorf("it is of %s on %s", system, machine)
}
