//go:build linux || darwin

package machine

import (
	"fmt"
	"syscall"
)

// wantFiles is enough for the highest step of the bundled profiles (2048 connections on either
// side) many times over.
const wantFiles = 65536

// RaiseOpenFiles raises this process's limit of open files as far as it may and returns it. What it
// starts afterwards inherits the limit, so a contender run as a process has one like that of a
// container.
func RaiseOpenFiles() (int, error) {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return 0, fmt.Errorf("read limit of open files: %w", err)
	}
	more := syscall.Rlimit{Cur: max(l.Max, wantFiles), Max: max(l.Max, wantFiles)}
	if l.Max < wantFiles && syscall.Setrlimit(syscall.RLIMIT_NOFILE, &more) == nil { // root may raise the hard limit too
		return clampFiles(more.Cur), nil
	}
	// Even where the Go runtime has raised its own limit already: only one set by the program
	// itself is handed on to children.
	l.Cur = l.Max
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		l.Cur = min(l.Max, 10240) // macOS calls its hard limit infinite and refuses it
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
