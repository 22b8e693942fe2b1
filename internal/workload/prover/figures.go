package prover

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner/stage"
	"github.com/zkbench/zkbench/internal/runner/subprocess"
)

// Metrics proves once, and reads the figures that the file asks for.
func (p *prover) Metrics(ctx context.Context) ([]record.Metric, error) {
	if len(p.Figures) == 0 && p.pool == nil {
		p.forget()
		return nil, nil
	}
	taken, err := p.Input(ctx, 1<<40)
	if err != nil {
		return nil, err
	}
	in := taken.(*input)
	output := in.proof
	if output == nil {
		if output, err = p.prove(ctx, in, false); err != nil {
			return nil, err
		}
	}
	figures, err := p.figures(ctx, in, output)
	p.forget() // what was used so far belongs to no operation
	return figures, err
}

// served returns the figures that a resident prover has reported.
func (p *prover) served() []record.Metric {
	if p.pool == nil {
		return nil
	}
	p.pool.mu.Lock()
	defer p.pool.mu.Unlock()
	return slices.Clone(p.pool.figures)
}

// figures reads the figures of a run from what was printed and from files.
func (p *prover) figures(ctx context.Context, in *input, output []byte) ([]record.Metric, error) {
	all := p.served()
	values := maps.Clone(p.values)
	maps.Copy(values, in.values)
	var err error
	if values["proof"], err = p.proofFile(output); err != nil {
		return nil, err
	}
	printed := map[string][]byte{ofPrepare: p.printed[ofPrepare], ofInput: in.printed, ofProve: output[numberSize:]}
	for _, f := range p.Figures {
		if f.Size != "" {
			size, err := sizeOf(fill(f.Size, values))
			if err != nil {
				return nil, fmt.Errorf("read: %s: %w", f.Name, err)
			}
			all = append(all, record.Reported(f.Name, f.Unit, float64(size), record.Exact))
			continue
		}
		if f.Of == ofVerify && printed[ofVerify] == nil {
			out, err := p.run(ctx, ofVerify, p.Verify, values, false)
			if err != nil {
				return nil, err
			}
			printed[ofVerify] = out
		}
		text, ok := f.find(printed[f.Of])
		if !ok {
			return nil, fmt.Errorf("read: %s: nothing in the output of %s matches %s", f.Name, f.Of, f.Match)
		}
		number, err := strconv.ParseFloat(text, 64)
		if err == nil {
			err = record.CheckReported(f.Name, f.Unit, number)
		}
		if err != nil {
			return nil, fmt.Errorf("read: %s: %q in the output of %s is not a number that a record can hold", f.Name, text, f.Of)
		}
		all = append(all, record.Reported(f.Name, f.Unit, number, record.Exact))
	}
	return all, nil
}

// sizeOf returns the size of a file, or of all files in a directory.
func sizeOf(path string) (size int64, err error) {
	err = filepath.Walk(path, func(_ string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
		return err
	})
	return size, err
}

// usage returns what the prover used in n operations of one of its commands. whose says which processes the figures are
// of, peak is the peak resident set in bytes or 0 if it is not known, and metrics has the other figures per operation.
func (p *prover) usage(command string, n int) (whose record.Whose, peak uint64, metrics []record.Metric) {
	p.mu.Lock()
	whose, used, before := record.OfProverCommand(command), p.used, p.before
	p.mu.Unlock()
	known := true
	if p.pool != nil {
		now, peak := p.pool.use()
		since := now.Minus(before)
		whose, used.PeakRSS = record.OfProver, max(used.PeakRSS, peak)
		used.User, used.System, known = since.User, since.System, since.Sum() > 0
	}
	for _, m := range []struct {
		of    record.Quantity
		value float64
		known bool
	}{
		{record.CPUTime, float64(used.CPU()) / float64(n), known},
		{record.CPUUser, float64(used.User) / float64(n), known},
		{record.CPUSystem, float64(used.System) / float64(n), known},
		{record.GroupPeak, float64(used.GroupPeak), used.GroupPeak > 0},
		{record.DiskRead, float64(used.Read) / float64(n), used.Read > 0},
		{record.DiskWritten, float64(used.Written) / float64(n), used.Written > 0},
	} {
		if m.known {
			metrics = append(metrics, m.of.Metric(m.value).WithWhose(whose))
		}
	}
	return whose, used.PeakRSS, metrics
}

// endStage ends a stage that ran one of the prover's commands, and returns its figures.
func (p *prover) endStage(s *stage.Stage, command string) []record.Metric {
	whose, peak, metrics := p.usage(command, 1)
	s.EndOf(whose, peak, metrics...)
	return metrics
}

// cpuFigures holds the names of the figures of processor time.
var cpuFigures = []string{record.CPUTime.Name(), record.CPUUser.Name(), record.CPUSystem.Name()}

// Whose implements workload.Measured.
func (p *prover) Whose() record.Whose { return record.OfProver }

// Measured implements workload.Measured.
func (p *prover) Measured() ([]record.Metric, []record.Finding) {
	var findings []record.Finding
	note := func(name, format string, args ...any) {
		findings = append(findings, record.Finding{Name: name, Text: fmt.Sprintf(format, args...)})
	}
	if p.pool != nil {
		p.pool.measure(note)
	}
	p.mu.Lock()
	left := p.used.Left
	p.mu.Unlock()
	if left += subprocess.Sweep(p.pool.pids()...); left > 0 {
		note("left behind", "the prover left %d processes behind, which were killed", left)
	}
	for _, text := range p.unseen {
		note("undoubted", "%s", text)
	}
	if len(p.stages()) == 1 && len(p.Must) == 0 {
		note("unchecked", "the file has neither verify nor must: whether results are correct was not checked")
	}
	p.mu.Lock()
	runs := p.runs
	p.mu.Unlock()
	whose, peak, metrics := p.usage(p.stage(), max(runs, 1))
	if p.pool != nil { // the runner reports processor time, for the window only and without checks
		metrics = slices.DeleteFunc(metrics, func(m record.Metric) bool { return slices.Contains(cpuFigures, m.Name()) })
	}
	if peak > 0 {
		metrics = append(metrics, record.PeakRSS.Metric(float64(peak)).WithWhose(whose))
	}
	return metrics, findings
}
