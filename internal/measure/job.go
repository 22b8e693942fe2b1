package measure

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/figure"
	"github.com/zkbench/zkbench/internal/record"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/usage"
	"github.com/zkbench/zkbench/internal/workload"
)

// Job is the case that a child runs.
type Job struct {
	Workload string        `json:"workload"` // name or command-line id
	Case     workload.Case `json:"case"`
	Settings Settings      `json:"settings"`
	Deadline time.Duration `json:"deadline"`         // ns, for all of it: set-up, warm-up, window, checks
	Leak     bool          `json:"leak,omitempty"`   // a timing leak test instead of a load
	Stages   bool          `json:"stages,omitempty"` // once through the stages instead of a load
	Count    string        `json:"count,omitempty"`  // directory for counts (Count) instead of a load
	Listen   string        `json:"listen,omitempty"` // address at which the child says how far its load has come; empty: none
	Procs    int           `json:"procs,omitempty"`  // GOMAXPROCS of the child; 0: the machine's
	Record   int           `json:"record,omitempty"` // descriptor that the child's record goes to; 0: its standard output

	// Tethered says that standard input stays open as long as the parent lives: the
	// child ends when it ends.
	Tethered bool `json:"tethered,omitempty"`
}

// Caption names what runs. The case stands last: a narrow terminal cuts it off.
func (j Job) Caption() string {
	return fmt.Sprintf("%s, %s, %s", j.Workload, figure.Plural(j.Settings.Workers, "worker"), j.Case)
}

// Deadline is a deadline for a case with these settings that only a case which
// hangs misses: set-up and checks have minutes of their own.
func Deadline(s Settings) time.Duration {
	if s.Duration == 0 { // until a count is reached, which takes what it takes
		return 24 * time.Hour
	}
	warmup := s.Warmup.Time
	if s.Warmup.Stationary {
		warmup += runner.DefaultWarmupLimit
	}
	return warmup + 3*s.Duration + s.Grace + 3*time.Minute
}

// lastWords is what a child that was told to stop has to write its record,
// before it is killed.
const lastWords = 2 * time.Second

// Program runs jobs, each in a child process, so that no case inherits the heap, the caches
// or the stragglers of another: a zkbench with the same workloads. The job goes to its
// standard input as JSON, its record comes back as a JSON line on a descriptor of its own, so
// that what a measured program prints does not damage it. Where a process cannot inherit one
// it comes on standard output, as that of an older program does.
type Program struct {
	Path string
	Args []string // for example exec-case
}

// Run runs the job and returns its record. At the job's deadline, or when ctx
// ends, the child is told to stop, and soon after killed; the record holds what
// was measured until then, its status is partial. A child that dies without a
// record gives a failed one that says how it died.
func (p Program) Run(ctx context.Context, job Job) *record.Record {
	job.Tethered = true
	own, err := newRecordPipe(&job)
	if err != nil {
		return missing(job, record.Failed, fmt.Sprintf("start the child: %v", err))
	}
	defer own.close()
	input, err := json.Marshal(job)
	if err != nil {
		return missing(job, record.Failed, fmt.Sprintf("encode the job: %v", err))
	}
	// The child watches the deadline too; the parent's is for one that cannot.
	limited, cancel := context.WithTimeout(ctx, job.Deadline+2*lastWords)
	defer cancel()

	printed, messages := &Tail{Limit: largestRecord}, &Tail{Limit: 64 << 10}
	child := exec.CommandContext(limited, p.Path, p.Args...)
	child.Stdout, child.Stderr = printed, messages
	own.pass(child)
	tether, err := child.StdinPipe() // closed when the child has ended, or we have
	if err != nil {
		return missing(job, record.Failed, fmt.Sprintf("start the child: %v", err))
	}
	Interruptible(child, lastWords)
	ended := child.Start()
	own.started()
	if ended == nil {
		_, _ = tether.Write(input) // a child that does not read it leaves no record either
		ended = child.Wait()
	}

	output := own.read()
	if len(output) == 0 {
		output = printed.buf
	}
	recs, err := record.ReadAll(bytes.NewReader(output))
	if len(recs) == 1 && err == nil {
		rec := recs[0]
		if rec.Workload == "" || rec.Axes == nil {
			return missing(job, record.Failed, "the child's record names no case")
		}
		return rec
	}
	switch {
	case ctx.Err() != nil:
		return missing(job, record.Partial, "interrupted before anything was measured")
	case limited.Err() != nil:
		return missing(job, record.Partial, fmt.Sprintf("killed at its deadline of %v", job.Deadline))
	case err != nil:
		return missing(job, record.Failed, fmt.Sprintf("the child's record: %v", err))
	case ended != nil:
		return missing(job, record.Failed, fmt.Sprintf("the child ended with %v: %s", ended, messages))
	}
	return missing(job, record.Failed, fmt.Sprintf("the child wrote %d records, not one", len(recs)))
}

// Interruptible has a child whose context ends be interrupted, and killed where it has not
// ended after the wait.
func Interruptible(child *exec.Cmd, wait time.Duration) {
	child.WaitDelay = wait
	child.Cancel = func() error {
		if err := child.Process.Signal(os.Interrupt); err != nil {
			return child.Process.Kill() // where a process cannot be interrupted
		}
		return nil
	}
}

// missing is the record of a case that has no record of its own.
func missing(job Job, status record.Status, reason string) *record.Record {
	rec := job.Settings.New(job.Workload, job.Case)
	rec.Status, rec.Error = status, reason
	return rec
}

// Serve is the child's side: it reads a job from in, runs it with the definition
// among defs that it names, and writes its record to where the job says, or to out. The error is for a job
// that cannot be read or names no workload; what goes wrong while measuring is
// in the record. hung is called once a job is so far beyond its deadline that it
// cannot have heeded it; it ends the process.
func Serve(ctx context.Context, in io.Reader, out io.Writer, defs []workload.Def, hung func()) error {
	var job Job
	decoder := json.NewDecoder(in)
	if err := decoder.Decode(&job); err != nil {
		return &zkbench.DecodeError{Path: "job", Reason: err.Error()}
	}
	if job.Record != 0 {
		file, err := inherited(job.Record)
		if err != nil {
			return err
		}
		defer file.Close()
		out = file
	}
	def, err := workload.Find(defs, job.Workload)
	if err != nil {
		return err
	}
	if job.Deadline <= 0 {
		return &usage.ValueError{Field: "deadline", Value: job.Deadline.String(), Accepted: "more than 0s"}
	}
	late := fmt.Errorf("stopped at its deadline of %v", job.Deadline)
	ctx, cancel := context.WithTimeoutCause(ctx, job.Deadline, late)
	defer cancel()
	defer time.AfterFunc(job.Deadline+lastWords, hung).Stop()
	if job.Tethered {
		go func() {
			_, _ = io.Copy(io.Discard, in) // until the parent is gone
			cancel()
			time.AfterFunc(lastWords, hung)
		}()
	}
	if job.Procs > 0 {
		runtime.GOMAXPROCS(job.Procs)
	}
	run := Case
	switch {
	case job.Leak:
		run = Leak
	case job.Stages:
		run = Stages
	case job.Count != "":
		run = func(ctx context.Context, def workload.Def, c workload.Case, s Settings) *record.Record {
			return Count(ctx, def, c, s, job.Count)
		}
	}
	if job.Listen != "" {
		l, err := net.Listen("tcp", job.Listen)
		if err != nil {
			return &usage.ValueError{Field: "listen", Value: job.Listen, Accepted: ListenAccepted}
		}
		watch, stop := serveProgress(l, job)
		defer stop()
		job.Settings.Watch = watch
	}
	rec := run(ctx, def, job.Case, job.Settings)
	if errors.Is(context.Cause(ctx), late) && rec.Status == record.Partial {
		rec.Error = late.Error()
	}
	return record.Write(out, rec)
}

// Tail keeps the last Limit bytes that were written to it, or up to twice as many, so that the message
// of a child's crash is at hand and a chatty child does no harm.
type Tail struct {
	Limit int
	buf   []byte
}

func (t *Tail) Write(p []byte) (int, error) {
	t.buf = append(t.buf, p...)
	if len(t.buf) > 2*t.Limit { // twice, so that not every write moves all
		t.buf = append(t.buf[:0], t.buf[len(t.buf)-t.Limit:]...)
	}
	return len(p), nil
}

// Lines returns the lines that say something.
func (t *Tail) Lines() (all []string) {
	for line := range strings.Lines(string(t.buf)) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return all
}

// String returns the first line that says something, which in a Go crash is the
// reason.
func (t *Tail) String() string {
	if lines := t.Lines(); len(lines) > 0 {
		return lines[0]
	}
	return "no message"
}

// Expected is about how long the job takes, of which nothing is known but its settings.
func (j Job) Expected() time.Duration {
	if j.Stages || j.Settings.Duration == 0 {
		return 10 * time.Second
	}
	// Set-up, and checks, which run on all workers after the window.
	return j.Settings.Warmup.Time + j.Settings.Duration*5/4 + time.Second
}
