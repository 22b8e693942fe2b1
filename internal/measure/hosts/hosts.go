// Package hosts runs cases on other machines by OpenSSH. A host keeps a copy of the running
// program in its user's cache, under its digest, and one connection for as long as it is
// asked: it runs the copy as Serve, a job goes there as a line of JSON, its record comes back as one.
// The child that measures is the copy's, as that of a local case is ours, so what a measured
// program prints damages no record.
//
// Who may connect, how and as whom, is ssh's to know: no question is answered, no key read
// here.
package hosts

import (
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zkbench/zkbench/internal/input/argument"
)

// AcceptedNames says which names of hosts are accepted.
const AcceptedNames = "hosts as ssh knows them, each once: an alias, user@host, host:port or ssh://user@host:port"

// name is what a host may be called: nothing that ssh takes for a flag, or hands to a shell
// that would read it as more than a name.
var name = regexp.MustCompile(`^(ssh://)?([A-Za-z0-9_.%+=][A-Za-z0-9_.%+=-]*@)?(\[[A-Za-z0-9.:%]+\]|[A-Za-z0-9_][A-Za-z0-9_.:%-]*)(:[0-9]+)?$`)

// Parse returns the hosts of a list with commas. The error is a *argument.ValueError.
func Parse(list string) (names []string, err error) {
	for word := range strings.SplitSeq(list, ",") {
		word = strings.TrimSpace(word)
		if !name.MatchString(word) || slices.Contains(names, word) {
			return nil, &argument.ValueError{Field: "on", Value: word, Accepted: AcceptedNames}
		}
		names = append(names, word)
	}
	return names, nil
}

// destination are the arguments by which ssh knows a host: it takes a port beside a name
// only in a URI.
func destination(host string) []string {
	colon := strings.LastIndex(host, ":")
	if colon < 0 {
		return []string{"--", host}
	}
	rest, port := host[:colon], host[colon+1:]
	if _, err := strconv.ParseUint(port, 10, 16); err != nil || strings.Contains(host, "://") ||
		strings.Contains(rest, ":") && !strings.HasSuffix(rest, "]") { // an address of IPv6 without a port
		return []string{"--", host}
	}
	return []string{"-p", port, "--", strings.NewReplacer("[", "", "]", "").Replace(rest)}
}

const (
	// silenceLimit is after how long a silent connection is given up, on both sides, each of which
	// sends an empty line three times as often.
	silenceLimit = 30 * time.Second
	beatInterval = silenceLimit / 3
	// lastWords is what the other side has to end its case, before ssh is ended.
	lastWords = 5 * time.Second
)

// sshArgs are the arguments of ssh that run a command on a host. ssh asks nothing, forwards
// nothing, and says nothing but what went wrong. It uses a connection that is shared already, and
// shares none: one that stayed would keep our pipes.
func sshArgs(host, command string) []string {
	options := []string{
		"-T", "-a", "-x", "-o", "ClearAllForwardings=yes", "-o", "BatchMode=yes", "-o", "LogLevel=ERROR", "-o", "ControlMaster=no", "-o", "RemoteCommand=none",
		"-o", fmt.Sprintf("ConnectTimeout=%d", int(beatInterval.Seconds())),
		"-o", fmt.Sprintf("ServerAliveInterval=%d", int(beatInterval.Seconds())), "-o", fmt.Sprintf("ServerAliveCountMax=%d", int(silenceLimit/beatInterval)),
	}
	return slices.Concat(options, destination(host), []string{command})
}

// refused is the error of a host that cannot be used, and why.
func refused(host, why string) error {
	return &argument.ValueError{
		Field: "on", Value: host,
		Accepted: fmt.Sprintf("hosts of %s/%s on which ssh -o BatchMode=yes runs a command; this one: %s", runtime.GOOS, runtime.GOARCH, why),
	}
}
