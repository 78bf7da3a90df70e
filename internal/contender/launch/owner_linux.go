package launch

import (
	"errors"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/locbench/locbench/internal/host/cgroup"
)

// namespaceAndBoot returns this process's PID namespace and the ID of the kernel's boot, the same
// in every container, or unique values if they are unreadable: then no other process counts as
// dead.
func namespaceAndBoot() (space, boot string) {
	link, _ := os.Readlink("/proc/self/ns/pid") // "pid:[4026531836]"
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	space = strings.TrimSuffix(strings.TrimPrefix(link, "pid:["), "]")
	boot = strings.ReplaceAll(strings.TrimSpace(string(id)), "-", "")
	if !regexp.MustCompile(`^[0-9]{1,20}$`).MatchString(space) || !regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(boot) {
		return strconv.FormatInt(time.Now().UnixNano(), 10), "0"
	}
	return space, boot
}

// present reports whether a process exists. start is the 22nd field of its /proc/PID/stat; "" if it
// cannot be read, such as that of another user under hidepid.
func present(pid int) (start string, there bool) {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return "", false
	}
	if !ownProc() {
		return "", true
	}
	s, err := cgroup.ReadStat(pid)
	if err != nil {
		return "", true
	}
	return strconv.FormatInt(s.Start, 10), s.State != 'Z'
}

// ownProc reports whether /proc is of this process's PID namespace. In a new namespace it may still
// be that of another one, where the numbers mean other processes.
func ownProc() bool {
	link, err := os.Readlink("/proc/self")
	return err == nil && link == strconv.Itoa(os.Getpid())
}
