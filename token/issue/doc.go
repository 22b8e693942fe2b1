// Package issue holds the benchmarks of issues of confidential tokens: actions without
// inputs, which package action makes, proves and verifies.
package issue
