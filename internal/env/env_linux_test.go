package env

import "testing"

func TestParseModel(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"arch=amd64", "processor\t: 0\nmodel name\t: AMD EPYC 9654\nflags\t: fpu\n", "AMD EPYC 9654"},
		{"arch=power", "processor\t: 0\ncpu\t\t: POWER9\n", "POWER9"},
		{"arch=none", "processor\t: 0\n", ""},
		{"arch=empty", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := parseModel([]byte(test.in)); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

func TestParseMax(t *testing.T) {
	for _, test := range []struct {
		in   string
		want float64
	}{
		{"150000 100000\n", 1.5}, {"max 100000\n", 0}, {"-1\n 100000\n", 0}, {"", 0}, {"1", 0}, {"1 0", 0},
	} {
		if got := parseMax(test.in); got != test.want {
			t.Errorf("quota=%q: %v, want %v", test.in, got, test.want)
		}
	}
}
