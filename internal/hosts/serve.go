package hosts

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/env"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/record"
)

// Serve is the host's side: it greets with its environment, runs each job that comes on in,
// one after the other, and writes its record to out. It ends when in does, or when nothing
// was heard for so long that nobody can be there, and a case that runs with it.
func Serve(ctx context.Context, in io.Reader, out io.Writer, run func(context.Context, measure.Job) *record.Record) error {
	about, err := json.Marshal(env.Read())
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "%s%s\n", greeting, about); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	jobs := make(chan measure.Job, 1)
	go func() { cancel(read(ctx, in, jobs)) }()
	for {
		select {
		case job := <-jobs:
			rec := run(ctx, job)
			if ctx.Err() != nil && rec.Status != record.OK {
				continue // the case was ended, with the host perhaps: it is run again
			}
			if err := record.Write(out, rec); err != nil {
				return err
			}
		case <-ctx.Done():
			if err := context.Cause(ctx); !errors.Is(err, io.EOF) {
				return err
			}
			return nil
		}
	}
}

// read passes on the jobs of in, and returns why there are no more.
func read(ctx context.Context, in io.Reader, jobs chan<- measure.Job) error {
	lines := make(chan []byte)
	failed := make(chan error, 1)
	go func() {
		for r := bufio.NewReader(in); ; {
			line, err := r.ReadBytes('\n')
			if err != nil {
				failed <- err
				return
			}
			select {
			case lines <- line:
			case <-ctx.Done():
				return
			}
		}
	}()
	silence := time.NewTimer(lost)
	defer silence.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-silence.C:
			return fmt.Errorf("%w: nothing was heard for %v", zkbench.ErrEnv, lost)
		case err := <-failed:
			return err
		case line := <-lines:
			silence.Reset(lost)
			if len(bytes.TrimSpace(line)) == 0 { // a beat
				continue
			}
			var job measure.Job
			if err := json.Unmarshal(line, &job); err != nil {
				return &zkbench.DecodeError{Path: "job", Reason: err.Error()}
			}
			select {
			case jobs <- job:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
}
