package measure

import (
	"io"
	"os"
	"os/exec"
	"time"
)

const (
	// recordDescriptor is the first file descriptor that os/exec passes to a child after the standard three.
	recordDescriptor = 3
	// LargestRecord is the maximum size in bytes of a record that a child process writes. For
	// comparison, the record of a measurement of one hour has some megabytes.
	LargestRecord = 64 << 20
)

// recordPipe carries a child's record. It carries nothing on platforms where a process inherits
// only the standard descriptors.
type recordPipe struct {
	r, w *os.File
	got  chan []byte
}

// newRecordPipe opens a pipe and writes its descriptor into the job.
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

// pass gives the child the writing end.
func (p *recordPipe) pass(child *exec.Cmd) {
	if p.w != nil {
		child.ExtraFiles = []*os.File{p.w}
	}
}

// started closes the parent's copy of the writing end and starts to read. It is called after the
// child was started.
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

// read returns what the child wrote. It is called after the child has ended, and does not wait for
// other processes that still hold the writing end open.
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
