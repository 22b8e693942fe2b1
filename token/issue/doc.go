// Package issue holds the benchmarks of issues of confidential tokens. It exports nothing: its path exists because
// the public study of Panurus has its benchmarks of issues in a package of this name, and its commands run here
// with this path in place of its own. Package action makes, proves and verifies issues.
package issue
