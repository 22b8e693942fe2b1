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

// Job is a case that a child process is to run, together with the settings for this case.
type Job struct {
	Workload string        `json:"workload"` // name or command-line id
	Case     workload.Case `json:"case"`

	// Spec describes the workload if it is not one of the program's own; the child builds it from Spec.
	Spec json.RawMessage `json:"spec,omitempty"`

	Settings Settings      `json:"settings"`
	Deadline time.Duration `json:"deadline"`          // ns, for the whole case: set-up, warm-up, window, checks
	Leak     bool          `json:"leak,omitempty"`    // a timing leak test instead of a load
	Stages   bool          `json:"stages,omitempty"`  // the stages once instead of a load
	Count    string        `json:"count,omitempty"`   // directory for counts (function Count) instead of a load
	Listen   string        `json:"listen,omitempty"`  // address at which the child serves the progress of its load; empty: none
	Predict  int           `json:"predict,omitempty"` // processors for which times are computed from recorded tasks (function Predict); 0: times are measured
	Procs    int           `json:"procs,omitempty"`   // GOMAXPROCS of the child; 0: the machine's
	Record   int           `json:"record,omitempty"`  // file descriptor that the child writes its record to; 0: standard output

	// Tethered says that the parent keeps standard input open as long as it lives: the
	// child exits when its input ends.
	Tethered bool `json:"tethered,omitempty"`
}

// Caption returns a line that names the workload, the workers and the case. The case is last
// because a narrow terminal cuts off the end.
func (j Job) Caption() string {
	return fmt.Sprintf("%s, %s, %s", j.Workload, format.Plural(j.Settings.Workers, "worker"), j.Case)
}

// Deadline returns a time limit for a case with the settings s. The limit is so long that only a
// case that hangs exceeds it. It includes three minutes for set-up and checks. If the settings
// limit the number of operations but not the time (s.Duration is 0), Deadline returns 24 hours.
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

// lastWords is how long a child that was told to stop has to write its record before it is killed.
const lastWords = 2 * time.Second

// Program runs jobs, each in a child process of its own, so that no case inherits heap, caches or
// leftover goroutines from another. The child's executable must have the same workloads. The child
// reads the job as JSON on standard input. It writes its record as one line of JSON to a separate
// file descriptor, so that the output of the measured code cannot damage the record. On platforms
// where a child cannot inherit descriptors, the child writes the record to standard output, as
// older versions of the program always do.
type Program struct {
	Path string
	Args []string // for example exec-case
	Self bool     // run the executable of this process, even if its path has another file by now
}

// Run is like Do, except that it returns a record with status "failed" if the child cannot be
// started.
func (p Program) Run(ctx context.Context, job Job) *record.Record {
	rec, err := p.Do(ctx, job)
	if err != nil {
		return missing(job, record.Failed, err.Error())
	}
	return rec
}

// Do runs the job and returns its record. At the job's deadline, or when ctx ends, Do tells the
// child to stop, and kills it soon after. The record then has the status "partial" and holds what
// was measured until then. If a child dies without writing a record, Do returns a record with
// status "failed" that says how the child died. Do returns an error only if it could not start a
// child; such an error says nothing about the case.
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

// Answers returns an error if the record rec does not belong to the job: its workload, its case or
// its seed differs from the job's.
func (j Job) Answers(rec *record.Record) error {
	def := workload.Def{Name: rec.Workload}
	asked := j.Settings.New(j.Workload, j.Case)
	if j.Workload != def.Name && j.Workload != def.ID() || rec.Axes == nil || rec.Seed != asked.Seed {
		return fmt.Errorf("is for %s with seed %d, not for %s with seed %d", rec.Name(), rec.Seed, asked.Name(), asked.Seed)
	}
	for _, a := range j.Case.Axes() {
		if i := slices.Index(rec.Axes, a); i < 0 {
			return fmt.Errorf("is for %s, not for %s", rec.Name(), asked.Name())
		}
	}
	return nil
}

// caseDir creates a directory for the temporary files of one case. The caller removes it, whatever
// happened to the case's process. All such names have the same length, because the length of a
// process' arguments and environment moves its stack.
func caseDir() (string, error) {
	dir := filepath.Join(os.TempDir(), "zkbench-case-"+rand.Text())
	return dir, os.Mkdir(dir, 0o700)
}

// temporaryVariable returns the environment variable that names the directory for temporary files.
func temporaryVariable() string {
	if runtime.GOOS == "windows" {
		return "TMP"
	}
	return "TMPDIR"
}

// Interruptible prepares cmd so that its process receives an interrupt when the command's context
// ends. The parameter wait is the time after which the process is killed if it is still running.
func Interruptible(cmd *exec.Cmd, wait time.Duration) {
	cmd.WaitDelay = wait
	cmd.Cancel = func() error {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			return cmd.Process.Kill() // where a process cannot be interrupted
		}
		return nil
	}
}

// missing returns a record for a case whose child left none.
func missing(job Job, status record.Status, reason string) *record.Record {
	rec := job.Settings.New(job.Workload, job.Case)
	rec.Status, rec.Error = status, reason
	return rec
}

// Serve is the part of Program that runs in the child process. It reads a job from its input and
// runs it with the workload that the function find returns. It writes the record to the file
// descriptor that the job names (Job.Record), or to its output if the job names none. Errors of the
// measurement are in the record. Serve returns an error only if it cannot read or start the job,
// find its workload, or write the record. If the job is still running two seconds after its
// deadline, Serve calls the function hung, which must end the process.
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
	case job.Stages && job.Predict > 0:
		run = func(ctx context.Context, def workload.Def, c workload.Case, s Settings) *record.Record {
			return PredictStages(ctx, def, c, s, job.Predict)
		}
	case job.Stages:
		run = Stages
	case job.Predict > 0:
		run = func(ctx context.Context, def workload.Def, c workload.Case, s Settings) *record.Record {
			return Predict(ctx, def, c, s, job.Predict)
		}
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
		_ = record.Write(io.MultiWriter(out, &early), rec) // an error shows below, where it is written again
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

// Expected returns an estimate of how long the job takes, computed only from its settings.
func (j Job) Expected() time.Duration {
	if j.Stages || j.Settings.Duration == 0 {
		return 10 * time.Second
	}
	// Set-up, and checks, which run on all workers after the window.
	return j.Settings.Warmup.Time + j.Settings.Duration*5/4 + time.Second
}
