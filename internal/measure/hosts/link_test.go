package hosts

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner/subprocess"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// far is the other end of a link: what a host reads and writes.
type far struct {
	in  *io.PipeReader
	out *io.PipeWriter
}

func (f far) say(format string, args ...any) error {
	_, err := fmt.Fprintf(f.out, greeting+format+"\n", args...)
	return err
}

// pipes returns a link to a host that a test plays. When it is killed, it is as dead as ssh.
func pipes() (*link, far) {
	hostIn, in := io.Pipe()
	out, hostOut := io.Pipe()
	l := newLink(&conn{
		in: in, out: out, said: &subprocess.Tail{Limit: 1000}, wait: func() string { return "ended" },
		kill: func() { hostOut.Close(); hostIn.Close() },
	})
	return l, far{hostIn, hostOut}
}

// recordOf returns the record of a job as JSON.
func recordOf(t *testing.T, job measure.Job, change func(*record.Record)) string {
	t.Helper()
	rec := job.Settings.New(job.Workload, job.Case)
	if change != nil {
		change(rec)
	}
	var b bytes.Buffer
	must.Do(t, record.Write(&b, rec))
	return strings.TrimSpace(b.String())
}

// TestLink: what a host may answer a job with, and what not. Nothing of it takes for ever, or all
// memory.
func TestLink(t *testing.T) {
	asked := job("Some")
	right := recordOf(t, asked, nil)
	beats := func(f far, n int) {
		var err error
		for i := 0; i < n && err == nil; i++ {
			time.Sleep(beatInterval)
			err = f.say("")
		}
	}
	for name, test := range map[string]struct {
		host  func(f far)
		err   string // empty: the record is taken
		after time.Duration
	}{
		"an answer": {func(f far) { _ = f.say(`{"number":1,"record":%s}`, right) }, "", 0},
		"a long case": {func(f far) {
			beats(f, 11)
			_ = f.say(`{"number":1,"record":%s}`, right)
		}, "", 11 * beatInterval},
		"noise between": {func(f far) {
			fmt.Fprintf(f.out, "you have mail\n\n")
			_ = f.say(`{"number":1,"record":%s}`, right)
		}, "", 0},
		"silence":               {func(far) {}, "nothing was heard from it for 30s", silenceLimit},
		"silence but noise":     {func(f far) { time.Sleep(beatInterval); fmt.Fprintln(f.out, "you have mail") }, "nothing was heard from it for 30s", silenceLimit},
		"beats for ever":        {func(f far) { beats(f, 1000) }, "it ended the connection: ended", time.Minute + answerSlack},
		"end":                   {func(f far) { f.out.Close() }, "it ended the connection: ended", 0},
		"endless noise":         {func(f far) { endless(f, "y\n") }, "it prints more than it should", 0},
		"endless line of noise": {func(f far) { endless(f, "yyyyyyyy") }, "it prints more than it should", 0},
		"endless line": {func(f far) {
			fmt.Fprint(f.out, greeting)
			endless(f, strings.Repeat("1", 1<<20))
		}, "it prints more than it should", 0},
		"no JSON":      {func(f far) { _ = f.say("certainly") }, "its answer: invalid character 'c' looking for beginning of value", 0},
		"another job":  {func(f far) { _ = f.say(`{"number":2,"record":%s}`, right) }, "it answers job 2, and was asked for 1", 0},
		"not started":  {func(f far) { _ = f.say(`{"number":1,"error":"no room"}`) }, "no room", 0},
		"no record":    {func(f far) { _ = f.say(`{"number":1}`) }, "it answers with 0 records", 0},
		"another case": {func(f far) { _ = f.say(`{"number":1,"record":%s}`, recordOf(t, job("Other"), nil)) }, "is for Other/bits=8/workers=1 with seed 5, not for Some/bits=8/workers=1 with seed 5", 0},
		"another seed": {func(f far) {
			_ = f.say(`{"number":1,"record":%s}`, recordOf(t, asked, func(r *record.Record) { r.Seed++ }))
		}, "is for Some/bits=8/workers=1 with seed 6, not for Some/bits=8/workers=1 with seed 5", 0},
		"another point": {func(f far) {
			_ = f.say(`{"number":1,"record":%s}`, recordOf(t, asked, func(r *record.Record) { r.Axes[0].Value = "9" }))
		}, "is for Some/bits=8/workers=1, not for Some/bits=8/workers=1", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, f := pipes()
				gone := make(chan struct{})
				go func() {
					defer close(gone)
					lines := bufio.NewReader(f.in)
					line := must.Get(lines.ReadBytes('\n'))(t)
					var q question
					must.Do(t, json.Unmarshal(line, &q))
					golden.Equal(t, "job", asked.Workload, q.Job.Workload)
					test.host(f)
					_, _ = io.Copy(io.Discard, lines)
					f.out.Close()
				}()
				begin := time.Now()
				rec, err := l.run(t.Context(), asked)
				golden.Equal(t, "error", test.err, errorText(err))
				golden.Equal(t, "after", test.after, time.Since(begin))
				if err == nil {
					golden.Equal(t, "record", right, recordOf(t, asked, func(r *record.Record) { *r = *rec }))
				}
				l.close()
				<-gone
			})
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// endless prints for as long as the other side reads.
func endless(f far, text string) {
	for {
		if _, err := io.WriteString(f.out, text); err != nil {
			return
		}
	}
}

// TestLinkTwice: the answer to one job is none to the next.
func TestLinkTwice(t *testing.T) {
	l, f := pipes()
	asked := job("Some")
	right := recordOf(t, asked, nil)
	go func() {
		lines := bufio.NewReader(f.in)
		for range 2 {
			_, _ = lines.ReadBytes('\n')
			_ = f.say(`{"number":1,"record":%s}`, right)
		}
		f.out.Close()
	}()
	must.Get(l.run(t.Context(), asked))(t)
	_, err := l.run(t.Context(), asked)
	golden.Equal(t, "error of the second one", "it answers job 1, and was asked for 2", errorText(err))
}

// TestLinkOpens: a host has so long to greet, and so long to take each part of the program.
func TestLinkOpens(t *testing.T) {
	self := must.Get(NewProgram("/proc/self/exe", "test"))
	for name, test := range map[string]struct {
		host  func(f far)
		err   string
		after time.Duration
	}{
		"no greeting":   {func(far) {}, "nothing was heard from it for 1m0s", greetingLimit},
		"one greeting":  {func(f far) { _ = f.say("has %s", here) }, "nothing was heard from it for 1m0s", greetingLimit},
		"another word":  {func(f far) { _ = f.say("had %s", here) }, fmt.Sprintf("it greets with %q", "had "+here), 0},
		"takes nothing": {func(f far) { _ = f.say("wants %s", here) }, "it has accepted no part of the program for 30s", silenceLimit},
		"takes it slowly": {func(f far) {
			_ = f.say("wants %s", here)
			buf := make([]byte, 1<<20)
			for {
				time.Sleep(beatInterval)
				if _, err := f.in.Read(buf); err != nil {
					return
				}
			}
		}, "nothing was heard from it for 1m0s", -1},
	} {
		t.Run(name, func(t *testing.T) {
			p := *self(t)
			p.size = min(p.size, 1<<20)
			synctest.Test(t, func(t *testing.T) {
				l, f := pipes()
				go test.host(f)
				begin := time.Now()
				_, err := l.open(&p)
				golden.Equal(t, "error", test.err, errorText(err))
				if took := time.Since(begin); took != test.after && (test.after >= 0 || took < 10*silenceLimit) {
					t.Errorf("after %v", took)
				}
				f.out.Close()
				f.in.Close()
				l.close()
				time.Sleep(2 * lastWords)
			})
		})
	}
}

// here is what uname prints on this machine.
var here = uname1 + " " + uname[runtime.GOARCH][0]

// TestLinkBeats: a host hears of us all the time.
func TestLinkBeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, f := pipes()
		go l.sendBeats()
		n := make(chan int)
		go func() {
			raw, _ := io.ReadAll(f.in)
			f.out.Close()
			n <- bytes.Count(raw, []byte("\n"))
		}()
		time.Sleep(10*beatInterval + time.Second)
		l.close()
		golden.Equal(t, "beats", 10, <-n)
	})
}

// TestLinkHangsUp: who has interrupted lets the host end its case, and does not wait for it for ever.
func TestLinkHangsUp(t *testing.T) {
	for name, obeys := range map[string]bool{"obeys": true, "does not": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, f := pipes()
				go func() {
					_, _ = io.Copy(io.Discard, f.in)
					if obeys {
						time.Sleep(time.Second)
						f.out.Close()
					}
				}()
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Second, cancel)
				begin := time.Now()
				if _, err := l.run(ctx, job("Some")); err == nil {
					t.Error("a record")
				}
				want := 2 * time.Second
				if !obeys {
					want = time.Second + lastWords
				}
				golden.Equal(t, "after", want, time.Since(begin))
			})
		})
	}
}

// TestWrapper: where ssh is a script that leaves our pipes to another program, nobody waits for that.
func TestWrapper(t *testing.T) {
	fakeSSH(t, "sleep 60; exit 1")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	begin := time.Now()
	if _, _, err := newHost(t).Connect(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if took := time.Since(begin); took > 30*time.Second {
		t.Errorf("ended after %v", took)
	}
}
