//go:build !unix

package safe

import "os"

// Locks is false: this system has no locks that end with the process.
const Locks = false

// TryLock does nothing.
func TryLock(*os.File, bool) (held bool, err error) { return true, nil }

// Unlock does nothing.
func Unlock(*os.File) {}
