package launch

import (
	"errors"
	"strconv"

	"golang.org/x/sys/windows"
)

// namespaceAndBoot: Windows has no PID namespaces, and names processes by when they were created.
func namespaceAndBoot() (space, boot string) { return "0", "0" }

// present reports whether a process is there; start is when it was created, in units of 100 ns, ""
// where that is not to be had.
func present(pid int) (start string, there bool) {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if errors.Is(err, windows.ERROR_INVALID_PARAMETER) {
		return "", false // what it says where no process has the number
	}
	if err != nil {
		return "", true // somebody else's
	}
	defer windows.CloseHandle(h)
	const stillActive = 259 // STILL_ACTIVE: others may hold a process that has ended
	var code uint32
	if err := windows.GetExitCodeProcess(h, &code); err == nil && code != stillActive {
		return "", false
	}
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(h, &created, &exited, &kernel, &user); err != nil {
		return "", true
	}
	return strconv.FormatUint(uint64(created.HighDateTime)<<32|uint64(created.LowDateTime), 10), true
}
