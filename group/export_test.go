package group

// Twin is the Go form of the kernel in lanes.
var Twin = twin

// Counted returns g with scratches of its own, and a function that counts those of tasks that are not in use: all, and those with
// memory outside of the heap.
func Counted[S, P any](g Group[S, P]) (own Group[S, P], count func() (tasks, large int)) {
	return g.(interface {
		counted() (Group[S, P], func() (tasks, large int))
	}).counted()
}

func (g *native[S, E, P, J, PS, PE, PP, PJ]) counted() (Group[S, P], func() (tasks, large int)) {
	own, sums := *g, *g.sums
	own.sums = &sums
	made := func() any { return sums.newScratch() }
	sums.ofSums, sums.ofTasks = &kept{made: made}, &shared{made: made}
	ofTasks := sums.ofTasks.get()
	return &own, func() (tasks, large int) {
		for _, sc := range ofTasks.all() {
			tasks++
			if sc := sc.(*scratch[E, PE]); len(sc.memory.free) > 0 {
				large++
			}
			ofTasks.Put(sc)
		}
		return tasks, large
	}
}
