package resources

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/zkbench/zkbench/internal/testing/golden"
)

// simulated is a kernel whose process grows and shrinks on demand.
type simulated struct {
	now     resident
	highest uint64
	refuses bool // resets of the mark
	blind   bool // keeps no mark
}

func (k *simulated) resident() resident { return k.now }

func (k *simulated) mark() uint64 {
	if k.blind {
		return 0
	}
	return k.highest
}

func (k *simulated) resetMark() bool {
	if k.refuses || k.blind {
		return false
	}
	k.highest = k.now.rss()
	return true
}

func (k *simulated) set(rss uint64) {
	k.now = resident{anon: rss - rss/4, file: rss / 4}
	k.highest = max(k.highest, rss)
}

func TestPeaksNest(t *testing.T) {
	k := new(simulated)
	s := &peaks{kernel: k}
	visit := func(heights ...uint64) {
		for _, h := range heights {
			k.set(h)
		}
	}
	closes := func(name string, p *Peak, want uint64) {
		t.Helper()
		if rss, exact := p.Close(); rss != want || !exact {
			t.Errorf("%s: %d, exact %v; want %d, true", name, rss, exact, want)
		}
	}
	visit(1000, 100) // before all
	outer := s.openPeak()
	visit(500, 100)
	first := s.openPeak()
	visit(300, 100)
	overlapping := s.openPeak()
	visit(200, 100)
	closes("first", first, 300)
	visit(400, 100)
	closes("overlapping", overlapping, 400)
	last := s.openPeak()
	closes("last", last, 100)
	closes("outer", outer, 500)
	visit(2000)
	closes("outer again", outer, 500)
	golden.Equal(t, "peaks still open", 0, len(s.open))
}

func TestPeakWithoutReset(t *testing.T) {
	for _, test := range []struct {
		name    string
		blind   bool
		visited []uint64 // between samples
		want    uint64
		exact   bool
	}{
		{"mark=stays", false, []uint64{900, 200}, 300, false},
		{"mark=rises", false, []uint64{1500, 200}, 1500, true},
		{"mark=none", true, []uint64{1500, 200}, 300, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			k := &simulated{refuses: true, blind: test.blind}
			s := &peaks{kernel: k}
			k.set(1000)
			k.set(100)
			p := s.openPeak()
			for _, rss := range test.visited {
				k.set(rss)
			}
			k.set(300)
			s.sample()
			k.set(250)
			if rss, exact := p.Close(); rss != test.want || exact != test.exact {
				t.Errorf("%d, exact %v; want %d, %v", rss, exact, test.want, test.exact)
			}
		})
	}
}

// Whatever the order of openings and closings, a peak is the greatest height
// since its opening; where resets are refused it never is more.
func TestPeakProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := &simulated{refuses: rapid.Bool().Draw(t, "refuses")}
		s := &peaks{kernel: k}
		k.set(1)
		open := map[*Peak]uint64{}
		t.Repeat(map[string]func(*rapid.T){
			"grow or shrink": func(t *rapid.T) {
				rss := rapid.Uint64Range(1, 1000).Draw(t, "rss")
				k.set(rss)
				for p := range open {
					open[p] = max(open[p], rss)
				}
			},
			"open": func(*rapid.T) { open[s.openPeak()] = k.now.rss() },
			"close": func(t *rapid.T) {
				for p, want := range open {
					rss, exact := p.Close()
					if rss > want || (exact || !k.refuses) && rss != want || !exact && !k.refuses {
						t.Fatalf("%d, exact %v; want %d", rss, exact, want)
					}
					delete(open, p)
					return
				}
			},
		})
	})
}

func TestNoMemoryWhereNotTold(t *testing.T) {
	p := (&peaks{kernel: &simulated{blind: true}}).openPeak()
	if rss, exact := p.Close(); rss != 0 || exact {
		t.Errorf("%d, exact %v of a kernel that tells nothing", rss, exact)
	}
}
