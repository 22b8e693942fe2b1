package workload

import "context"

// srsKey is the key of WithSRS.
type srsKey struct{}

// WithSRS returns a context in which New and Stages of a Def with SRS take the reference
// string from the .ptau file at path; of none where path is empty.
func WithSRS(ctx context.Context, path string) context.Context {
	return context.WithValue(ctx, srsKey{}, path)
}

// SRSFile returns the path that WithSRS was given, empty where there is none.
func SRSFile(ctx context.Context) string {
	path, _ := ctx.Value(srsKey{}).(string)
	return path
}
