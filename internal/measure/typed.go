package measure

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/runner"
)

// Typed maps the name of each flag that chooses a setting to an Option, which has the text that the
// user typed.
type Typed map[string]*argument.Option

// Define creates the flags with the given names, stores them in t, and calls the function add for
// each of them. That function must add the flag to a set of flags.
func (t Typed) Define(add func(o *argument.Option, name, help string), names ...string) {
	for _, row := range settings() {
		if slices.Contains(names, row.name) {
			o := row.Option
			t[row.name] = &o
			add(&o, row.name, row.help)
		}
	}
}

// Settings returns the settings that the flags ask for. Some flags, such as the one for the rate,
// may list several values, which are measured separately. The parameter workers is the list of
// numbers of workers, as the user types it. The result has an element for each combination of these
// values with a number of workers. The parameter window is the time for which each case is measured
// if the flag named duration was not given.
func (t Typed) Settings(workers string, window time.Duration) ([]Settings, error) {
	counts, err := WorkersAxis().Parse(workers)
	if err != nil {
		return nil, err
	}
	if o := t["duration"]; o != nil && o.Given {
		if window, err = o.Duration("duration", MinDuration, MaxDuration); err != nil {
			return nil, err
		}
	}
	var all []Settings
	for _, count := range counts {
		n, err := strconv.Atoi(count)
		if err != nil {
			return nil, err
		}
		s := DefaultSettings(n, window)
		s.Queue, s.Arena = runner.DefaultQueue, runner.DefaultArena
		if t.given("count") && !t.given("duration") {
			s.Duration = 0
		}
		all = append(all, s)
	}
	rows := slices.DeleteFunc(settings(), func(row setting) bool { return row.name == "workers" || !t.given(row.name) })
	for _, last := range []bool{false, true} {
		for _, row := range rows {
			if row.last != last {
				continue
			}
			if all, err = row.apply(all, t[row.name].Text); err != nil {
				return nil, err
			}
		}
	}
	for i := range all {
		if !t.given("rate") { // the shape, if any, is for a search
			all[i].Arrivals = nil
		}
		if err := all[i].Validate(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// apply returns the settings with the value that was typed. If that is a list to be measured
// separately, each of the settings is returned once with each value.
func (row *setting) apply(before []Settings, typed string) (after []Settings, err error) {
	for _, s := range before {
		values := []string{typed}
		if row.each != nil {
			values = row.each(&s, typed)
		}
		for _, value := range values {
			one := s
			if wrong := row.set(&one, value); wrong != nil {
				wrong.Field, wrong.Accepted = row.name, cmp.Or(wrong.Accepted, row.Accepted)
				return nil, wrong
			}
			after = append(after, one)
		}
	}
	return after, nil
}

func (t Typed) given(name string) bool { return t[name] != nil && t[name].Given }

// Flag is the name of a flag and its value, as a user types them.
type Flag struct{ Name, Value string }

// Flags returns the flags that ask for the settings s. Flags whose value is the default are left
// out, except those for the seed, the number of workers and the duration.
func (s Settings) Flags() []Flag {
	window := s.Duration
	if window == 0 { // the warm-up of a count is that of the default window
		window = DefaultDuration
	}
	normal := DefaultSettings(s.Workers, window)
	normal.Arrivals = s.Arrivals
	var all []Flag
	for _, row := range settings() {
		value := row.get(&s)
		loop := row.name == "rate" || row.name == "arrivals"
		if value != "" && (row.always || loop || value != row.get(&normal)) {
			all = append(all, Flag{row.name, value})
		}
	}
	return all
}

// Words describes the settings in words for readers. Each element of the result is a label and its
// value.
func (s Settings) Words() [][2]string {
	var all [][2]string
	for _, row := range settings() {
		if row.words == nil {
			continue
		}
		if label, value := row.words(&s); value != "" {
			all = append(all, [2]string{label, value})
		}
	}
	return all
}
