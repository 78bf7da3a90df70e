//go:build !linux

package launch

import (
	"errors"
	"os"
	"runtime"
	"syscall"
)

// namespaceAndBoot returns "0": a process whose number is in use counts as alive, whichever program it is, also
// after another boot.
func namespaceAndBoot() (space, boot string) { return "0", "0" }

// present reports whether a process exists. Its start is not known.
func present(pid int) (start string, there bool) {
	p, err := os.FindProcess(pid)
	if err != nil {
		return "", false
	}
	defer p.Release()
	if runtime.GOOS == "windows" { // it was opened, so it exists, or has exited a moment ago
		return "", true
	}
	err = p.Signal(syscall.Signal(0))
	return "", err == nil || !errors.Is(err, os.ErrProcessDone) && !errors.Is(err, syscall.ESRCH)
}
