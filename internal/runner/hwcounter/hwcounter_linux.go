package hwcounter

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// measure opens the two counters as a group, so that both count over the same time.
func measure(work func()) (c Counts, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	leader, err := open(unix.PERF_COUNT_HW_INSTRUCTIONS, -1)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, unix.Close(leader)) }()
	cycles, err := open(unix.PERF_COUNT_HW_CPU_CYCLES, leader)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, unix.Close(cycles)) }()
	if err := control(leader, unix.PERF_EVENT_IOC_RESET); err != nil {
		return c, err
	}
	if err := control(leader, unix.PERF_EVENT_IOC_ENABLE); err != nil {
		return c, err
	}
	work()
	if err := control(leader, unix.PERF_EVENT_IOC_DISABLE); err != nil {
		return c, err
	}
	// The group's format: the number of counters, then their values.
	raw := make([]byte, 8*3)
	if n, err := unix.Read(leader, raw); err != nil || n != len(raw) {
		return c, fmt.Errorf("%w: read %d bytes: %w", ErrUnavailable, n, err)
	}
	c.Instructions, c.Cycles = binary.NativeEndian.Uint64(raw[8:]), binary.NativeEndian.Uint64(raw[16:])
	if c.Instructions == 0 || c.Cycles == 0 { // some virtual machines count nothing
		return Counts{}, fmt.Errorf("%w: nothing was counted", ErrUnavailable)
	}
	return c, nil
}

func open(event uint64, group int) (int, error) {
	attr := unix.PerfEventAttr{
		Type: unix.PERF_TYPE_HARDWARE, Config: event, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
		Read_format: unix.PERF_FORMAT_GROUP, Bits: unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv,
	}
	if group < 0 {
		attr.Bits |= unix.PerfBitDisabled
	}
	fd, err := unix.PerfEventOpen(&attr, 0, -1, group, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return -1, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return fd, nil
}

func control(fd int, request uint) error {
	if err := unix.IoctlSetInt(fd, request, unix.PERF_IOC_FLAG_GROUP); err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return nil
}
