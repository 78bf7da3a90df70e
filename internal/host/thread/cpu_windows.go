package thread

import (
	"time"

	"golang.org/x/sys/windows"
)

// ProcessCPU returns the CPU time of this process, user and system; 0 if it cannot be read.
func ProcessCPU() time.Duration {
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(windows.CurrentProcess(), &created, &exited, &kernel, &user); err != nil {
		return 0
	}
	ticks := func(t windows.Filetime) int64 { return int64(t.HighDateTime)<<32 | int64(t.LowDateTime) } // ticks of 100 ns
	return 100 * time.Duration(ticks(kernel)+ticks(user))
}
