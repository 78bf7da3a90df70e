//go:build !linux

package cpuset

import "errors"

var errNone = errors.New("this system lets no process choose its CPUs")

// Keep fails: only Linux lets a process choose its CPUs in this way.
func Keep(Set) (undo func() error, err error) {
	return nil, errNone
}

// Allowed is nil: nobody knows.
func Allowed() Set { return nil }

// OfThread is nil: nobody knows.
func OfThread() Set { return nil }

// KeepThread fails as Keep does.
func KeepThread(Set) error { return errNone }

// Siblings knows none.
func Siblings(int) Set { return nil }
