package report

import "testing"

func TestFormats(t *testing.T) {
	for _, test := range []struct {
		format func(float64) string
		in     float64
		want   string
	}{
		{duration, 0, "0ns"},
		{duration, 7, "7.000ns"},
		{duration, 999.96, "1.000µs"},
		{duration, 31_760_236, "31.76ms"},
		{duration, 999_999_999, "1.000s"},
		{duration, 3.6e12, "3600s"},
		{size, 999, "999 B"},
		{size, 999_999, "1.00 MB"},
		{size, 397.47e6, "397 MB"},
		{size, 0, "0 B"},
		{number, 19166, "19166"},
		{number, 0.25, "0.250000"},
		{number, 41412840.4, "41412840"},
		{number, 1.5e15, "1500000000000000"},
		{perSecond, 240.801, "240.8/s"},
	} {
		if got := test.format(test.in); got != test.want {
			t.Errorf("value=%v: %s, want %s", test.in, got, test.want)
		}
	}
}

func TestBar(t *testing.T) {
	for _, test := range []struct {
		n, most int64
		want    string
	}{
		{0, 10, ""}, {1, 1_000_000, "▏"}, {1, barWidth, "█"}, {3, 2 * barWidth, "█▌"},
	} {
		if got := bar(test.n, test.most); got != test.want {
			t.Errorf("n=%d/most=%d: %q, want %q", test.n, test.most, got, test.want)
		}
	}
	if got := len([]rune(bar(10, 10))); got != barWidth {
		t.Errorf("the fullest row has %d cells, want %d", got, barWidth)
	}
}
