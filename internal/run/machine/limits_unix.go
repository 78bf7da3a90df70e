//go:build linux || darwin

package machine

import (
	"fmt"
	"syscall"
)

// enoughFiles is many times what the highest bundled step needs: 2048 connections on both sides.
const enoughFiles = 65536

// RaiseOpenFiles raises this process's limit of open files as far as allowed and returns it. Child
// processes inherit it, so a contender run as a process has a limit like a container's.
func RaiseOpenFiles() (int, error) {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return 0, fmt.Errorf("read limit of open files: %w", err)
	}
	more := syscall.Rlimit{Cur: max(l.Max, enoughFiles), Max: max(l.Max, enoughFiles)}
	if l.Max < enoughFiles && syscall.Setrlimit(syscall.RLIMIT_NOFILE, &more) == nil { // root may raise the hard limit
		return clampFiles(more.Cur), nil
	}
	// Children inherit only a limit that the program sets, not the one that the Go runtime raises.
	l.Cur = l.Max
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		l.Cur = min(l.Max, 10240) // macOS reports an infinite hard limit and refuses to set it
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
			return 0, fmt.Errorf("raise limit of open files to %d: %w", l.Cur, err)
		}
	}
	return clampFiles(l.Cur), nil
}

// openFiles returns the hard limit; ok is false if it cannot be read.
func openFiles() (n int, ok bool) {
	var l syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l)
	return clampFiles(l.Max), err == nil
}

func clampFiles(n uint64) int { return int(min(n, 1<<31-1)) }
