package prover

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/zkbench/zkbench/internal/child"
	"github.com/zkbench/zkbench/internal/record"
)

// Metrics proves once, and reads the figures.
func (p *prover) Metrics(ctx context.Context) ([]record.Metric, error) {
	if len(p.Figures) == 0 && p.pool == nil {
		p.forget()
		return nil, nil
	}
	of, err := p.Input(ctx, 1<<40)
	if err != nil {
		return nil, err
	}
	in := of.(*input)
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

// served are the figures that a resident prover has told.
func (p *prover) served() []record.Metric {
	if p.pool == nil {
		return nil
	}
	p.pool.mu.Lock()
	defer p.pool.mu.Unlock()
	return slices.Clone(p.pool.figures)
}

// figures reads them from what was printed, and from the files of a run.
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
			return nil, fmt.Errorf("read: %s: %q in the output of %s is no number that a record takes", f.Name, text, f.Of)
		}
		all = append(all, record.Reported(f.Name, f.Unit, number, record.Exact))
	}
	return all, nil
}

// sizeOf is the size of a file, or of all in a directory.
func sizeOf(path string) (size int64, err error) {
	err = filepath.Walk(path, func(_ string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
		return err
	})
	return size, err
}

// usage is what the prover took, an operation, warm-up included. The processor time of a resident one
// counts as this process' own.
func (p *prover) usage() (metrics []record.Metric) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := float64(max(p.runs, 1))
	if p.pool == nil {
		metrics = append(metrics, record.CPUTime.Metric(float64(p.used.CPU)/n))
	}
	for _, m := range []struct {
		of    record.Quantity
		value float64
	}{
		{record.PeakRSS, float64(p.used.PeakRSS)},
		{record.GroupPeak, float64(p.used.GroupPeak)},
		{record.DiskRead, float64(p.used.Read) / n},
		{record.DiskWritten, float64(p.used.Written) / n},
	} {
		if m.value > 0 {
			metrics = append(metrics, m.of.Metric(m.value))
		}
	}
	return metrics
}

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
	if left += child.Sweep(p.pool.pids()...); left > 0 {
		note("left behind", "the prover left %d processes behind, which were killed", left)
	}
	for _, text := range p.unseen {
		note("undoubted", "%s", text)
	}
	if len(p.stages()) == 1 && len(p.Must) == 0 {
		note("unchecked", "the file has neither verify nor must: nothing tells whether a result is right")
	}
	return p.usage(), findings
}
