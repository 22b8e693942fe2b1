package measure

import (
	"testing"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/workload"
)

// TestNoteIdle has a case for each reason to say that processors were idle, and not to say it.
func TestNoteIdle(t *testing.T) {
	for _, test := range []struct {
		name string
		used float64
		axes record.Axes
		want string
	}{
		{"serial", 1.3, record.Axes{{Key: "exec", Value: "serial"}, {Key: "cpus", Value: "2"}, {Key: "workers", Value: "1"}}, "1.3 of 2 processors were used: the executor serial runs an operation on one processor, the executor pool on all"},
		{"stages", 1.3, record.Axes{{Key: "exec", Value: "serial"}, {Key: "cpus", Value: "2"}}, "1.3 of 2 processors were used: the executor serial runs an operation on one processor, the executor pool on all"},
		{"no executor", 3.2, record.Axes{{Key: "cpus", Value: "16"}, {Key: "workers", Value: "1"}}, "3.2 of 16 processors were used"},
		{"two workers", 1.9, record.Axes{{Key: "exec", Value: "serial"}, {Key: "cpus", Value: "2"}, {Key: "workers", Value: "2"}}, ""},
		{"pool", 1.3, record.Axes{{Key: "exec", Value: "pool"}, {Key: "cpus", Value: "2"}}, ""},
		{"one processor", 1, record.Axes{{Key: "exec", Value: "serial"}, {Key: "cpus", Value: "1"}}, ""},
		{"not chosen", 1, record.Axes{{Key: "exec", Value: "serial"}}, ""},
		{"open loop", 0.1, record.Axes{{Key: "exec", Value: "serial"}, {Key: "cpus", Value: "2"}, {Key: "workers", Value: "1"}, {Key: "rate", Value: "5"}}, ""},
	} {
		rec := record.New()
		rec.Metrics = []record.Metric{record.Processors.Metric(test.used)}
		noteIdle(rec, workload.NewCase(test.axes...))
		got := ""
		for _, f := range rec.Findings {
			got += f.Text
		}
		golden.Equal(t, test.name, test.want, got)
	}
}
