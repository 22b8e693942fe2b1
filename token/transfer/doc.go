// Package transfer holds the benchmarks of transfers of confidential tokens, and an
// example of a token's life. Package action makes, proves and verifies transfers.
package transfer
