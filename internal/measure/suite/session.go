package suite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/result/env"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner/resources"
	"github.com/zkbench/zkbench/internal/runner/subprocess"
	"github.com/zkbench/zkbench/internal/sys/atomicfile"
)

// ErrInterrupted says that a suite was stopped before its end and can be resumed.
var ErrInterrupted = errors.New("interrupted")

// Session is a run of a suite. It measures the cases of a plan and stores their records in a
// folder, so that the run can be stopped and resumed.
type Session struct {
	dir     string
	header  Header
	journal *Journal
	earlier map[string]*record.Record // records that the journal had, by the case's key

	caller   Caller
	folder   *Folder
	status   Status
	estimate *Estimate
	bars     *bars
	running  map[string]begun // running cases by host
}

// begun is a case that runs, and since when.
type begun struct {
	name string
	at   time.Time
}

// Caller has the functions and settings that a Session needs from the program that runs it.
type Caller struct {
	// Measure is as in Run. Texts given to say are shown with the name of the case's host.
	Measure func(ctx context.Context, c *Case, say func(text string)) (*record.Record, error)
	// Views writes tables, plots and pages of the records into the folder, and lists them on Stdout.
	Views          func(dir string, recs []*record.Record) error
	Attempts       int    // how often to try a case that fails; 0: once, or twice if disturbed cases are measured again
	Failures       string // file or folder within the folder that shows why cases failed
	Again          string // the command to resume with, as a user types it before --resume; empty: none
	Stdout, Stderr io.Writer
}

// Begin begins a session that measures the plan p. It creates the folder dir if it does not exist.
// Session.Run runs the cases.
func Begin(dir string, p *Plan) (*Session, error) {
	header := p.Header
	var j *Journal
	var err error
	if header.Program, err = programDigest(); err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err == nil {
		j, err = Create(dir, header)
	}
	if err != nil {
		return nil, fmt.Errorf("out: %w", err)
	}
	return &Session{dir: dir, header: header, journal: j}, nil
}

// Resume opens the folder dir to continue the run in it. The parameter study is the name of the
// study to which the folder must belong. If study is empty, the folder must belong to a suite.
// Resume returns an *argument.ValueError if the folder belongs to anything else. It returns
// zkbench.ErrEnv if the run was begun by another build or on a machine that differs. It can also
// return the errors of Open.
func Resume(dir, study string) (*Session, error) {
	j, header, err := Open(dir)
	if err != nil {
		return nil, fmt.Errorf("resume: %w", err)
	}
	if err := header.isOf(dir, study); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	earlier, err := j.Records()
	if err == nil {
		err = sameMachine(header, earlier)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("resume: %w", err), j.Close())
	}
	return &Session{dir: dir, header: header, journal: j, earlier: earlier}, nil
}

// ReadPlan returns the plan of the suite in the folder dir, without the plan's notes.
func ReadPlan(dir string) (*Plan, error) {
	j, header, err := Open(dir)
	if err != nil {
		return nil, fmt.Errorf("resume: %w", err)
	}
	return &Plan{Header: header}, errors.Join(header.isOf(dir, ""), j.Close())
}

// isOf returns an *argument.ValueError if the folder is not one of the study, or not a suite's if study is empty.
func (h *Header) isOf(dir, study string) error {
	name := func(study string) string {
		if study == "" {
			return "a suite"
		}
		return "study " + study
	}
	if h.Study == study {
		return nil
	}
	return &argument.ValueError{Field: "resume", Value: dir, Accepted: fmt.Sprintf("a folder of %s; this is one of %s", name(study), name(h.Study))}
}

// Portable returns the SHA-256 of the program that runs a study's portable cases, that is, the
// cases that run without assembly. It returns an empty string if there are no such cases.
func (s *Session) Portable() string { return s.header.Portable }

// Retry forgets the records of cases that did not end well, so that Run measures them again.
func (s *Session) Retry() error {
	var keys []string
	for key, rec := range s.earlier {
		if rec.Status != record.OK {
			keys = append(keys, key)
			delete(s.earlier, key)
		}
	}
	return s.journal.Forget(keys...)
}

// sameMachine returns zkbench.ErrEnv if a suite was begun by another build or on a machine that
// differs: their figures could not be compared with new ones.
func sameMachine(h Header, earlier map[string]*record.Record) error {
	program, err := programDigest()
	if err != nil {
		return err
	}
	if program != h.Program {
		return fmt.Errorf("%w: the suite was begun by another build of the program; accepted: the same", zkbench.ErrEnv)
	}
	now := env.Read()
	for i := range h.Plan {
		r := earlier[h.Plan[i].Key()]
		if r == nil || h.Plan[i].Host != "" { // hosts are checked when they connect
			continue
		}
		differs := env.AllDifferences(r.Env, now)
		if len(differs) == 0 {
			return nil // all earlier records have the same environment
		}
		return fmt.Errorf("%w: the suite was begun in another environment: %s; accepted: the same machine, settings and build", zkbench.ErrEnv, strings.Join(differs, "; "))
	}
	return nil
}

// programDigest returns the SHA-256 of the running program.
func programDigest() (string, error) {
	path, err := subprocess.Executable()
	if err != nil {
		return "", err
	}
	digest, _, err := subprocess.Digest(path)
	return digest, err
}

// Plan returns all processes that the suite runs.
func (s *Session) Plan() []Case { return s.header.Plan }

// Hosts returns information about the other machines that run cases of the suite. The result
// pending contains the names of the hosts that still have cases to run. The map known maps the
// name of a host to the environment that the host had when the suite was begun. The result
// hostWait is how long to wait for a host after the connection to it was lost.
func (s *Session) Hosts() (pending []string, known map[string]record.Env, hostWait time.Duration) {
	var missing []Case
	for i := range s.header.Plan {
		if c := &s.header.Plan[i]; c.Host != "" && s.earlier[c.Key()] == nil {
			missing = append(missing, *c)
		}
	}
	return Hosts(missing), s.header.Hosts, s.header.HostWait
}

// Close closes the journal.
func (s *Session) Close() error { return s.journal.Close() }

// Run measures the cases that have no record in the journal yet. It then writes the tables, plots
// and pages of all records (Caller.Views). It returns ErrInterrupted if ctx ended or if a host was
// lost. Any other error says that a case failed, or that something could not be written.
func (s *Session) Run(ctx context.Context, caller Caller) error {
	var err error
	if s.folder, err = OpenFolder(s.dir, s.header.Plan, s.earlier); err != nil {
		return fmt.Errorf("out: %w", err)
	}
	s.caller = caller
	s.running = make(map[string]begun)
	s.estimate = NewEstimate(s.header.Plan)
	s.status = Status{Suite: s.header.Suite, Session: s.header.Session, Begun: s.header.Begun, Planned: len(s.header.Plan), Headline: s.header.Headline}
	s.bars = newBars(caller.Stdout, caller.Stderr, s.estimate)
	attempts := caller.Attempts
	if s.header.Again {
		attempts = max(attempts, 2) // to measure a disturbed case once more
	}
	run := Run{
		Cases: s.header.Plan, Journal: s.journal, Session: s.header.Session, Earlier: s.earlier,
		Measure: func(ctx context.Context, c *Case) (*record.Record, error) {
			return caller.Measure(ctx, c, func(text string) { s.bars.say(c, text) })
		},
		Begins: s.begins, Ended: s.ended, Noise: s.header.Noise, Attempts: attempts,
		Await: func(ctx context.Context, limit time.Duration) time.Duration {
			waited, _ := resources.AwaitQuiet(ctx, limit)
			return waited
		},
	}
	stopped := run.All(ctx)
	s.bars.close()
	return s.finish(ctx, stopped)
}

func (s *Session) begins(_ int, c *Case) {
	s.running[c.Host] = begun{c.Name(), time.Now()}
	var names []string
	for _, host := range slices.Sorted(maps.Keys(s.running)) {
		names = append(names, s.running[host].name)
	}
	s.status.Running, s.status.Left = strings.Join(names, ", "), s.estimate.Remaining()
	_ = s.status.Write(s.dir) // only a view: the journal stores the record when the case ends
	s.bars.begins(s.status.Done, c)
}

func (s *Session) ended(i int, c *Case, rec *record.Record, fresh bool) error {
	took := time.Since(s.running[c.Host].at)
	delete(s.running, c.Host)
	if !fresh {
		took = 0
		for _, stage := range rec.Stages {
			took += stage.Time
		}
	}
	s.estimate.Took(i, took)
	s.status.Done++
	switch {
	case rec.Status == record.OK || c.Excuses(rec):
	case rec.Outcome().OnPurpose():
		s.status.Refused++
	default:
		s.status.Failed++
	}
	if fresh {
		s.bars.ended(s.status.Done, c, rec, took)
	}
	if err := s.folder.Add(c, rec, fresh); err != nil {
		return fmt.Errorf("%s is in the journal but could not be added to the records: %w", c.Name(), err)
	}
	return nil
}

// finish writes the views of all records and returns the error with which the session ends, if any.
func (s *Session) finish(ctx context.Context, stopped error) error {
	s.status.Running, s.status.Stopped = "", true
	s.status.Left = s.estimate.Remaining()
	err := s.folder.Close()
	rest := fmt.Sprintf("%d of %d processes measured", s.status.Done, s.status.Planned)
	if s.caller.Again != "" {
		rest += fmt.Sprintf("; resume with: %s --resume %s", s.caller.Again, argument.Quote(s.dir))
	}
	if stopped != nil && !errors.Is(stopped, ErrInterrupted) && !errors.Is(stopped, context.Cause(ctx)) { // what could not be written before cannot be written now
		return fmt.Errorf("%w; %s", stopped, rest)
	}
	if err = errors.Join(err, s.caller.Views(s.dir, s.folder.Records), s.status.Write(s.dir)); err != nil {
		return fmt.Errorf("%w; %s", err, rest)
	}
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%w: %s", ErrInterrupted, rest)
	case stopped != nil:
		return fmt.Errorf("%w; %s", stopped, rest)
	case s.status.Failed > 0 || s.status.Refused > 0:
		return fmt.Errorf("%s; see %s", s.status.unmeasured(), filepath.Join(s.dir, s.caller.Failures))
	}
	return nil
}

// Headline returns the suite's choice of the case that its report begins with, or nil if it has none.
func (s *Session) Headline() *record.Headline { return s.header.Headline }

// Title returns the name of the suite.
func (s *Session) Title() string { return s.header.Suite }

// PutResults makes a row from the records (see Results) and puts it into the table of results, the
// file ResultsFile in the parent directory of the suite's folder. It then copies that file into the
// suite's folder.
func (s *Session) PutResults(recs []*record.Record) error {
	dir, err := filepath.Abs(s.dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return err
	}
	history := filepath.Join(filepath.Dir(dir), ResultsFile)
	if err := PutRow(history, SessionColumn, Results(s.header, recs)); err != nil {
		return err
	}
	raw, err := os.ReadFile(history)
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(s.dir, ResultsFile), raw)
}
