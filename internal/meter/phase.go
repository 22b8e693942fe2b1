package meter

import (
	"context"
	"runtime/pprof"
)

// Phase begins a phase of a case, for example set-up or window: it gives the
// calling goroutine the labels of ctx and phase=name, which the goroutines that
// it starts inherit, and returns ctx with them. A CPU profile tells its samples
// apart by them.
func Phase(ctx context.Context, name string) context.Context {
	ctx = Labelled(ctx, name)
	pprof.SetGoroutineLabels(ctx)
	return ctx
}

// Labelled returns ctx with the label of a phase, which a goroutine takes over later.
func Labelled(ctx context.Context, phase string) context.Context {
	return pprof.WithLabels(ctx, pprof.Labels("phase", phase))
}
