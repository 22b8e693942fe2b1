package report

import "testing"

func TestFormats(t *testing.T) {
	for _, test := range []struct {
		format func(float64) string
		in     float64
		want   string
	}{
		{number, 19166, "19166"},
		{number, 0.25, "0.250000"},
		{number, 41412840.4, "41412840"},
		{number, 1.5e15, "1500000000000000"},
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
