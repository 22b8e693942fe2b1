// Package transfer holds the benchmarks of transfers of confidential tokens. It exports nothing: its path exists
// because the public study of Panurus has its benchmarks of transfers in a package of this name, and its commands
// run here with this path in place of its own. Package action makes, proves and verifies transfers.
package transfer
