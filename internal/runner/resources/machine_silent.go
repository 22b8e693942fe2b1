//go:build !unix

package resources

// ownCounts returns nothing, because the platform does not report the counts.
func ownCounts() own { return own{} }
