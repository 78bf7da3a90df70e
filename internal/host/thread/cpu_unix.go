//go:build unix

package thread

import (
	"time"

	"golang.org/x/sys/unix"
)

// ProcessCPU returns the CPU time of this process, user and system; 0 if it cannot be read.
func ProcessCPU() time.Duration {
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
