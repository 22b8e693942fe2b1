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

// Program is an executable that is copied to hosts and runs there.
type Program struct {
	path   string // the file to copy
	name   string
	digest string // SHA-256
	size   int64
	args   []string
}

// NewProgram returns the program whose executable is the file at path. Its copies on hosts have the
// given name. When the executable is run with the arguments args, it must call Serve.
func NewProgram(path, name string, args ...string) (*Program, error) {
	digest, size, err := subprocess.Digest(path)
	return &Program{path, name, digest, size, args}, err
}

// greeting begins every line of the script and of Serve. Lines without it come from something else
// on the host.
const greeting = "zkbench-host "

// The script says whether the host has the program, or wants a copy.
const (
	has   = "has"
	wants = "wants"
)

// script installs the program on the host, if it is not there yet, and runs it. Its arguments are
// the digest, the size and the name of the program, and the program's own arguments. While a copy
// is under way it has a name of its own. It is renamed once its digest is right, unless another
// copy has been installed meanwhile. So two that are copied at once do not harm each other, of
// which one may run already, and a copy that is cut off leaves nothing.
//
// The script is one line without quotes, backslashes and exclamation marks, because sh, csh and
// fish then read it the same way.
var script = strings.Join([]string{
	`umask 077`,
	`command -v sha256sum >/dev/null || command -v shasum >/dev/null || { echo "neither sha256sum nor shasum is installed" >&2; exit 1; }`,
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
		`right "$new" || { echo "the copy has another SHA-256 than the program" >&2; exit 1; }; ` +
		`chmod 700 "$new" || exit 1; right "$dir/$program" || mv -f "$new" "$dir/$program" || exit 1; clean; fi`,
	`exec "$dir/$program" "$@"`,
}, "; ")

// command returns the script with its arguments, quoted for a login shell.
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
		return fmt.Errorf("the program is gone: %v", err) // not %w: it is not an error of the pipe
	}
	defer file.Close()
	// Not a byte more than announced: the host would read it as a job.
	_, err = io.CopyN(w, file, p.size)
	return err
}

// uname lists what uname -m prints on machines that run this program, by GOARCH.
var uname = map[string][]string{
	"amd64": {"x86_64", "amd64"},
	"arm64": {"aarch64", "arm64"},
}

// runsHere returns an error unless machines with this output of uname -s and uname -m run this
// program.
func runsHere(system, machine string) error {
	if strings.EqualFold(system, runtime.GOOS) && slices.Contains(append(uname[runtime.GOARCH], runtime.GOARCH), machine) {
		return nil
	}
	return fmt.Errorf("it runs %s on %s", system, machine)
}
