//go:build unix

package postgres

import (
	"fmt"
	"syscall"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
)

const bulk = 48 << 20 // bytes of a long batch

func longBatch() (batch []ledger.Entry) {
	for i := range 12 {
		e := ledgertest.Issue(fmt.Sprint("long ", i), 1)
		e.Request = make([]byte, bulk/12)
		batch = append(batch, e)
	}
	return batch
}

// TestStoppedChild is the child of TestStoppedProcess.
func TestStoppedChild(t *testing.T) { ledgertest.Apply(t, childLedger(t), longBatch()...) }

// TestStoppedProcess: a process that stops while it sends a long batch does not keep
// others from the ledger.
func TestStoppedProcess(t *testing.T) {
	_, schema := newLedger(t)
	l := openFor(t, silence, server.URL(t), schema)
	p := newProxy(t)
	defer close(p.letGo)
	p.next.Store(int32(stallLong))
	cmd := child(t, "TestStoppedChild", schema, "")
	cmd.Env = append(cmd.Env, childURL+"="+p.url())
	must.Do(t, cmd.Start())
	defer func() {
		must.Do(t, cmd.Process.Kill())
		_ = cmd.Wait()
	}()
	<-p.struck
	must.Do(t, cmd.Process.Signal(syscall.SIGSTOP))
	goesOn(t, l, "a")
	ledgertest.Apply(t, l, longBatch()...)
	ledgertest.Verify(t, l)
}
