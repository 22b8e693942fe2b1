// Package hosts runs cases on other machines, called hosts, through OpenSSH. Each host has a copy
// of the running program in the cache directory of the user; the name of the copy contains the
// program's digest. There is one connection to each host. At the host's end of the connection, the
// copy runs and calls Serve: it receives each job as a line of JSON, and sends the job's record
// back as a line of JSON. As on the local machine, each case runs in a child process, so what a
// measured program prints cannot damage a record.
//
// Authentication is left to ssh: this package answers no questions and reads no keys.
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

// AcceptedNames tells the user which names of hosts Parse accepts.
const AcceptedNames = "hosts as ssh knows them, each once: an alias, user@host, host:port or ssh://user@host:port"

// name matches the accepted names of hosts: no name is a flag to ssh, or more than a word to a
// shell.
var name = regexp.MustCompile(`^(ssh://)?([A-Za-z0-9_.%+=][A-Za-z0-9_.%+=-]*@)?(\[[A-Za-z0-9.:%]+\]|[A-Za-z0-9_][A-Za-z0-9_.:%-]*)(:[0-9]+)?$`)

// Parse parses a comma-separated list of hosts. It returns an *argument.ValueError if a name is not
// accepted or occurs twice.
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

// destination returns the arguments that name the host to ssh, which accepts host:port only in a
// URI.
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
	// silenceLimit is after how long both sides give up a silent connection. Each sends an empty line
	// three times as often.
	silenceLimit = 30 * time.Second
	beatInterval = silenceLimit / 3
	// lastWords is how long the other side has to end its case before ssh is killed.
	lastWords = 5 * time.Second
)

// sshArgs returns the arguments of ssh that run a command on a host. ssh asks nothing, forwards
// nothing, and prints only errors. It may use a connection that is shared already but does not
// share its own: a shared one would outlive the command and hold our pipes open.
func sshArgs(host, command string) []string {
	options := []string{
		"-T", "-a", "-x", "-o", "ClearAllForwardings=yes", "-o", "BatchMode=yes", "-o", "LogLevel=ERROR", "-o", "ControlMaster=no", "-o", "RemoteCommand=none",
		"-o", fmt.Sprintf("ConnectTimeout=%d", int(beatInterval.Seconds())),
		"-o", fmt.Sprintf("ServerAliveInterval=%d", int(beatInterval.Seconds())), "-o", fmt.Sprintf("ServerAliveCountMax=%d", int(silenceLimit/beatInterval)),
	}
	return slices.Concat(options, destination(host), []string{command})
}

// refused returns the error that a host cannot be used, and why.
func refused(host, why string) error {
	return &argument.ValueError{
		Field: "on", Value: host,
		Accepted: fmt.Sprintf("hosts of %s/%s on which ssh -o BatchMode=yes runs a command; this one: %s", runtime.GOOS, runtime.GOARCH, why),
	}
}
