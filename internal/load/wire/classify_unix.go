//go:build unix

package wire

import "syscall"

func errnoRefused() []syscall.Errno { return []syscall.Errno{syscall.ECONNREFUSED} }

func errnoReset() []syscall.Errno {
	return []syscall.Errno{syscall.ECONNRESET, syscall.EPIPE, syscall.ECONNABORTED, syscall.ENOTCONN}
}

// errnoClient returns the errors for limits of this side: ports, files, memory.
func errnoClient() []syscall.Errno {
	return []syscall.Errno{
		syscall.EADDRNOTAVAIL, syscall.EADDRINUSE, syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM,
	}
}
