//go:build !linux && !darwin

package env

import "os"

// cpuModel is what Windows tells every process; other systems do not.
func cpuModel() string { return os.Getenv("PROCESSOR_IDENTIFIER") }

func governor() string { return "" }

func kernel() string { return "" }
