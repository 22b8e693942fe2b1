package suite

import (
	"errors"
	"slices"
	"strings"

	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/input/yamlfile"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/workload"
)

// acceptedHeadline describes the values of the key headline.
const acceptedHeadline = "a workload of the suite and values of its axes, for example sender in=2 out=2"

// headline returns the case that the report of a suite begins with, as the suite's file names it, or nil if the file
// names none. The parameter cases contains the planned cases; if the file has other mistakes, planned is false, and
// headline looks only at its form. It returns an *argument.ValueError if the value of the key headline cannot be read
// or chooses no planned case.
func (f *File) headline(defs []workload.Def, cases []Case, planned bool) (*record.Headline, error) {
	words := strings.Fields(f.Headline.Text)
	if len(words) == 0 {
		return nil, nil
	}
	def, err := workload.Find(defs, words[0])
	if err != nil {
		return nil, err
	}
	left := slices.DeleteFunc(slices.Clone(cases), func(c Case) bool { return c.Workload != def.Name })
	if planned && len(left) == 0 {
		return nil, &argument.ValueError{Field: "headline", Value: words[0], Accepted: acceptedHeadline}
	}
	h := &record.Headline{Workload: def.Name}
	for _, word := range words[1:] {
		key, value, found := strings.Cut(word, "=")
		if !found || key == "" || value == "" {
			return nil, &argument.ValueError{Field: "headline", Value: word, Accepted: acceptedHeadline}
		}
		if i := slices.IndexFunc(def.Axes, func(a workload.Axis) bool { return a.Long() == dashed(key) }); i >= 0 {
			key = def.Axes[i].Key
		}
		h.Axes = append(h.Axes, record.Axis{Key: key, Value: value})
		if !planned {
			continue
		}
		var values []string
		matching := slices.DeleteFunc(slices.Clone(left), func(c Case) bool {
			v, ok := c.coordinates().Get(key)
			if ok && !slices.Contains(values, v) {
				values = append(values, v)
			}
			return v != value
		})
		switch {
		case len(values) == 0:
			return nil, &argument.ValueError{Field: "headline", Value: word, Accepted: "axes of " + def.ID() + ": " + keysOf(left[0].coordinates())}
		case len(matching) == 0:
			return nil, &argument.ValueError{Field: "headline", Value: word, Accepted: key + " of the suite's cases: " + strings.Join(values, ", ")}
		}
		left = matching
	}
	return h, nil
}

// coordinates returns the axes that the case's record will have.
func (c *Case) coordinates() record.Axes {
	if c.Stages {
		return c.Case.Axes()
	}
	return c.Settings.Named(c.Case).Axes()
}

func keysOf(axes record.Axes) string {
	var keys []string
	for _, x := range axes {
		keys = append(keys, x.Key)
	}
	return strings.Join(keys, ", ")
}

// withMistake returns err, the mistakes of the file called name, with one more: wrong, on the given line.
func withMistake(name string, err error, line int, wrong error) error {
	p := &yamlfile.Parser{}
	if e, ok := errors.AsType[*yamlfile.Error](err); ok {
		p.Mistakes = slices.Clone(e.Mistakes)
	} else if err != nil {
		return err
	}
	p.Wrong(line, "%v", wrong)
	return p.Err(name)
}
