package prover

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner/resources"
	"github.com/zkbench/zkbench/internal/runner/subprocess"
	"github.com/zkbench/zkbench/internal/workload"
)

// Protocol is the number of the protocol between this package and resident provers: a line of
// JSON there, a line of JSON back (docs/provers.md).
const Protocol = 1

// request is a line to a prover.
type request struct {
	Do       string            `json:"do"` // start, prove, verify
	Protocol int               `json:"protocol,omitempty"`
	Dir      string            `json:"dir,omitempty"`
	Axes     map[string]string `json:"axes,omitempty"`
	Seed     string            `json:"seed,omitempty"`
	Input    string            `json:"input,omitempty"`  // a file
	Result   string            `json:"result,omitempty"` // what proving gave, to be verified
}

// response is a line of a prover.
type response struct {
	Result   string             `json:"result"`
	Bytes    int64              `json:"bytes"` // of the proof
	Error    string             `json:"error"` // empty: it went well
	Protocol int                `json:"protocol"`
	Figures  map[string]float64 `json:"figures"`
}

// startResult is the result with which a prover says that it is ready.
const startResult = "ready"

// What is asked first, and the result of a proof that is accepted.
const (
	startRequest = "start"
	accepted     = "ok"
)

// pool is the resident provers of a case, one for each operation in flight.
type pool struct {
	of      *prover
	figures []record.Metric // that the first one told
	free    chan *resident  // those that wait for work; nil in the place of one that has died

	mu      sync.Mutex
	alive   map[*resident]bool
	revived int
	longest time.Duration // that a call took
}

// resident is a prover that runs.
type resident struct {
	p       *subprocess.Process
	out     interface{ SetReadDeadline(time.Time) error }
	lines   *bufio.Reader
	partial []byte // of a line
	calls   int
	started uint64              // B resident after warmCalls
	leave   func(resources.CPU) // the processes whose time is this one's
}

// newPool starts as many provers as there are workers.
func newPool(ctx context.Context, of *prover) (*pool, error) {
	n := max(workload.Workers(ctx), 1)
	l := &pool{of: of, free: make(chan *resident, n), alive: make(map[*resident]bool)}
	of.pool = l // so that it is closed with what it has
	for range n {
		r, err := l.start(ctx)
		if err != nil {
			return l, err
		}
		l.free <- r
	}
	return l, nil
}

// start starts a prover, and has it prepare the case.
func (l *pool) start(ctx context.Context) (*resident, error) {
	// It outlives the operation, which may have been the end of the one before.
	p, err := subprocess.Start(context.WithoutCancel(ctx), l.command())
	if err != nil {
		return nil, fmt.Errorf("serve: %w", err)
	}
	r := &resident{p: p, out: p.Stdout, lines: bufio.NewReaderSize(newSpinning(p.Stdout), 64<<10)}
	r.leave = resources.Adopt(func() resources.CPU { return cpuOf(p.Look()) })
	l.mu.Lock()
	l.alive[r] = true
	l.mu.Unlock()
	axes := maps.Clone(l.of.values)
	delete(axes, "dir")
	delete(axes, "seed")
	delete(axes, "cpus")
	answer, err := l.call(ctx, r, request{Do: startRequest, Protocol: Protocol, Dir: l.of.dir, Axes: axes, Seed: l.of.values["seed"]})
	switch {
	case err != nil:
		r.p.Kill() // where it is ready later, nobody waits for it any more
		l.end(r)
		return nil, fmt.Errorf("serve: start: %w", err)
	case answer.Protocol != Protocol:
		l.end(r)
		return nil, fmt.Errorf("%w: serve: protocol %d is not known; accepted: %d", zkbench.ErrParams, answer.Protocol, Protocol)
	case answer.Result != startResult:
		l.end(r)
		return nil, fmt.Errorf("%w: serve: the answer to start is %q; accepted: %q", zkbench.ErrParams, answer.Result, startResult)
	}
	if l.figures == nil {
		for _, name := range slices.Sorted(maps.Keys(answer.Figures)) {
			if err := record.CheckReported(name, record.UnitOf(name), answer.Figures[name]); err != nil {
				l.end(r)
				return nil, fmt.Errorf("serve: figures: %w", err)
			}
			l.figures = append(l.figures, record.Reported(name, record.UnitOf(name), answer.Figures[name], record.Exact))
		}
	}
	return r, nil
}

// command is that of a prover. What one writes in all its life has no limit.
func (l *pool) command() subprocess.Command {
	c := l.of.command(l.of.Serve, nil)
	c.Limit.Written = 0
	return c
}

// do has one of the provers do something, and returns its result.
func (l *pool) do(ctx context.Context, q request) (string, error) {
	var r *resident
	select {
	case r = <-l.free:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	if r == nil { // it has died
		fresh, err := l.start(ctx)
		if err != nil {
			l.free <- nil
			return "", err
		}
		r = fresh
		l.mu.Lock()
		l.revived++
		l.mu.Unlock()
	}
	answer, err := l.call(ctx, r, q)
	if late, ok := errors.AsType[*pending](err); ok {
		// Who gives the operation up does not end the prover: it gets other work once it has
		// answered.
		go func() {
			// A prover that hangs is not waited for by the checks.
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.patience())
			defer cancel()
			_, err := l.answer(ctx, r)
			if _, still := errors.AsType[*pending](err); still {
				r.p.Kill()
				l.end(r)
			}
			l.putBack(r, err)
		}()
		return "", late.cause
	}
	l.putBack(r, err)
	if err != nil {
		return "", fmt.Errorf("%s: %w", q.Do, err)
	}
	switch {
	case q.Do == ofVerify && answer.Result != accepted:
		return "", fmt.Errorf("%s: %w", q.Do, &refusal{fmt.Sprintf("the result is %q; accepted: %q", answer.Result, accepted)})
	case q.Do == ofProve && answer.Result == "":
		return "", fmt.Errorf("%s: the result is empty; accepted: a proof", q.Do)
	case q.Do == ofProve && answer.Bytes > 0:
		l.note(answer.Bytes)
	}
	return answer.Result, nil
}

// patience is how long an answer is waited for that no operation waits for any more: three times the
// longest so far.
func (l *pool) patience() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(3*l.longest, 5*time.Second)
}

// putBack gives a prover back after a call, where it has outlived that.
func (l *pool) putBack(r *resident, err error) {
	if _, lives := errors.AsType[*refusal](err); err != nil && !lives {
		r = nil
	}
	l.free <- r
}

// note takes the size of a proof for a figure, once.
func (l *pool) note(size int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	has := func(m record.Metric) bool { return m.Name() == record.ProofSize.Name() }
	if !slices.ContainsFunc(l.figures, has) {
		l.figures = append(l.figures, record.ProofSize.Metric(float64(size)))
	}
}

// refusal is what a prover says that it could not do.
type refusal struct{ text string }

func (e *refusal) Error() string { return e.text }

// pending is a call that was given up before its answer came.
type pending struct{ cause error }

func (e *pending) Error() string { return e.cause.Error() }

// call sends a line and reads one.
func (l *pool) call(ctx context.Context, r *resident, q request) (response, error) {
	line, err := json.Marshal(q)
	if err != nil {
		return response{}, err
	}
	if n := r.lines.Buffered(); n > 0 {
		early, _ := r.lines.Peek(n) // what is there already
		shown := quoted(early)
		r.p.Kill()
		l.end(r)
		return response{}, fmt.Errorf("%w: the prover answers before it is asked: %s; %s", zkbench.ErrMalformed, shown, logsElsewhere)
	}
	_ = r.p.Stdin.SetWriteDeadline(time.Now().Add(l.of.Timeout))
	if _, err := r.p.Stdin.Write(append(line, '\n')); errors.Is(err, os.ErrDeadlineExceeded) {
		r.p.Kill()
		_, _ = l.end(r)
		return response{}, l.of.late()
	} // of one that has ended, the answer tells why
	return l.answer(ctx, r)
}

// answer reads a prover's line. One that does not answer so, or in time, is ended; a context that
// ends makes the call pending.
func (l *pool) answer(ctx context.Context, r *resident) (answer response, err error) {
	_ = r.out.SetReadDeadline(time.Now().Add(l.of.Timeout))
	begun, given := time.Now(), make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = r.out.SetReadDeadline(time.Unix(1, 0))
		close(given)
	})
	raw, err := r.line(l.of.Limit.Output)
	if !stop() {
		<-given // else it would be the deadline of the next answer
	}
	l.mu.Lock()
	l.longest = max(l.longest, time.Since(begun))
	l.mu.Unlock()
	_, beyond := errors.AsType[*zkbench.LimitError](err)
	switch {
	case err == nil:
		if err = json.Unmarshal(raw, &answer); err != nil {
			err = fmt.Errorf("%w: its line is no answer: %s: %w; accepted: a line of JSON with result, bytes or error; %s", zkbench.ErrMalformed, quoted(raw), err, logsElsewhere)
		}
	case errors.Is(err, os.ErrDeadlineExceeded) && ctx.Err() != nil:
		return answer, &pending{context.Cause(ctx)}
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = l.of.late()
	case !beyond:
		err = errDied
	}
	if err != nil {
		r.p.Kill() // it does not speak the protocol any more
		_, ended := l.end(r)
		if errors.Is(err, errDied) && ended != nil {
			err = ended
		}
		return answer, failing(err)
	}
	l.mu.Lock()
	if r.calls++; r.calls == warmCalls {
		r.started = r.p.Look().Resident
	}
	l.mu.Unlock()
	if answer.Error != "" {
		return answer, &refusal{answer.Error}
	}
	return answer, nil
}

// logsElsewhere tells whose prover writes to its standard output what is no answer, what to do.
const logsElsewhere = "logs belong on standard error"

// mostShown are the bytes of a line that an error shows.
const mostShown = 100

// quoted is the first line of a prover's output as an error shows it, cut where it is long.
func quoted(out []byte) string {
	line, _, _ := bytes.Cut(out, []byte("\n"))
	if len(line) > mostShown {
		return strconv.Quote(string(line[:mostShown])) + "..."
	}
	return strconv.Quote(string(line))
}

var errDied = errors.New("the prover ended without an answer")

// warmCalls are those after which a prover has all that it keeps.
const warmCalls = 4

// line reads a line of at most that many bytes. What there is of one whose reading was given up is
// kept for the next time.
func (r *resident) line(most int64) ([]byte, error) {
	for {
		part, err := r.lines.ReadSlice('\n')
		if n := int64(len(r.partial) + len(part)); most > 0 && n > most {
			return nil, &zkbench.LimitError{What: "bytes of a prover's answer", Estimate: n, Max: most}
		}
		if err == nil && len(r.partial) == 0 {
			return part, nil
		}
		r.partial = append(r.partial, part...)
		if err == nil {
			whole := r.partial
			r.partial = nil
			return whole, nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
	}
}

// closing is how long a prover may take to end when its input has.
const closing = 500 * time.Millisecond

// end ends a prover, and tells what it took.
func (l *pool) end(r *resident) (subprocess.Use, error) {
	l.mu.Lock()
	known := l.alive[r]
	delete(l.alive, r)
	l.mu.Unlock()
	if !known {
		return subprocess.Use{}, nil
	}
	_ = r.p.Stdin.Close()
	late := time.AfterFunc(closing, r.p.Kill)
	_ = r.out.SetReadDeadline(time.Now().Add(2 * closing)) // what it left behind may hold its output
	_, _ = io.Copy(io.Discard, r.lines)                    // up to its end
	late.Stop()
	use, err := r.p.Wait(context.Background())
	r.leave(resources.CPU{User: use.User, System: use.System})
	l.of.mu.Lock()
	l.of.used.Left += use.Left
	l.of.used.PeakRSS = max(l.of.used.PeakRSS, use.PeakRSS)
	l.of.mu.Unlock()
	return use, err
}

// growth is by how much a prover's memory may grow over its operations without a word.
const (
	growth      = 32 << 20
	growthShare = 2 // of what it had
)

// measure adds up what the provers have taken by now, and notes what is to be known.
func (l *pool) measure(note func(name, format string, args ...any)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.revived > 0 {
		note("restarted", "the prover died, and was started again %d times", l.revived)
	}
	for r := range l.alive {
		look := r.p.Look()
		l.of.mu.Lock()
		l.of.used.PeakRSS = max(l.of.used.PeakRSS, look.PeakRSS)
		l.of.mu.Unlock()
		if r.started > 0 && look.Resident > r.started+growth && look.Resident > growthShare*r.started {
			note("memory grows", "the prover had %s after %d calls and %s after %d", format.Bytes(float64(r.started)), warmCalls, format.Bytes(float64(look.Resident)), r.calls)
		}
	}
}

// cpuOf is the processor time in a look.
func cpuOf(l subprocess.Look) resources.CPU { return resources.CPU{User: l.User, System: l.System} }

// look is what the provers that run have used by now: their processor time, and the greatest
// resident set that one of them has had in its life.
func (l *pool) look() (used resources.CPU, peak uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for r := range l.alive {
		look := r.p.Look()
		used.User += look.User
		used.System += look.System
		peak = max(peak, look.PeakRSS)
	}
	return used, peak
}

// pids are those of the provers that run.
func (l *pool) pids() (pids []int) {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for r := range l.alive {
		pids = append(pids, r.p.PID())
	}
	return pids
}

// close ends all provers.
func (l *pool) close() {
	if l == nil {
		return
	}
	l.mu.Lock()
	all := slices.Collect(maps.Keys(l.alive))
	l.mu.Unlock()
	var ending sync.WaitGroup
	for _, r := range all {
		ending.Go(func() { l.end(r) })
	}
	ending.Wait()
}
