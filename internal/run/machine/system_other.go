//go:build !darwin

package machine

import "github.com/locbench/locbench/internal/bench"

// system does nothing: Linux has the kernel's files, and elsewhere the fields stay empty.
func system(*bench.Machine) {}
