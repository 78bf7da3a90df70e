//go:build unix

package load

import (
	"time"

	"golang.org/x/sys/unix"
)

// processCPU is the CPU time that this process has used, user and system together; 0 if it cannot
// be read.
func processCPU() time.Duration {
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
