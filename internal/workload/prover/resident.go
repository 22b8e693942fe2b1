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

// Protocol is the version of the protocol between this package and resident provers. A request is
// a line of JSON, and its answer is another one (docs/provers.md).
const Protocol = 1

// request is a line that is sent to a prover.
type request struct {
	Do       string            `json:"do"` // start, prove, verify
	Protocol int               `json:"protocol,omitempty"`
	Dir      string            `json:"dir,omitempty"`
	Axes     map[string]string `json:"axes,omitempty"`
	Seed     string            `json:"seed,omitempty"`
	Input    string            `json:"input,omitempty"`  // the path of a file
	Result   string            `json:"result,omitempty"` // the result of proving, for verify
}

// response is a line that a prover answers.
type response struct {
	Result   string             `json:"result"`
	Bytes    int64              `json:"bytes"` // of the proof
	Error    string             `json:"error"` // empty if the request succeeded
	Protocol int                `json:"protocol"`
	Figures  map[string]float64 `json:"figures"`
}

// startResult is the result with which a prover says that it is ready.
const startResult = "ready"

const (
	startRequest = "start" // the first request
	accepted     = "ok"    // the result of verifying a proof that is accepted
)

// pool holds the resident provers of a case, one for each operation in flight.
type pool struct {
	of      *prover
	figures []record.Metric // that the first one reported
	free    chan *resident  // provers that wait for work; nil in place of one that has died

	mu      sync.Mutex
	alive   map[*resident]bool
	revived int
	longest time.Duration // the longest time of a call so far
}

// resident is a running prover.
type resident struct {
	p       *subprocess.Process
	out     interface{ SetReadDeadline(time.Time) error }
	lines   *bufio.Reader
	partial []byte // the part of a line that has been read
	calls   int
	started uint64              // resident memory in bytes after warmCalls
	leave   func(resources.CPU) // takes the prover out of the processes whose time counts as this one's
}

// newPool starts as many provers as there are workers.
func newPool(ctx context.Context, of *prover) (*pool, error) {
	n := max(workload.Workers(ctx), 1)
	l := &pool{of: of, free: make(chan *resident, n), alive: make(map[*resident]bool)}
	of.pool = l // so that Close ends the provers that were started, also after an error
	for range n {
		r, err := l.start(ctx)
		if err != nil {
			return l, err
		}
		l.free <- r
	}
	return l, nil
}

// start starts a prover, and waits until it has prepared the case.
func (l *pool) start(ctx context.Context) (*resident, error) {
	// The prover outlives the operation that starts it in place of one that has died.
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
		r.p.Kill() // nobody waits for it any more, even if it becomes ready later
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

// command returns the command that starts a prover. It does not limit what a prover writes over its whole life.
func (l *pool) command() subprocess.Command {
	c := l.of.command(l.of.Serve, nil)
	c.Limit.Written = 0
	return c
}

// do sends a request to one of the provers, and returns its result.
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
		// Giving up the operation does not end the prover. It gets other work after it has
		// answered.
		go func() {
			// The checks do not wait for a prover that hangs.
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

// patience returns how long to wait for an answer that no operation waits for any more. It is three times as long as
// the longest call so far took, and at least five seconds.
func (l *pool) patience() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(3*l.longest, 5*time.Second)
}

// putBack makes a prover free again after a call. If the call has ended the prover, it puts nil in its place.
func (l *pool) putBack(r *resident, err error) {
	if _, lives := errors.AsType[*refusal](err); err != nil && !lives {
		r = nil
	}
	l.free <- r
}

// note adds the size of a proof to the figures, unless they have one.
func (l *pool) note(size int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	has := func(m record.Metric) bool { return m.Name() == record.ProofSize.Name() }
	if !slices.ContainsFunc(l.figures, has) {
		l.figures = append(l.figures, record.ProofSize.Metric(float64(size)))
	}
}

// refusal is the error with which a prover answers that it could not do what was asked.
type refusal struct{ text string }

func (e *refusal) Error() string { return e.text }

// pending is the error of a call that was given up before the answer came.
type pending struct{ cause error }

func (e *pending) Error() string { return e.cause.Error() }

// call sends a request and reads the answer.
func (l *pool) call(ctx context.Context, r *resident, q request) (response, error) {
	line, err := json.Marshal(q)
	if err != nil {
		return response{}, err
	}
	if n := r.lines.Buffered(); n > 0 {
		early, _ := r.lines.Peek(n) // what the prover has written already
		shown := quoted(early)
		r.p.Kill()
		l.end(r)
		return response{}, fmt.Errorf("%w: the prover answers before it is asked: %s; %s", zkbench.ErrMalformed, shown, logsElsewhere)
	}
	_ = r.p.Stdin.SetWriteDeadline(time.Now().Add(l.of.Timeout))
	if _, err := r.p.Stdin.Write(append(line, '\n')); errors.Is(err, os.ErrDeadlineExceeded) {
		r.p.Kill()
		_, _ = l.end(r)
		return response{}, l.of.timeoutError()
	} // if the prover has ended, reading the answer says why
	return l.answer(ctx, r)
}

// answer reads a prover's answer. It ends a prover that answers something else or not in time. If ctx ends first, answer
// returns a *pending.
func (l *pool) answer(ctx context.Context, r *resident) (answer response, err error) {
	_ = r.out.SetReadDeadline(time.Now().Add(l.of.Timeout))
	begun, given := time.Now(), make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = r.out.SetReadDeadline(time.Unix(1, 0))
		close(given)
	})
	raw, err := r.line(l.of.Limit.Output)
	if !stop() {
		<-given // otherwise it could set the deadline of the next answer
	}
	l.mu.Lock()
	l.longest = max(l.longest, time.Since(begun))
	l.mu.Unlock()
	_, beyond := errors.AsType[*zkbench.LimitError](err)
	switch {
	case err == nil:
		if err = json.Unmarshal(raw, &answer); err != nil {
			err = fmt.Errorf("%w: the prover's line is not an answer: %s: %w; accepted: a line of JSON with result, bytes or error; %s", zkbench.ErrMalformed, quoted(raw), err, logsElsewhere)
		}
	case errors.Is(err, os.ErrDeadlineExceeded) && ctx.Err() != nil:
		return answer, &pending{context.Cause(ctx)}
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = l.of.timeoutError()
	case !beyond:
		err = errDied
	}
	if err != nil {
		r.p.Kill() // it does not speak the protocol any more
		_, ended := l.end(r)
		if errors.Is(err, errDied) && ended != nil {
			err = ended
		}
		return answer, asFailure(err)
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

// logsElsewhere says what to do about a prover that writes something other than answers to its standard output.
const logsElsewhere = "logs belong on standard error"

// mostShown is the maximum number of bytes of a line that an error shows.
const mostShown = 100

// quoted returns the first line of a prover's output for an error, cut if it is long.
func quoted(out []byte) string {
	line, _, _ := bytes.Cut(out, []byte("\n"))
	if len(line) > mostShown {
		return strconv.Quote(string(line[:mostShown])) + "..."
	}
	return strconv.Quote(string(line))
}

var errDied = errors.New("the prover ended without an answer")

// warmCalls is the number of calls after which a prover is expected to have allocated all that it keeps.
const warmCalls = 4

// line reads a line of at most most bytes. If reading is given up within a line, the part that was read is kept for the
// next call.
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

// closing is the time that a prover has to end after its input has ended.
const closing = 500 * time.Millisecond

// end ends a prover, and returns what it used.
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
	_ = r.out.SetReadDeadline(time.Now().Add(2 * closing)) // processes that it left behind may keep its output open
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

// A finding reports a prover whose memory has grown by more than growth bytes, and to more than growthShare times what it
// had after warmCalls.
const (
	growth      = 32 << 20
	growthShare = 2
)

// measure updates the peak resident set, and notes that provers died or that their memory grows.
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

// use returns what the running provers have used so far. used is the sum of their processor times, and peak is the
// largest peak resident set of one of them.
func (l *pool) use() (used resources.CPU, peak uint64) {
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

// pids returns the process ids of the running provers.
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
