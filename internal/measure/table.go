package measure

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/runner/resources"
)

// setting is one of the values that say how a case is measured, with its flag.
type setting struct {
	name            string
	argument.Option // the flag before it is given
	help            string

	set    func(s *Settings, text string) *argument.ValueError // reads a value; its caller completes the error with the row's name and accepted values
	get    func(s *Settings) string                            // the value in the form that set reads; empty: none
	always bool                                                // Flags contains it even if it is the default
	each   func(s *Settings, list string) []string             // the values of a list that are measured separately; nil: the list is one value
	last   bool                                                // set it after the others
	words  func(s *Settings) (label, value string)             // for readers; nil or an empty value: nothing to say
}

// Bounds of the settings.
const (
	MinDuration = time.Millisecond
	MaxDuration = 24 * time.Hour
	MaxCount    = 1 << 40
	// MainJobDuration is the time (the window) for which each case of the main job is measured. The
	// main job is the list of cases that the run command measures if no workload is named. A main
	// job with four cases, such as proving and verifying with each of two proof systems, takes well
	// under a minute.
	MainJobDuration = 6 * time.Second

	maxKept  = 1 << 24
	mebibyte = 1 << 20
)

// settings returns the table of all settings, in the order of their flags on a command line.
func settings() []setting {
	workers, profiles := WorkersAxis(), strings.Join(resources.ProfileKinds(), ", ")
	shapes := strings.Join(texts(runner.Shapes()), ", ")
	return []setting{
		{
			name: "workers", Option: argument.Option{Kind: argument.KindList, Accepted: workers.Accepted, Default: "1, main job " + NumCPU},
			help: "numbers of workers, each a case of its own",
			set:  number(1, runner.MaxWorkers, func(s *Settings, n uint64) { s.Workers = int(n) }),
			get:  func(s *Settings) string { return strconv.Itoa(s.Workers) }, always: true,
			words: func(s *Settings) (string, string) { return "Workers", strconv.Itoa(s.Workers) },
		},
		{
			name: "rate", Option: argument.Option{Kind: argument.KindList, Accepted: "rates above 0 up to 1000000, lists of them, ranges a..b*k and a..b+k; a..b of ramp"},
			help: "operations per second; a list has cases or steps, and 50..200 is a ramp",
			set:  setRate, each: eachRate, last: true,
			get: open(func(s *Settings) string { return strings.ReplaceAll(s.Arrivals.Rate(), "+", ",") }), // the case's name has no commas
			words: func(s *Settings) (string, string) {
				if s.Arrivals == nil {
					return "Arrivals", "closed loop: a worker begins an operation when its last one has ended"
				}
				return "Arrivals", s.Arrivals.String()
			},
		},
		{
			name: "arrivals", Option: argument.Option{Kind: argument.KindText, Accepted: shapes, Text: string(runner.Constant), Default: string(runner.Constant) + ", with --slo " + string(runner.Poisson)},
			help: shapes,
			set: func(s *Settings, text string) *argument.ValueError {
				s.Arrivals = &runner.Arrivals{Shape: runner.Shape(strings.ToLower(text))}
				return unless(slices.Contains(runner.Shapes(), s.Arrivals.Shape), text)
			},
			get: open(func(s *Settings) string {
				if s.Arrivals.Shape == runner.Constant {
					return ""
				}
				return string(s.Arrivals.Shape)
			}),
		},
		{
			name: "starts", Option: argument.Option{Kind: argument.KindText, Accepted: strings.Join(texts(runner.AllStarts()), ", "), Text: string(runner.StartsAuto)},
			help: "how workers wait: timer, spin (precise, costs CPU), or auto",
			set: func(s *Settings, text string) *argument.ValueError {
				typed := runner.Starts(strings.ToLower(text))
				if s.Starts = typed; typed == "timer" {
					s.Starts = runner.StartsTimer
				}
				return unless(slices.Contains(runner.AllStarts(), typed), text)
			},
			get: open(func(s *Settings) string { return cmp.Or(string(s.Starts), "timer") }),
			words: func(s *Settings) (string, string) {
				return "Starts", open(func(s *Settings) string { return cmp.Or(string(s.Starts), "timer") })(s)
			},
		},
		{
			name: "queue", Option: argument.Option{Kind: argument.KindNumber, Accepted: fmt.Sprintf("1 to %d", runner.MaxQueue), Text: strconv.Itoa(runner.DefaultQueue)},
			help: "how many operations may wait for a worker; more are dropped",
			set:  number(1, runner.MaxQueue, func(s *Settings, n uint64) { s.Queue = int(n) }),
			get:  open(func(s *Settings) string { return strconv.Itoa(cmp.Or(s.Queue, runner.DefaultQueue)) }),
			words: func(s *Settings) (string, string) {
				return "Queue", open(func(s *Settings) string { return strconv.Itoa(s.Queue) })(s)
			},
		},
		{
			name: "duration", Option: argument.Option{Kind: argument.KindTime, Accepted: fmt.Sprintf("a time from %v to %v, for example 500ms or 10s", MinDuration, MaxDuration), Default: fmt.Sprintf("%v, main job %v; with --count none", DefaultDuration, MainJobDuration)},
			help: "window of each case",
			set:  span(MinDuration, func(s *Settings, d time.Duration) { s.Duration = d }),
			get: func(s *Settings) string {
				if s.Duration == 0 && s.Count > 0 {
					return ""
				}
				return s.Duration.String()
			},
			always: true,
			words:  func(s *Settings) (string, string) { return "Window", notZero(s.Duration, time.Duration.String) },
		},
		{
			name: "count", Option: argument.Option{Kind: argument.KindNumber, Accepted: fmt.Sprintf("1 to %d", MaxCount)},
			help:  "stop a case after this many operations",
			set:   number(1, MaxCount, func(s *Settings, n uint64) { s.Count = n }),
			get:   func(s *Settings) string { return notZero(s.Count, decimal) },
			words: func(s *Settings) (string, string) { return "Operations at most", notZero(s.Count, decimal) },
		},
		{
			name: "least", Option: argument.Option{Kind: argument.KindNumber, Accepted: fmt.Sprintf("0 to %d", MaxCount), Text: strconv.Itoa(DefaultLeast)},
			help:  "closed loop: do not stop before this many operations have ended",
			set:   number(0, MaxCount, func(s *Settings, n uint64) { s.Least = n }),
			get:   func(s *Settings) string { return decimal(s.Least) },
			words: func(s *Settings) (string, string) { return "Operations at least", notZero(s.Least, decimal) },
		},
		{
			name: "warmup", Option: argument.Option{Kind: argument.KindList, Accepted: "a time, a number of operations, stationary, or several of them, for example 2s,stationary", Default: "0.1 windows"},
			help: "load before the window: time, count, stationary",
			set:  setWarmup,
			get:  func(s *Settings) string { return cmp.Or(warmup(s, ",", s.Warmup.Time, "", "stationary"), "0") },
			words: func(s *Settings) (string, string) {
				return "Warm-up", cmp.Or(warmup(s, ", ", s.Warmup.Time.Round(time.Microsecond), " operations", "until latency has no trend"), "none")
			},
		},
		{
			name: "grace", Option: argument.Option{Kind: argument.KindTime, Accepted: fmt.Sprintf("a time from 0s up to %v", MaxDuration), Text: "0s"},
			help:  "how long operations may still run after the window closes",
			set:   span(0, func(s *Settings, d time.Duration) { s.Grace = d }),
			get:   func(s *Settings) string { return s.Grace.String() },
			words: func(s *Settings) (string, string) { return "Grace", notZero(s.Grace, time.Duration.String) },
		},
		{
			name: "fail-if", Option: argument.Option{Kind: argument.KindList, Accepted: runner.ThresholdAccepted},
			help: "exit with code 1 at such a figure, for example p99>50ms,throughput<100",
			set:  setFailIf, last: true, // the names depend on the loop
			get:   func(s *Settings) string { return strings.Join(thresholds(s), ",") },
			words: func(s *Settings) (string, string) { return "Fails if", strings.Join(thresholds(s), ", ") },
		},
		{
			name: "samples", Option: argument.Option{Kind: argument.KindNumber, Accepted: fmt.Sprintf("0 to %d", runner.MaxSamples), Text: strconv.Itoa(DefaultSamples)},
			help: "inputs per case, used in turn; 0: one per operation",
			set:  number(0, runner.MaxSamples, func(s *Settings, n uint64) { s.Samples = int(n) }),
			get:  func(s *Settings) string { return strconv.Itoa(s.Samples) },
			words: func(s *Settings) (string, string) {
				if s.Samples == 0 {
					return "Inputs", "each operation builds its own"
				}
				return "Inputs", strconv.Itoa(s.Samples) + ", used in turn"
			},
		},
		{
			name: "check", Option: argument.Option{Kind: argument.KindText, Accepted: fmt.Sprintf("all, none, sample=N with N from 1 to %d", maxKept), Default: "those that --arena holds"},
			help: "results to verify: all, none, sample=N",
			set:  setCheck,
			get: func(s *Settings) string {
				if s.Check.Policy == runner.CheckSample {
					return fmt.Sprintf("sample=%d", s.Check.N)
				}
				return string(s.Check.Policy)
			},
			words: func(s *Settings) (string, string) {
				switch s.Check.Policy {
				case runner.CheckFit:
					return "Checked", "all results that fit in the arena, else a sample"
				case runner.CheckSample:
					return "Checked", fmt.Sprintf("a sample of %d results", s.Check.N)
				}
				return "Checked", string(s.Check.Policy)
			},
		},
		{
			name: "arena", Option: argument.Option{Kind: argument.KindNumber, Accepted: fmt.Sprintf("1 to %d", runner.MaxArena/mebibyte), Text: strconv.Itoa(runner.DefaultArena / mebibyte)},
			help: "MiB of memory that holds results until they are verified",
			set:  number(1, runner.MaxArena/mebibyte, func(s *Settings, n uint64) { s.Arena = int64(n) * mebibyte }),
			get: func(s *Settings) string {
				return strconv.FormatInt((cmp.Or(s.Arena, runner.DefaultArena)+mebibyte-1)/mebibyte, 10)
			},
		},
		{
			name: "profile", Option: argument.Option{Kind: argument.KindList, Accepted: profiles},
			help:  "write profiles, also without --out: " + profiles,
			set:   setProfiles,
			get:   func(s *Settings) string { return strings.Join(s.Profiles, ",") },
			words: func(s *Settings) (string, string) { return "Profiles", strings.Join(s.Profiles, ", ") },
		},
		{
			name: "srs", Option: argument.Option{Kind: argument.KindFile, Accepted: "the path of a .ptau file over BN254", Default: "made from --seed"},
			help: "PLONK, msm: the reference string, a .ptau file",
			set: func(s *Settings, text string) *argument.ValueError {
				s.SRS = text
				return unless(text != "", text)
			},
			get:   func(s *Settings) string { return s.SRS },
			words: func(s *Settings) (string, string) { return "Reference string", s.SRS },
		},
		{
			name: "srs-hash", Option: argument.Option{Kind: argument.KindText, Accepted: "the 128 hexadecimal digits of the file's BLAKE2b-512, together with --srs"},
			help: "BLAKE2b-512 of the file of --srs, as its ceremony published it",
			set: func(s *Settings, text string) *argument.ValueError {
				s.SRSHash = text
				return unless(IsHash(text), text)
			},
			get:   func(s *Settings) string { return s.SRSHash },
			words: func(s *Settings) (string, string) { return "Its BLAKE2b-512", s.SRSHash },
		},
		{
			name: "seed", Option: argument.Option{Kind: argument.KindNumber, Accepted: "0 to 2^64-1", Text: strconv.Itoa(DefaultSeed)},
			help: "seed of inputs, arrivals and samples",
			set:  number(0, math.MaxUint64, func(s *Settings, n uint64) { s.Seed = n }),
			get:  func(s *Settings) string { return decimal(s.Seed) }, always: true,
		},
	}
}

// unless returns an error that refuses value unless it is accepted.
func unless(accepted bool, value string) *argument.ValueError {
	if accepted {
		return nil
	}
	return &argument.ValueError{Value: value}
}

func texts[T ~string](values []T) (all []string) {
	for _, v := range values {
		all = append(all, string(v))
	}
	return all
}

func decimal(n uint64) string { return strconv.FormatUint(n, 10) }

// notZero returns the text of v, or "" if v is zero.
func notZero[T comparable](v T, text func(T) string) string {
	if v == *new(T) {
		return ""
	}
	return text(v)
}

// open returns a function that calls text for an open loop and returns "" for a closed one.
func open(text func(s *Settings) string) func(s *Settings) string {
	return func(s *Settings) string {
		if s.Arrivals == nil {
			return ""
		}
		return text(s)
	}
}

// number returns a function that reads a whole number from least to most.
func number(least, most uint64, set func(s *Settings, n uint64)) func(s *Settings, text string) *argument.ValueError {
	return func(s *Settings, text string) *argument.ValueError {
		n, err := strconv.ParseUint(text, 10, 64)
		set(s, n)
		return unless(err == nil && least <= n && n <= most, text)
	}
}

// span returns a function that reads a time from least to MaxDuration.
func span(least time.Duration, set func(s *Settings, d time.Duration)) func(s *Settings, text string) *argument.ValueError {
	return func(s *Settings, text string) *argument.ValueError {
		d, err := time.ParseDuration(text)
		set(s, d)
		return unless(err == nil && least <= d && d <= MaxDuration, text)
	}
}

// eachRate splits a list of rates into the schedules to measure. The steps or the ramp of one
// schedule stay together.
func eachRate(s *Settings, list string) []string {
	if s.Arrivals != nil && (s.Arrivals.Shape == runner.Step || s.Arrivals.Shape == runner.Ramp) {
		return []string{list}
	}
	rates, ok := ParseRates(list)
	if !ok {
		return []string{list}
	}
	var each []string
	for _, r := range rates {
		each = append(each, strconv.FormatFloat(r, 'f', -1, 64))
	}
	return each
}

func setRate(s *Settings, text string) *argument.ValueError {
	a := runner.Arrivals{Shape: runner.Constant}
	if s.Arrivals != nil {
		a.Shape = s.Arrivals.Shape
	}
	s.Arrivals = &a
	var ok bool
	if a.Shape != runner.Ramp {
		a.Rates, ok = ParseRates(text)
		return unless(ok, text)
	}
	from, to, isRamp := strings.Cut(text, "..")
	a.Rates, ok = ParseRates(from + "," + to)
	if !isRamp || !ok || len(a.Rates) != 2 {
		return &argument.ValueError{Value: text, Accepted: "two rates of ramp, for example 50..200"}
	}
	return nil
}

// ParseRates parses a comma-separated list of rates, which may contain ranges of whole numbers. It
// returns false if the text is not such a list, or if a rate is not above 0 or is greater than
// runner.MaxRate.
func ParseRates(list string) (rates []float64, ok bool) {
	for item := range strings.SplitSeq(list, ",") {
		item = strings.TrimSpace(item)
		if values, ok := argument.Expand(item); ok && strings.Contains(item, "..") {
			for _, v := range values {
				rates = append(rates, float64(v))
			}
			continue
		}
		r, err := strconv.ParseFloat(item, 64)
		if err != nil {
			return nil, false
		}
		rates = append(rates, r)
	}
	return rates, !slices.ContainsFunc(rates, func(r float64) bool { return !(r > 0 && r <= runner.MaxRate) })
}

func setWarmup(s *Settings, text string) *argument.ValueError {
	s.Warmup = runner.Warmup{}
	for item := range strings.SplitSeq(text, ",") {
		item = strings.ToLower(strings.TrimSpace(item))
		n, errN := strconv.ParseUint(item, 10, 63)
		t, errT := time.ParseDuration(item)
		switch {
		case item == "stationary":
			s.Warmup.Stationary = true
		case errN == nil:
			s.Warmup.Ops = n
		case errT == nil && t >= 0 && t <= MaxDuration:
			s.Warmup.Time = t
		default:
			return &argument.ValueError{Value: item}
		}
	}
	return nil
}

func setFailIf(s *Settings, text string) *argument.ValueError {
	s.FailIf = nil
	for item := range strings.SplitSeq(text, ",") {
		t, err := runner.ParseThreshold(item, s.Arrivals != nil)
		if err != nil {
			return &argument.ValueError{Value: item}
		}
		s.FailIf = append(s.FailIf, t)
	}
	return nil
}

func thresholds(s *Settings) (all []string) {
	for _, t := range s.FailIf {
		all = append(all, t.String())
	}
	return all
}

// warmup joins the parts of the warm-up: its time, its number of operations with their unit, and
// the word for stationary.
func warmup(s *Settings, separator string, t time.Duration, unit, stationary string) string {
	parts := []string{notZero(t, time.Duration.String)}
	if s.Warmup.Ops > 0 {
		parts = append(parts, decimal(s.Warmup.Ops)+unit)
	}
	if s.Warmup.Stationary {
		parts = append(parts, stationary)
	}
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), separator)
}

func setCheck(s *Settings, text string) *argument.ValueError {
	switch policy := runner.Policy(strings.ToLower(text)); policy {
	case runner.CheckAll, runner.CheckNone:
		s.Check = runner.Check{Policy: policy}
		return nil
	}
	size, sampled := strings.CutPrefix(strings.ToLower(text), "sample=")
	n, err := strconv.Atoi(size)
	s.Check = runner.Check{Policy: runner.CheckSample, N: n}
	return unless(sampled && err == nil && 1 <= n && n <= maxKept, text)
}

func setProfiles(s *Settings, text string) *argument.ValueError {
	s.Profiles = nil
	for kind := range strings.SplitSeq(text, ",") {
		kind = strings.ToLower(strings.TrimSpace(kind))
		if !slices.Contains(resources.ProfileKinds(), kind) {
			return &argument.ValueError{Value: kind}
		}
		if !slices.Contains(s.Profiles, kind) {
			s.Profiles = append(s.Profiles, kind)
		}
	}
	return nil
}
