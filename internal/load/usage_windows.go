package load

import (
	"time"

	"golang.org/x/sys/windows"
)

// processCPU is the CPU time that this process has used, user and system together; 0 if it cannot
// be read.
func processCPU() time.Duration {
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(windows.CurrentProcess(), &created, &exited, &kernel, &user); err != nil {
		return 0
	}
	return 100 * time.Duration(ticks(kernel)+ticks(user))
}

// ticks of 100 ns.
func ticks(t windows.Filetime) int64 { return int64(t.HighDateTime)<<32 | int64(t.LowDateTime) }
