package argument

import (
	"errors"
	"strconv"
	"time"

	"github.com/spf13/pflag"
)

// Option is a flag's value as text. The code that defines the flag parses the text later, so that every error
// about a flag lists the accepted values. Option implements flag.Value and pflag.Value.
type Option struct {
	Kind     string // what help calls the value, for example list
	Accepted string // the accepted values, in words
	Text     string // the value as typed, or the default
	Default  string // the default in words, if it depends on other flags; empty: Text before the flag is given
	Given    bool
}

// The kinds of options, as help shows them.
const (
	KindList   = "list"
	KindText   = "text"
	KindNumber = "number"
	KindTime   = "time"
	KindFile   = "file"
)

// ErrTwice is the error for a flag that is given two different values.
var ErrTwice = errors.New("given twice")

// Define adds a flag to flags and returns its Option. The parameter text is the flag's default value.
func Define(flags *pflag.FlagSet, name, kind, text, accepted, help string) *Option {
	o := &Option{Kind: kind, Accepted: accepted, Text: text}
	flags.Var(o, name, help)
	return o
}

// The annotation of a flag that says under which title help lists it.
const group = "group"

// Group puts the flags with the given names under a title in help. Help lists the flags of a command in the order
// of their definition.
func Group(flags *pflag.FlagSet, title string, names ...string) {
	flags.SortFlags = false
	for _, name := range names {
		flags.Lookup(name).Annotations = map[string][]string{group: {title}}
	}
}

// GroupOf returns the title under which help lists the flag. It is empty if Group was not called for the flag.
func GroupOf(flag *pflag.Flag) string {
	if titles := flag.Annotations[group]; len(titles) > 0 {
		return titles[0]
	}
	return ""
}

// Set sets the option's text. It returns ErrTwice if the option has been given another text before.
func (o *Option) Set(text string) error {
	if o.Given && text != o.Text {
		return ErrTwice
	}
	o.Text, o.Given = text, true
	return nil
}

func (o *Option) String() string { return o.Text }

// Type returns the option's Kind. pflag shows it in help.
func (o *Option) Type() string { return o.Kind }

// Refuse returns a *ValueError which says that the option does not accept the given value for the given
// field.
func (o *Option) Refuse(field, value string) error {
	return &ValueError{Field: field, Value: value, Accepted: o.Accepted}
}

// Number parses the text as an integer. If the text is not an integer n with least ≤ n ≤ most, Number returns a
// *ValueError for the given field.
func (o *Option) Number(field string, least, most uint64) (uint64, error) {
	n, err := strconv.ParseUint(o.Text, 10, 64)
	if err != nil || n < least || n > most {
		return 0, o.Refuse(field, o.Text)
	}
	return n, nil
}

// Duration parses the text as a duration. If the text is not a duration d with least ≤ d ≤ most, Duration returns
// a *ValueError for the given field.
func (o *Option) Duration(field string, least, most time.Duration) (time.Duration, error) {
	d, err := time.ParseDuration(o.Text)
	if err != nil || d < least || d > most {
		return 0, o.Refuse(field, o.Text)
	}
	return d, nil
}
