//go:build !linux && acceptance

package main

import (
	"fmt"
	"os"
)

// obey is for the tests of counters, which are the kernel's of Linux.
func obey(string) {
	fmt.Fprintln(os.Stderr, "obey: on Linux only")
	os.Exit(2)
}
