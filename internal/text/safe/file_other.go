//go:build !unix

package safe

import (
	"io/fs"
	"os"
)

// This system lacks these flags for opening files.
const (
	openNow  = 0
	noFollow = 0
)

func names(fs.FileInfo) uint64 { return 1 }

// owned returns true: the folder of temporary files is the user's.
func owned(fs.FileInfo) bool { return true }

// Locks is false: this system has no locks that end with the process.
const Locks = false

// TryLock does nothing.
func TryLock(*os.File, bool) (held bool, err error) { return true, nil }

// Unlock does nothing.
func Unlock(*os.File) {}
