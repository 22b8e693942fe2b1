//go:build !linux && !darwin

package env

import "os"

// cpuModel returns the environment variable PROCESSOR_IDENTIFIER, which Windows sets for every
// process. Other systems do not set it.
func cpuModel() string { return os.Getenv("PROCESSOR_IDENTIFIER") }

func governor() string { return "" }

func kernel() string { return "" }
