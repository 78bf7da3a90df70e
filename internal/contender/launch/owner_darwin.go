package launch

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// namespaceAndBoot returns "0", since there are no PID namespaces, and the boot's ID or "0".
func namespaceAndBoot() (space, boot string) {
	id, _ := unix.Sysctl("kern.bootsessionuuid")
	boot = strings.ToLower(strings.ReplaceAll(id, "-", ""))
	if !regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(boot) {
		boot = "0"
	}
	return "0", boot
}

// present reports whether a process exists. start is in µs since 1970; "" if unreadable.
func present(pid int) (start string, there bool) {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return "", false
	}
	const zombie = 5 // SZOMB of <sys/proc.h>
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(info.Proc.P_pid) != pid {
		return "", true
	}
	return strconv.FormatInt(info.Proc.P_starttime.Nano()/1000, 10), info.Proc.P_stat != zombie
}
