package page_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/view/page"
)

// foreign returns a load and the stages of a prover whose commands differ in memory and time.
func foreign() []*record.Record {
	load := staged(8, 2, 0)
	load.Workload, load.Stages = "ForeignProver", []record.Stage{{Name: "window", Time: 1e9, PeakRSS: 36_700_160, Whose: record.OfZkbench}}
	load.Metrics = []record.Metric{
		record.Throughput.Metric(10), record.LatencyP50.Metric(1e8),
		record.CPUTime.Metric(4.2e6).WithWhose("prover/prove"), record.PeakRSS.Metric(317_538_304).WithWhose("prover/prove"), record.Processors.Metric(0.5).WithWhose(record.OfProver.WithZkbench()),
	}
	stages := staged(8, 1, 0)
	stages.Workload, stages.Stages = "ForeignProver", nil
	stages.Metrics = []record.Metric{record.StageTime("prove").Metric(0.01), record.CPUTime.Metric(4.2e6).WithWhose("prover/prove")}
	for _, command := range []struct {
		name string
		peak uint64
	}{{"prepare", 90e6}, {"prove", 317_538_304}} {
		whose := record.OfProverCommand(command.name)
		stages.Stages = append(stages.Stages, record.Stage{
			Name: command.name, Time: 1e7, PeakRSS: command.peak, Whose: whose,
			Sizes: []record.Metric{record.CPUTime.Metric(46.6e6).WithWhose(whose), record.DiskWritten.Metric(24576).WithWhose(whose)},
		})
	}
	return []*record.Record{load, stages}
}

// TestWhose: the page gives a prover's peak memory and processor time, not zkbench's nor another
// stage's, and says whose they are in the table and in the case.
func TestWhose(t *testing.T) {
	_, data := write(t, page.Data{Records: foreign()})
	for _, c := range data.Cases {
		golden.Equal(t, "peak", []float64{317_540_000}, c.Figures[record.PeakRSS.Name()])
		golden.Equal(t, "processor time", []float64{4.2e6}, c.Figures[record.CPUTime.Name()])
		golden.Equal(t, "whose", [2]string{"the prover's processes of prove", "the prover's processes of prove"}, [2]string{c.Whose["peak-rss"], c.Whose["cpu"]})
	}
	b := newTab(t, 1280, 900)
	b.open(page.Data{Records: foreign()}, "")
	golden.Contains(t, eval[string](b, `document.getElementById('shared').innerText`), "Memory and CPU of the prover's processes of prove")
	golden.Contains(t, eval[string](b, `document.querySelector('#tbody tr').innerText`), "318")
	ours := load{"Sender", "pool", 32, 2, 2, 0, 20 * time.Millisecond}.record(t)
	b = newTab(t, 1280, 900)
	b.open(page.Data{Records: append(foreign(), ours)}, "")
	head := eval[[]string](b, `[...document.querySelectorAll('#thead button')].map(e => e.querySelector('span').innerText.trim())`)
	golden.Contains(t, strings.Join(head, ", "), ", Memory and CPU of, ", ", Peak memory, ")
	rows := eval[[]string](b, `[...document.querySelectorAll('#tbody tr')].map(e => e.innerText)`)
	golden.Contains(t, rows[0], "318", "the prover's processes of prove")
	golden.Contains(t, rows[2], "52.0", "the process that ran the operations")
	open := func(row int) { // where it is, and not at a point from which the page scrolls
		eval[bool](b, fmt.Sprintf(`(document.querySelectorAll('#tbody tr a')[%d].click(), true)`, row))
	}
	open(0)
	b.Await(`!document.getElementById('case').hidden`)
	shown := eval[string](b, `document.getElementById('case').innerText`)
	golden.Contains(t, shown, "CPU Time", "the prover's processes of prove", "the prover's processes and zkbench's own", "zkbench's own process")
	open(1)
	b.Await(`document.getElementById('case').innerText.includes('prepare')`)
	shown = eval[string](b, `document.getElementById('case').innerText`)
	golden.Contains(t, shown, "the prover's processes of prepare", "cpu 46.60ms/op", "disk-written 24.6 kB/op")
}
