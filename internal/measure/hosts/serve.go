package hosts

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/result/env"
	"github.com/zkbench/zkbench/internal/result/record"
)

// takeover is how long Serve waits for another suite that still serves on the machine. A suite that
// has lost its connection ends within that time.
const takeover = silenceLimit + 2*lastWords

// Serve is the part of the program that runs on the host. If another process on the machine is
// already running Serve, Serve first waits for it to end, and returns zkbench.ErrEnv if that
// process does not end. Serve then writes the host's environment to its output. It reads jobs from
// its input, calls the function run for each of them, one after the other, and writes their records
// to its output. If the function run returns an error, the error must say why the case could not be
// started. When the input ends, or when it is silent for 30 seconds, Serve ends the running case
// and returns.
func Serve(ctx context.Context, in io.Reader, out io.Writer, run func(context.Context, measure.Job) (*record.Record, error)) error {
	unlock, err := lockMachine(ctx, takeover)
	if err != nil {
		return err
	}
	defer unlock()
	s := &server{out: out}
	about, err := json.Marshal(env.Read())
	if err == nil {
		err = s.say(about)
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	questions := make(chan question, 1)
	go func() { cancel(read(ctx, in, questions)) }()
	go s.beats(ctx)
	for {
		select {
		case q := <-questions:
			rec, err := run(ctx, q.Job)
			if ctx.Err() != nil && (err != nil || rec.Status != record.OK) {
				continue // the case was ended, with the host perhaps: it is run again
			}
			if err = s.answer(q.Number, rec, err); err != nil {
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

// server writes lines to the other side.
type server struct {
	mu  sync.Mutex
	out io.Writer
}

func (s *server) say(words []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := fmt.Fprintf(s.out, "%s%s\n", greeting, words)
	return err
}

// answer writes the reply to a job: its record, or why it could not be started.
func (s *server) answer(number int, rec *record.Record, failed error) error {
	a := answer{Number: number}
	if failed != nil {
		a.Error = failed.Error()
	} else {
		var b bytes.Buffer
		if err := record.Write(&b, rec); err != nil {
			return err
		}
		a.Record = b.Bytes()
	}
	line, err := json.Marshal(a)
	if err != nil {
		return err
	}
	return s.say(line)
}

// beats sends heartbeats to the other side until ctx ends.
func (s *server) beats(ctx context.Context) {
	ticks := time.NewTicker(beatInterval)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
			_ = s.say(nil) // the reader notices an error
		}
	}
}

// read passes jobs from in to questions and returns why there are no more.
func read(ctx context.Context, in io.Reader, questions chan<- question) error {
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
	silence := time.NewTimer(silenceLimit)
	defer silence.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-silence.C:
			return fmt.Errorf("%w: nothing was heard for %v", zkbench.ErrEnv, silenceLimit)
		case err := <-failed:
			return err
		case line := <-lines:
			silence.Reset(silenceLimit)
			if len(bytes.TrimSpace(line)) == 0 { // a beat
				continue
			}
			var q question
			if err := json.Unmarshal(line, &q); err != nil {
				return &zkbench.DecodeError{Path: "job", Reason: err.Error()}
			}
			select {
			case questions <- q:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
}
