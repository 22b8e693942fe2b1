package page

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/record"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/usage"
	"github.com/zkbench/zkbench/internal/workload"
)

// The axes that a load adds to its case, and that of a mix.
const (
	rateKey     = "rate"
	arrivalsKey = "arrivals"
	mixKey      = "mix"
)

// CommandOf is the command line that measures the record's case again, with its
// settings and its seed, in the words of a POSIX shell. It is empty where defs lack the
// record's workload or one of its axes, or the settings cannot be read: a command that
// measures something else would be worse than none.
func CommandOf(defs []workload.Def, r *record.Record) string {
	s, err := settingsOf(r)
	if err != nil {
		return ""
	}
	if s.Workers == 0 && !isStaged(r) { // a load of which nobody told the settings
		return ""
	}
	c := &command{}
	def, err := workload.Find(defs, r.Workload)
	if mix, ok := r.Axes.Get(mixKey); err != nil && ok {
		if def, err = workload.Mix(defs, strings.ReplaceAll(mix, ":", "=")); err == nil && def.Name != r.Workload {
			return ""
		}
	}
	if err != nil {
		return ""
	}
	leak := slices.ContainsFunc(r.Counters, func(c record.Counter) bool { return c.Name == record.CountLeakFixed })
	switch {
	case isStaged(r):
		c.words = []string{"zkbench", "stages", def.ID()}
	case leak:
		c.words = []string{"zkbench", "leak", def.ID()}
	case strings.EqualFold(def.ID(), mixKey):
		c.words = []string{"zkbench", "run"} // the axis names what is run
	default:
		c.words = []string{"zkbench", "run", def.ID()}
	}
	if !c.axes(def, r) {
		return ""
	}
	if _, ok := r.Axes.Get(cpusKey); !leak && (ok || processors(r) != r.Env.Cores) {
		c.add(cpusKey, strconv.Itoa(processors(r)))
	}
	switch {
	case isStaged(r):
	case leak:
		c.window(s)
	default:
		c.load(s)
	}
	c.add("seed", strconv.FormatUint(r.Seed, 10))
	return strings.Join(c.words, " ")
}

// command is a command line in the making.
type command struct{ words []string }

func (c *command) add(flag, value string) { c.words = append(c.words, "--"+flag, usage.Quote(value)) }

// axes adds the case's coordinates; false where one has no flag.
func (c *command) axes(def workload.Def, r *record.Record) bool {
	for _, x := range r.Axes {
		switch x.Key {
		case cpusKey, workersKey, rateKey, arrivalsKey: // settings
		case mixKey:
			c.add(mixKey, strings.ReplaceAll(x.Value, ":", "="))
		default:
			axis, ok := def.Axis(x.Key)
			if !ok {
				return false
			}
			c.add(axis.Long(), x.Value)
		}
	}
	return true
}

// window adds how long is measured.
func (c *command) window(s measure.Settings) {
	if s.Duration > 0 || s.Count == 0 {
		c.add("duration", s.Duration.String())
	}
	if s.Count > 0 {
		c.add("count", strconv.FormatUint(s.Count, 10))
	}
}

const mebibyte = 1 << 20

// load adds workers and window, and what differs from the defaults.
func (c *command) load(s measure.Settings) {
	c.add(workersKey, strconv.Itoa(s.Workers))
	if a := s.Arrivals; a != nil {
		rate := strings.ReplaceAll(a.Rate(), "+", ",") // the case's name has no commas
		c.add(rateKey, rate)
		if a.Shape != runner.Constant {
			c.add(arrivalsKey, string(a.Shape))
		}
		if s.Queue != 0 && s.Queue != runner.DefaultQueue {
			c.add("queue", strconv.Itoa(s.Queue))
		}
	}
	c.window(s)
	duration := s.Duration
	if duration == 0 { // the warm-up of a count is that of the default window
		duration = measure.DefaultDuration
	}
	normal := measure.DefaultSettings(s.Workers, duration)
	if s.Warmup != normal.Warmup || s.WarmupOps != normal.WarmupOps || s.WarmupStationary {
		c.add("warmup", warmup(s))
	}
	if s.Grace != normal.Grace {
		c.add("grace", s.Grace.String())
	}
	if s.Samples != normal.Samples {
		c.add("samples", strconv.Itoa(s.Samples))
	}
	if s.Check != normal.Check {
		c.add("check", check(s.Check))
	}
	if s.Arena != 0 && s.Arena != runner.DefaultArena {
		c.add("arena", strconv.FormatInt((s.Arena+mebibyte-1)/mebibyte, 10))
	}
	if len(s.Profiles) > 0 {
		c.add("profile", strings.Join(s.Profiles, ","))
	}
}

func warmup(s measure.Settings) string {
	var parts []string
	if s.Warmup > 0 {
		parts = append(parts, s.Warmup.String())
	}
	if s.WarmupOps > 0 {
		parts = append(parts, strconv.Itoa(s.WarmupOps))
	}
	if s.WarmupStationary {
		parts = append(parts, "stationary")
	}
	if parts == nil {
		return "0"
	}
	return strings.Join(parts, ",")
}

func check(c runner.Check) string {
	if c.Policy == runner.CheckSample {
		return fmt.Sprintf("sample=%d", c.N)
	}
	return string(c.Policy)
}

// settingsOf reads how the record was measured; a record of stages has no settings.
func settingsOf(r *record.Record) (s measure.Settings, err error) {
	if len(r.Settings) > 0 {
		err = json.Unmarshal(r.Settings, &s)
	}
	return s, err
}

// settingsText are the settings in words.
func settingsText(r *record.Record) []pair {
	all := []pair{{"Seed", strconv.FormatUint(r.Seed, 10)}}
	s, err := settingsOf(r)
	if err != nil {
		return append(all, pair{"Settings", "cannot be read: " + err.Error()})
	}
	if isStaged(r) {
		return all
	}
	add := func(name, value string) { all = append(all, pair{name, value}) }
	add("Workers", strconv.Itoa(s.Workers))
	if a := s.Arrivals; a != nil {
		add("Arrivals", a.String())
		add("Queue", strconv.Itoa(s.Queue))
	} else {
		add("Arrivals", "closed loop: a worker begins when its last operation has ended")
	}
	if s.Duration > 0 {
		add("Window", s.Duration.String())
	}
	if s.Count > 0 {
		add("Operations at most", strconv.FormatUint(s.Count, 10))
	}
	add("Warm-up", warmupText(s))
	if s.Grace > 0 {
		add("Grace", s.Grace.String())
	}
	add("Inputs", map[bool]string{true: "each operation builds its own", false: strconv.Itoa(s.Samples) + ", used in turn"}[s.Samples == 0])
	switch s.Check.Policy {
	case runner.CheckFit:
		add("Checked", "as many results as the arena holds")
	case runner.CheckSample:
		add("Checked", fmt.Sprintf("a sample of %d results", s.Check.N))
	default:
		add("Checked", string(s.Check.Policy))
	}
	if len(s.Profiles) > 0 {
		add("Profiles", strings.Join(s.Profiles, ", "))
	}
	return all
}

func warmupText(s measure.Settings) string {
	var parts []string
	if s.Warmup > 0 {
		parts = append(parts, s.Warmup.Round(time.Microsecond).String())
	}
	if s.WarmupOps > 0 {
		parts = append(parts, fmt.Sprintf("%d operations", s.WarmupOps))
	}
	if s.WarmupStationary {
		parts = append(parts, "until latency has no trend")
	}
	if parts == nil {
		return "none"
	}
	return strings.Join(parts, ", ")
}
