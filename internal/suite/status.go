package suite

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/atomicfile"
)

// statusFile says how far the suite of a folder is.
const statusFile = "suite.json"

// Status is how far a suite is.
type Status struct {
	Format  int           `json:"format"`
	Suite   string        `json:"suite"`
	Session string        `json:"session"`
	Begun   time.Time     `json:"begun"`
	Planned int           `json:"planned"` // processes
	Done    int           `json:"done"`
	Failed  int           `json:"failed"`
	Running string        `json:"running,omitempty"` // the case; empty: none
	Left    time.Duration `json:"left"`              // ns, about
	Stopped bool          `json:"stopped"`           // by its end or before
}

// Write writes the status of the suite of a folder.
func (s Status) Write(dir string) error {
	s.Format = journalFormat
	raw, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dir, statusFile), append(raw, '\n'))
}

// ReadStatus returns the status of the suite of a folder. One that was killed has not
// written that it stopped: nobody has its journal open then.
func ReadStatus(dir string) (Status, error) {
	var s Status
	path := filepath.Join(dir, statusFile)
	raw, err := os.ReadFile(path)
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return s, &zkbench.DecodeError{Path: path, Reason: err.Error()}
	}
	if s.Format != journalFormat {
		return s, &zkbench.DecodeError{Path: path, Reason: fmt.Sprintf("format %d; accepted: %d", s.Format, journalFormat)}
	}
	if !s.Stopped && !running(dir) {
		s.Stopped = true
	}
	return s, nil
}
