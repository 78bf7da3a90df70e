//go:build !linux

package cpuset

import "errors"

// Keep fails: only Linux lets a process choose its CPUs in this way.
func Keep(Set) (undo func() error, err error) {
	return nil, errors.New("this system lets no process choose its CPUs")
}

// Allowed is nil: nobody knows.
func Allowed() Set { return nil }

// Siblings knows none.
func Siblings(int) Set { return nil }
