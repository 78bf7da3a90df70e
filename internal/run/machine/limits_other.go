//go:build !linux && !darwin

package machine

// RaiseOpenFiles does nothing: such limits are known of Linux and macOS only. It returns 0 for
// "none".
func RaiseOpenFiles() (int, error) { return 0, nil }

func openFiles() (int, bool) { return 0, false }
