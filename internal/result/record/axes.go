package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/zkbench/zkbench"
)

// Axis is one coordinate of a case, for example bits=32.
type Axis struct{ Key, Value string }

// Axes holds the coordinates of a case, in order. In JSON it is one object whose members keep that order.
type Axes []Axis

// Get returns the value of key. It returns false if there is none.
func (a Axes) Get(key string) (string, bool) {
	for _, x := range a {
		if x.Key == key {
			return x.Value, true
		}
	}
	return "", false
}

// Without returns a copy of the axes that leaves out those with the given keys.
func (a Axes) Without(keys ...string) Axes {
	return slices.DeleteFunc(slices.Clone(a), func(x Axis) bool { return slices.Contains(keys, x.Key) })
}

// Unique returns a string that differs for different axes. Unlike String, it quotes keys and values.
func (a Axes) Unique() string { return fmt.Sprintf("%q", []Axis(a)) }

// String returns key=value/key=value, as in the name of a sub-benchmark.
func (a Axes) String() string {
	var b strings.Builder
	for i, x := range a {
		if i > 0 {
			b.WriteByte('/')
		}
		b.WriteString(x.Key)
		b.WriteByte('=')
		b.WriteString(x.Value)
	}
	return b.String()
}

// MarshalJSON writes one object and keeps the order of the axes.
func (a Axes) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, x := range a {
		if i > 0 {
			b.WriteByte(',')
		}
		for j, s := range [2]string{x.Key, x.Value} {
			if j == 1 {
				b.WriteByte(':')
			}
			quoted, err := json.Marshal(s)
			if err != nil {
				return nil, err
			}
			b.Write(quoted)
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON reads an object of strings and keeps the order of its members.
func (a *Axes) UnmarshalJSON(data []byte) error {
	malformed := func(offset int64, reason string) error {
		return &zkbench.DecodeError{Path: "axes", Offset: int(offset), Reason: reason}
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	open, err := dec.Token()
	if err != nil {
		return malformed(dec.InputOffset(), err.Error())
	}
	if open == nil { // null
		*a = nil
		return nil
	}
	if open != json.Delim('{') {
		return malformed(0, "not an object")
	}
	var axes Axes
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return malformed(dec.InputOffset(), err.Error())
		}
		value, err := dec.Token()
		if err != nil {
			return malformed(dec.InputOffset(), err.Error())
		}
		k, _ := key.(string) // the decoder accepts nothing else as a key
		v, ok := value.(string)
		if !ok {
			return malformed(dec.InputOffset(), "value of "+k+" is not a string")
		}
		if _, twice := axes.Get(k); twice {
			return malformed(dec.InputOffset(), k+" occurs twice")
		}
		axes = append(axes, Axis{Key: k, Value: v})
	}
	*a = axes
	return nil
}
