package measure

import (
	"encoding/hex"
	"encoding/json"
	"strconv"
	"time"

	"github.com/zkbench/zkbench/internal/result/env"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/sys/memory"
	"github.com/zkbench/zkbench/internal/workload"
)

// Settings say how one case is measured. They are sent to a child process as JSON. When versions of
// a program are compared, the child process may run another version.
type Settings struct {
	runner.Config // Queue may be 0: runner.DefaultQueue

	Profiles   []string `json:"profiles,omitempty"` // kinds; resources.ProfileKinds
	ProfileDir string   `json:"profile_dir,omitempty"`

	Instructions bool `json:"instructions,omitempty"` // count them, if the processor allows it

	// Measured, if set, receives the record before the case's check is tested (runner.Result.Doubt):
	// a check that is given a wrong result may end the process.
	Measured func(rec *record.Record) `json:"-"`

	SRS     string `json:"srs,omitempty"`      // file of the reference string; empty: the workload makes one from the seed
	SRSHash string `json:"srs_hash,omitempty"` // BLAKE2b-512 of the file, as its ceremony published it; empty: not known
}

// IsHash reports whether text has the form of Settings.SRSHash: 128 hexadecimal digits.
func IsHash(text string) bool {
	raw, err := hex.DecodeString(text)
	return err == nil && len(raw) == 64
}

// srs returns the file of the reference string.
func (s Settings) srs() workload.SRSFile { return workload.SRSFile{Path: s.SRS, Hash: s.SRSHash} }

// Defaults of the settings.
const (
	DefaultDuration = time.Second
	DefaultSamples  = 8
	DefaultSeed     = 1
	DefaultLeast    = 1
)

// DefaultSettings returns settings that measure a case for the time d (the window) with the given
// number of workers. The warm-up lasts for a tenth of d, but at most for a second. It lasts longer
// if fewer operations than there are workers have ended by then. If no operation ends within the
// window, the window is extended until one has ended. The number of results that are checked is
// limited only by the arena, the memory for results.
func DefaultSettings(workers int, d time.Duration) Settings {
	return Settings{Config: runner.Config{
		Workers: workers, Duration: d,
		Warmup: runner.Warmup{Time: min(d/10, time.Second), Ops: uint64(max(workers, 0))},
		Starts: runner.StartsAuto, Samples: DefaultSamples, Seed: DefaultSeed, Least: DefaultLeast,
	}}
}

// arrivalsKey is the key of the axis that an open loop adds to its case.
const arrivalsKey = "arrivals"

// Coordinates returns the keys of the axes that Settings.Named adds to a case.
func Coordinates() []string { return []string{record.WorkersKey, record.RateKey, arrivalsKey} }

// Named returns the case c with axes that say how it is measured with the settings s. It adds the
// number of workers and, in an open loop, the rate and the shape of the arrivals.
func (s Settings) Named(c workload.Case) workload.Case {
	c = c.With(record.WorkersKey, strconv.Itoa(s.Workers))
	if s.Arrivals != nil {
		c = c.With(record.RateKey, s.Arrivals.Rate()).With(arrivalsKey, string(s.Arrivals.Shape))
	}
	return c
}

// New returns a record without figures for the case c, measured with the settings s. The parameter
// def is the name of the workload.
func (s Settings) New(def string, c workload.Case) *record.Record {
	c = s.Named(c)
	rec := record.New()
	rec.Workload, rec.Case, rec.Axes = def, c.String(), c.Axes()
	rec.Env, rec.Seed = env.Read(), s.Seed
	rec.Settings, _ = json.Marshal(s) // numbers, strings and lists of them
	return rec
}

// Validate returns an error if the load runner would refuse the settings. It does not set up
// anything.
func (s Settings) Validate() error {
	config := s.config(workload.Case{}, nil)
	return config.Validate()
}

// config returns the runner's configuration for an instance of the case.
func (s Settings) config(c workload.Case, instance workload.Instance) runner.Config {
	config := s.Config
	config.Available = memory.Available()
	if s.Arrivals != nil && s.Queue == 0 {
		config.Queue = runner.DefaultQueue
	}
	mix, mixed := instance.(workload.Mixed)
	if mixed {
		config.Classes, config.Class = mix.Classes(), mix.Class
		// Whole turns of the mix, so that inputs used again keep its proportions.
		turn := mix.Turn()
		config.Samples = (s.Samples + turn - 1) / turn * turn
		if config.Samples > runner.MaxSamples {
			config.Samples -= turn
		}
	}
	// In all other cases goroutines, and pools per processor, change the counts.
	exec := c.Get(record.ExecutorKey)
	_, collective := instance.(workload.Collective)
	config.Alone = !mixed && !collective && (exec == "" || exec == record.Serial)
	return config
}
