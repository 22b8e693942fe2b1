package measure

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/runner/subprocess"
	"github.com/zkbench/zkbench/internal/workload"
)

// Job is the case that a child runs.
type Job struct {
	Workload string        `json:"workload"` // name or command-line id
	Case     workload.Case `json:"case"`

	// Spec is what the child makes the workload of, where it is none of the program's own.
	Spec json.RawMessage `json:"spec,omitempty"`

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
	return fmt.Sprintf("%s, %s, %s", j.Workload, format.Plural(j.Settings.Workers, "worker"), j.Case)
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
	Self bool     // it is the one that runs, whatever has come to its path since it was started
}

// Run is Do, where a child that cannot be started is a case that failed.
func (p Program) Run(ctx context.Context, job Job) *record.Record {
	rec, err := p.Do(ctx, job)
	if err != nil {
		return missing(job, record.Failed, err.Error())
	}
	return rec
}

// Do runs the job and returns its record. At the job's deadline, or when ctx
// ends, the child is told to stop, and soon after killed; the record holds what
// was measured until then, its status is partial. A child that dies without a
// record gives a failed one that says how it died. The error is that none could be started,
// which says nothing of the case.
func (p Program) Do(ctx context.Context, job Job) (*record.Record, error) {
	job.Tethered = true
	own, err := newRecordPipe(&job)
	if err != nil {
		return nil, notStarted(err)
	}
	defer own.close()
	input, err := json.Marshal(job)
	if err != nil {
		return nil, fmt.Errorf("encode the job: %w", err)
	}
	// The child watches the deadline too; the parent's is for one that cannot.
	limited, cancel := context.WithTimeout(ctx, job.Deadline+2*lastWords)
	defer cancel()

	temporary, err := caseDir()
	if err != nil {
		return nil, notStarted(err)
	}
	defer os.RemoveAll(temporary)

	printed, messages := &subprocess.Tail{Limit: LargestRecord}, &subprocess.Tail{Limit: 64 << 10}
	cmd := exec.CommandContext(limited, p.Path, p.Args...)
	if p.Self {
		if cmd.Path, err = subprocess.Executable(); err != nil {
			return nil, notStarted(err)
		}
	}
	cmd.Stdout, cmd.Stderr = printed, messages
	own.pass(cmd)
	entry := temporaryVariable() + "=" + temporary
	cmd.Env = append(os.Environ(), entry)
	tether, err := cmd.StdinPipe() // closed when the child has ended, or we have
	if err != nil {
		return nil, notStarted(err)
	}
	Interruptible(cmd, lastWords)
	err = cmd.Start()
	own.started()
	if err != nil && ctx.Err() == nil {
		return nil, notStarted(err)
	}
	ended := err
	if err == nil {
		_, _ = tether.Write(input) // a child that does not read it leaves no record either
		ended = cmd.Wait()
	}

	output := own.read()
	if len(output) == 0 {
		output = printed.Bytes()
	}
	recs, err := record.ReadAll(bytes.NewReader(output))
	if len(recs) == 2 && recs[0].ID == recs[1].ID { // with what was found in doubt
		recs = recs[1:]
	}
	if cmd.Process != nil && (len(recs) != 1 || err != nil || ended != nil) { // it may have been killed
		subprocess.Bury(cmd.Process.Pid, entry)
	}
	if len(recs) == 1 && ended != nil && recs[0].Status == record.OK && ctx.Err() == nil {
		err = nil // of a second record that was cut off
		recs[0].Findings = append(recs[0].Findings, record.Finding{
			Name: "doubted",
			Text: fmt.Sprintf("after its figures were taken the process ended with %v, while its check was shown wrong results, its inputs were made again, or it was closed", ended),
		})
	}
	if len(recs) == 1 && err == nil {
		if err := job.Answers(recs[0]); err != nil {
			return missing(job, record.Failed, "the child's record "+err.Error()), nil
		}
		return recs[0], nil
	}
	switch {
	case ctx.Err() != nil:
		return missing(job, record.Partial, "interrupted before anything was measured"), nil
	case limited.Err() != nil:
		return missing(job, record.Partial, fmt.Sprintf("killed at its deadline of %v", job.Deadline)), nil
	case err != nil:
		return missing(job, record.Failed, fmt.Sprintf("the child's record: %v", err)), nil
	case ended != nil:
		return missing(job, record.Failed, fmt.Sprintf("the child ended with %v: %s", ended, subprocess.Cause(ended.Error(), messages.Message()))), nil
	}
	return missing(job, record.Failed, fmt.Sprintf("the child wrote %d records, not one", len(recs))), nil
}

func notStarted(err error) error { return fmt.Errorf("start the child: %w", err) }

// Answers returns why a record is none of the job: it is of another case or seed.
func (j Job) Answers(rec *record.Record) error {
	def := workload.Def{Name: rec.Workload}
	asked := j.Settings.New(j.Workload, j.Case)
	if j.Workload != def.Name && j.Workload != def.ID() || rec.Axes == nil || rec.Seed != asked.Seed {
		return fmt.Errorf("is of %s with seed %d, where %s with seed %d was to be measured", rec.Name(), rec.Seed, asked.Name(), asked.Seed)
	}
	for _, a := range j.Case.Axes() {
		if i := slices.Index(rec.Axes, a); i < 0 {
			return fmt.Errorf("is of %s, where %s was to be measured", rec.Name(), asked.Name())
		}
	}
	return nil
}

// caseDir makes a directory for the temporary files of one case, which is removed with them
// whatever becomes of its process. Its name is as long as any other's: the length of what a
// process starts with moves its stack.
func caseDir() (string, error) {
	dir := filepath.Join(os.TempDir(), "zkbench-case-"+rand.Text())
	return dir, os.Mkdir(dir, 0o700)
}

// temporaryVariable names the directory for temporary files.
func temporaryVariable() string {
	if runtime.GOOS == "windows" {
		return "TMP"
	}
	return "TMPDIR"
}

// Interruptible has a child whose context ends be interrupted, and killed where it has not
// ended after the wait.
func Interruptible(cmd *exec.Cmd, wait time.Duration) {
	cmd.WaitDelay = wait
	cmd.Cancel = func() error {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			return cmd.Process.Kill() // where a process cannot be interrupted
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

// Serve is the child's side: it reads a job from in, runs it with the definition that find returns,
// and writes its record to where the job says, or to out. The error is for a job
// that cannot be read or names no workload; what goes wrong while measuring is
// in the record. hung is called once a job is so far beyond its deadline that it
// cannot have heeded it; it ends the process.
func Serve(ctx context.Context, in io.Reader, out io.Writer, find func(Job) (workload.Def, error), hung func()) error {
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
	def, err := find(job)
	if err != nil {
		return err
	}
	if job.Deadline <= 0 {
		return &argument.ValueError{Field: "deadline", Value: job.Deadline.String(), Accepted: "more than 0s"}
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
			return &argument.ValueError{Field: "listen", Value: job.Listen, Accepted: ListenAccepted}
		}
		watch, stop := serveProgress(l, job)
		defer stop()
		job.Settings.Watch = watch
	}
	var early bytes.Buffer // the record before it is doubted
	job.Settings.Measured = func(rec *record.Record) {
		_ = record.Write(io.MultiWriter(out, &early), rec) // what is wrong with it is said below
	}
	rec := run(ctx, def, job.Case, job.Settings)
	if errors.Is(context.Cause(ctx), late) && rec.Status == record.Partial {
		rec.Error = late.Error()
	}
	var last bytes.Buffer
	if err := record.Write(&last, rec); err != nil {
		return err
	}
	if bytes.Equal(early.Bytes(), last.Bytes()) {
		return nil
	}
	_, err = out.Write(last.Bytes())
	return err
}

// Expected is about how long the job takes, of which nothing is known but its settings.
func (j Job) Expected() time.Duration {
	if j.Stages || j.Settings.Duration == 0 {
		return 10 * time.Second
	}
	// Set-up, and checks, which run on all workers after the window.
	return j.Settings.Warmup.Time + j.Settings.Duration*5/4 + time.Second
}
