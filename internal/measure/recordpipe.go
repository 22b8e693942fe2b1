package measure

import (
	"io"
	"os"
	"os/exec"
	"time"
)

const (
	// recordDescriptor is the first that os/exec hands a child beside the standard ones.
	recordDescriptor = 3
	// LargestRecord bounds the bytes of a record: one of an hour, in intervals, has some
	// megabytes.
	LargestRecord = 64 << 20
)

// recordPipe carries a child's record. One of a platform on which a process inherits nothing
// but the standard descriptors carries nothing.
type recordPipe struct {
	r, w *os.File
	got  chan []byte
}

// newRecordPipe opens a pipe, and tells the job of it.
func newRecordPipe(job *Job) (*recordPipe, error) {
	if !inherits {
		return new(recordPipe), nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	job.Record = recordDescriptor
	return &recordPipe{r: r, w: w, got: make(chan []byte, 1)}, nil
}

// pass hands the child its end.
func (p *recordPipe) pass(child *exec.Cmd) {
	if p.w != nil {
		child.ExtraFiles = []*os.File{p.w}
	}
}

// started reads what the child writes, once it has its end.
func (p *recordPipe) started() {
	if p.w == nil {
		return
	}
	p.w.Close()
	go func() {
		raw, _ := io.ReadAll(io.LimitReader(p.r, LargestRecord))
		p.got <- raw
	}()
}

// read returns what came, once the child has ended. Whoever else holds the child's end open
// is not waited for.
func (p *recordPipe) read() []byte {
	if p.w == nil {
		return nil
	}
	_ = p.r.SetReadDeadline(time.Now().Add(lastWords))
	return <-p.got
}

func (p *recordPipe) close() {
	if p.r != nil {
		p.r.Close()
		p.w.Close()
	}
}
