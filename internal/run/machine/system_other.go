//go:build !darwin

package machine

import "locbench/internal/bench"

// system adds nothing: on Linux the kernel's files are read, and on others the fields stay empty.
func system(*bench.Machine) {}
