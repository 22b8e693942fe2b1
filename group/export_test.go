package group

import "github.com/zkbench/zkbench/internal/arith/vec52"

// Twin is the Go form of the kernel in lanes.
var Twin = twin

// Scratches says which working memory of sums is not in use.
type Scratches struct {
	Tasks    int // scratches of tasks
	Large    int // of these, those with memory outside of the heap
	Room     int // the most points for which one of them has room in its tree
	Sortings int // of windows, the most of one sum
}

// Counted returns g with scratches of its own, and a function that counts those.
func Counted[S, P any](g Group[S, P]) (own Group[S, P], count func() Scratches) {
	return g.(interface {
		counted() (Group[S, P], func() Scratches)
	}).counted()
}

func (g *native[S, E, P, J, PS, PE, PP, PJ]) counted() (Group[S, P], func() Scratches) {
	own, sums := *g, *g.sums
	own.sums = &sums
	made := func() any { return sums.newScratch() }
	ofSums := &kept{made: made}
	sums.ofSums, sums.ofTasks = ofSums, &shared{made: made}
	ofTasks := sums.ofTasks.get()
	return &own, func() (s Scratches) {
		for _, x := range ofTasks.all() {
			sc := x.(*scratch[E, PE])
			s.Tasks++
			if len(sc.memory.free) > 0 {
				s.Large++
			}
			s.Room = max(s.Room, roomOf[E, PE](sc.tree.rows))
			ofTasks.Put(sc)
		}
		for _, x := range ofSums.all() {
			sc := x.(*scratch[E, PE])
			all := sc.sortings.all()
			s.Sortings = max(s.Sortings, len(all))
			for _, by := range all {
				sc.sortings.Put(by)
			}
			ofSums.Put(sc)
		}
		return s
	}
}

// roomOf returns the number of points for which rows have room.
func roomOf[E comparable, PE elementPtr[E]](r rows[E]) int {
	switch r := r.(type) {
	case *wide[E, PE]:
		return cap(r.points) / r.field.PlaceWords() * vec52.Width
	case *vectors[E, PE]:
		return cap(r.x)
	}
	panic("group: other rows")
}
