//go:build !linux && !darwin && !windows

package launch

func surroundings() (space, boot string) { return "0", "0" }

// present takes every process for living: here that is not known, and a run that lives must not be
// cleaned away.
func present(int) (start string, there bool) { return "", true }
