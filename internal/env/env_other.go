//go:build !linux && !darwin

package env

import "os"

// cpuModel is what Windows tells every process; other systems do not.
func cpuModel() string { return os.Getenv("PROCESSOR_IDENTIFIER") }

func governor() string { return "" }

func quota() float64 { return 0 }

func kernel() string { return "" }

func systemMemory() (total, available uint64) { return unlimited, unlimited }
