package zkbench

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/study/peer"
	"github.com/zkbench/zkbench/internal/testing/golden"
)

// TestPeersExitCodes: what cannot run has failed, what was stopped is partial,
// and what was asked for wrongly is neither.
func TestPeersExitCodes(t *testing.T) {
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	absent := peer.Program{Name: "absent", Argv: []string{filepath.Join(t.TempDir(), "peer")}}
	for _, test := range []struct {
		name    string
		ctx     context.Context
		opts    peer.Options
		code    int
		says    string // the error
		written string // the output
	}{
		{"programs=absent", t.Context(), peer.Options{}, cli.ExitFailed, "no program could be started", "absent: not built: run make peers"},
		{"ctx=stopped", stopped, peer.Options{}, cli.ExitPartial, "interrupted after 0 processes", ""},
		{"rounds=1", t.Context(), peer.Options{Rounds: 1}, cli.ExitUsage, "at least 10", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out bytes.Buffer
			err := comparePeers(test.ctx, &out, filepath.Join(t.TempDir(), "medians"), []peer.Program{absent}, test.opts, nil)
			if code := cli.CodeOf(err); code != test.code || err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("exit code %d, %v; want %d, ...%s", code, err, test.code, test.says)
			}
			golden.Equal(t, "refused for its parameters", test.code == cli.ExitUsage, errors.Is(err, zkbench.ErrParams))
			if !strings.Contains(out.String(), test.written) || test.written == "" && out.Len() > 0 {
				t.Errorf("output %q, want ...%q", &out, test.written)
			}
		})
	}
}

// TestPeerProgramsOurs: ratios divide by ours, which have our name.
func TestPeerProgramsOurs(t *testing.T) {
	for _, p := range peerPrograms("zkbench", "peers") {
		golden.Equal(t, p.Name+": ours", p.Ours, strings.HasPrefix(p.Name, "zkbench-"))
	}
}

// TestProvers: the same number of processors for all, and another target builds those of others.
func TestProvers(t *testing.T) {
	for _, p := range provers("zkbench", "peers", 2) {
		golden.Equal(t, p.Name+": ours", p.Ours, strings.HasPrefix(p.Name, "zkbench-"))
		golden.Equal(t, p.Name+": processors", []string{"GOMAXPROCS=2", "RAYON_NUM_THREADS=2", "TOKIO_WORKER_THREADS=2"}, p.Env)
		if !p.Ours {
			skip := peer.Skip{Program: p.Name, Target: p.Target, Err: &os.PathError{Path: "program", Err: os.ErrNotExist}}
			golden.Equal(t, "skipped", p.Name+": not built: run make peers-prove (no program)", skip.String())
		}
	}
}

// TestPeerProgramsBest: of our kernels the fastest comes first, which ratios divide by.
func TestPeerProgramsBest(t *testing.T) {
	programs := peerPrograms("zkbench", "peers")
	first := slices.IndexFunc(programs, func(p peer.Program) bool { return strings.HasPrefix(p.Name, "zkbench-goldilocks-") })
	var fastest goldilocks.Kernel
	if first < 0 || programs[first].Name != "zkbench-goldilocks-"+fastest.String() {
		t.Errorf("programs %v", programs)
	}
}
