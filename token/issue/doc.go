// Package issue holds benchmarks in which confidential tokens are issued. An issue is
// an action without inputs; package action makes, proves and verifies it.
package issue
