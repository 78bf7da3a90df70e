//go:build !linux && !darwin

package machine

// RaiseOpenFiles does nothing and returns 0: only Linux and macOS have this limit.
func RaiseOpenFiles() (int, error) { return 0, nil }

func openFiles() (int, bool) { return 0, false }
