//go:build !unix

package safe

import "io/fs"

// This system lacks these flags for opening files.
const (
	openNow  = 0
	noFollow = 0
)

func names(fs.FileInfo) uint64 { return 1 }

// owned returns true: the folder of temporary files is the user's.
func owned(fs.FileInfo) bool { return true }
