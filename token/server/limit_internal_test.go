package server

import (
	"errors"
	"fmt"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// TestGreedy: clients that one after the other take as much as they get, and take again what they give back, leave a part
// to another client: as soon as their calls have ended once, and their streams have had a message. A client that has one stream
// keeps it. If each client has little, all of it is used.
func TestGreedy(t *testing.T) {
	const all, part = 48, 1 << 20
	limits := Limits{Running: all, Streams: all, Memory: all * copies * part, ClientRunning: all, ClientStreams: all}
	type held struct {
		client string
		end    func() bool // reports whether it has ended
	}
	for name, take := range map[string]func(l *limiter, client string) (func() bool, error){
		"calls": func(l *limiter, client string) (func() bool, error) {
			end, err := l.call(l.of(client))
			return func() bool { end(); return true }, err
		},
		"streams": func(l *limiter, client string) (func() bool, error) {
			s, err := l.stream(l.of(client))
			return func() bool { return s.keep() != nil }, err
		},
		"memory": func(l *limiter, client string) (func() bool, error) {
			end := func() bool { l.release(l.of(client), part); return true }
			err := l.hold(l.of(client), part)
			if err != nil {
				end()
			}
			return end, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			for greedy := 1; greedy < all; greedy++ {
				l := must.Get(newLimiter(limits))(t)
				var taken []held
				for i := range greedy {
					client := fmt.Sprint(i)
					for {
						end, err := take(l, client)
						if err != nil {
							break
						}
						taken = append(taken, held{client, end})
					}
				}
				for i, h := range taken {
					if h.end() {
						taken[i].end = func() bool { return false }
						if again, err := take(l, h.client); err == nil {
							taken[i].end = again
						}
					}
				}
				if _, err := take(l, "other"); err != nil {
					t.Fatalf("%d greedy clients: %v", greedy, err)
				}
			}

			l := must.Get(newLimiter(limits))(t)
			for client := range all {
				must.Get(take(l, fmt.Sprint(client)))(t)
			}
			_, err := take(l, "one more")
			if limit, ok := errors.AsType[*zkbench.LimitError](err); !ok {
				t.Errorf("%v after all %d", err, all)
			} else {
				golden.Equal(t, "most", 0, limit.Max)
			}
			if name == "streams" {
				s := &stream{limiter: l, of: l.of("0"), end: func() { t.Error("the only stream of a client ends") }}
				must.Do(t, s.keep())
			}
		})
	}
}

// TestKeep: as long as nothing changes, streams that were let in are kept, whatever their number. A stream that has ended
// says so again.
func TestKeep(t *testing.T) {
	for all := 1; all <= 20; all++ {
		l := must.Get(newLimiter(Limits{Streams: all, ClientStreams: all}))(t)
		var open []*stream
		for {
			s, err := l.stream(l.of("client"))
			if err != nil {
				break
			}
			open = append(open, s)
			for _, s := range open {
				must.Do(t, s.keep())
			}
		}
		golden.Equal(t, "streams", (all+1)/2, len(open))
		for l.streams.Load() < int64(all) {
			must.Get(l.stream(l.of(fmt.Sprint("other ", l.streams.Load()))))(t)
		}
		for _, s := range open {
			if why := s.keep(); why != nil && !errors.Is(s.keep(), why) {
				t.Error("a stream that has ended is kept")
			}
			s.release()
			s.release()
		}
		golden.Equal(t, "streams of the client", 0, l.of("client").streams.Load())
	}
}
