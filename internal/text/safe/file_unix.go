//go:build unix

package safe

import (
	"io/fs"
	"syscall"
)

// How files are opened: a pipe that nobody writes to does not make it wait, and for appending the
// last part of the path is not a link.
const (
	openNow  = syscall.O_NONBLOCK
	noFollow = syscall.O_NOFOLLOW
)

// names returns how many names a file has.
func names(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}
