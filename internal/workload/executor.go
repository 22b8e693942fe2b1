package workload

import (
	"context"

	"github.com/zkbench/zkbench/executor"
)

// executorKey is the context key of WithExecutor.
type executorKey struct{}

// WithExecutor returns a context that tells Def.New, Def.Stages and the methods of an Instance to run
// operations on ex, whichever executor the case names.
func WithExecutor(ctx context.Context, ex executor.Executor) context.Context {
	return context.WithValue(ctx, executorKey{}, ex)
}

// Executor returns the executor that WithExecutor has put into ctx. If there is none, it returns the
// executor with the given name, or the error of executor.ByName.
func Executor(ctx context.Context, name string) (executor.Executor, error) {
	if ex, ok := ctx.Value(executorKey{}).(executor.Executor); ok {
		return ex, nil
	}
	return executor.ByName(name)
}

// Pool returns the executor that WithExecutor has put into ctx, or else the pool. Workloads without
// an axis of executors run on it.
func Pool(ctx context.Context) executor.Executor {
	if ex, ok := ctx.Value(executorKey{}).(executor.Executor); ok {
		return ex
	}
	return executor.Pool()
}
