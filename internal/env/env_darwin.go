package env

import "golang.org/x/sys/unix"

func cpuModel() string {
	model, err := unix.Sysctl("machdep.cpu.brand_string")
	if err != nil {
		return ""
	}
	return model
}

func governor() string { return "" }

func quota() float64 { return 0 }

func systemMemory() (total, available uint64) {
	total, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return unlimited, unlimited
	}
	return total, unlimited
}
