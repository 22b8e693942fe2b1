package resources

import (
	"fmt"
	"testing"
)

func TestNumber(t *testing.T) {
	for _, test := range []struct {
		in, rest string
		want     uint64
	}{{" 12 34", " 34", 12}, {"\t   7 kB\n", " kB\n", 7}, {"", "", 0}, {"kB", "kB", 0}} {
		t.Run(fmt.Sprintf("in=%q", test.in), func(t *testing.T) {
			if n, rest := number([]byte(test.in)); n != test.want || string(rest) != test.rest {
				t.Errorf("%d and %q, want %d and %q", n, rest, test.want, test.rest)
			}
		})
	}
}
