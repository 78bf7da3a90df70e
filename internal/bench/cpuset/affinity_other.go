//go:build !linux

package cpuset

import "errors"

var errNone = errors.New("CPU sets need Linux")

// Keep returns an error: CPU sets need Linux.
func Keep(Set) (undo func() error, err error) {
	return nil, errNone
}

// Allowed returns nil: not known.
func Allowed() Set { return nil }

// OfThread returns nil: not known.
func OfThread() Set { return nil }

// KeepThread returns an error, as Keep does.
func KeepThread(Set) error { return errNone }

// Siblings returns nil: not known.
func Siblings(int) Set { return nil }
