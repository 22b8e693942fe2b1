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
