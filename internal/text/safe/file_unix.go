//go:build unix

package safe

import (
	"io/fs"
	"os"
	"syscall"
)

// Flags for opening files: do not wait for the writer of a pipe; for appending, follow no link.
const (
	openNow  = syscall.O_NONBLOCK
	noFollow = syscall.O_NOFOLLOW
)

// names returns the number of names (hard links) of a file.
func names(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}

// owned reports whether a file belongs to this user.
func owned(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
