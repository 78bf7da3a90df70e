package launch

import (
	"errors"
	"strconv"

	"golang.org/x/sys/windows"
)

// namespaceAndBoot returns "0": on Windows the creation time of a process is enough.
func namespaceAndBoot() (space, boot string) { return "0", "0" }

// present reports whether a process exists. start is its creation in units of 100 ns; "" if
// unreadable.
func present(pid int) (start string, there bool) {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if errors.Is(err, windows.ERROR_INVALID_PARAMETER) {
		return "", false // no process has the number
	}
	if err != nil {
		return "", true // another user's
	}
	defer windows.CloseHandle(h)
	const stillActive = 259 // STILL_ACTIVE: a handle keeps a process that has exited
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
