package wire

import (
	"syscall"

	"golang.org/x/sys/windows"
)

func errnoRefused() []syscall.Errno { return []syscall.Errno{windows.WSAECONNREFUSED} }

func errnoReset() []syscall.Errno {
	return []syscall.Errno{windows.WSAECONNRESET, windows.WSAECONNABORTED, windows.WSAENOTCONN}
}

// errnoClient returns the errors for limits of this side: ports, files, memory.
func errnoClient() []syscall.Errno {
	return []syscall.Errno{
		windows.WSAEADDRNOTAVAIL, windows.WSAEADDRINUSE, windows.WSAEMFILE, windows.WSAENOBUFS,
	}
}
