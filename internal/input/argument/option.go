package argument

import (
	"errors"
	"strconv"
	"time"

	"github.com/spf13/pflag"
)

// Option is a flag's value as it was typed. Who defines the flag parses it later, so that
// whatever is wrong with any flag is answered by the accepted values. It is a value of
// package flag and of pflag.
type Option struct {
	Kind     string // what help calls the value, for example list
	Accepted string
	Text     string // the default until one is given
	Given    bool
}

// The kinds of options.
const (
	KindList   = "list"
	KindText   = "text"
	KindNumber = "number"
	KindTime   = "time"
	KindFile   = "file"
)

// ErrTwice is the error of a flag that is given two values.
var ErrTwice = errors.New("given twice")

// Define defines a flag whose text is parsed later.
func Define(flags *pflag.FlagSet, name, kind, text, accepted, help string) *Option {
	o := &Option{Kind: kind, Accepted: accepted, Text: text}
	flags.Var(o, name, help)
	return o
}

// Set takes one value: which of two was meant, nobody can tell.
func (o *Option) Set(text string) error {
	if o.Given && text != o.Text {
		return ErrTwice
	}
	o.Text, o.Given = text, true
	return nil
}

func (o *Option) String() string { return o.Text }

// Type is the name of the value in the help text.
func (o *Option) Type() string { return o.Kind }

// Refuse is the error for a value of the field that the option does not accept.
func (o *Option) Refuse(field, value string) error {
	return &ValueError{Field: field, Value: value, Accepted: o.Accepted}
}

// Number reads a whole number between the bounds.
func (o *Option) Number(field string, least, most uint64) (uint64, error) {
	n, err := strconv.ParseUint(o.Text, 10, 64)
	if err != nil || n < least || n > most {
		return 0, o.Refuse(field, o.Text)
	}
	return n, nil
}

// Duration reads a time between the bounds.
func (o *Option) Duration(field string, least, most time.Duration) (time.Duration, error) {
	d, err := time.ParseDuration(o.Text)
	if err != nil || d < least || d > most {
		return 0, o.Refuse(field, o.Text)
	}
	return d, nil
}
