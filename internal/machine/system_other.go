//go:build !darwin

package machine

import "locbench/internal/bench"

// system adds nothing: on Linux the kernel's files tell, and on others the fields stay empty.
func system(*bench.Machine) {}
