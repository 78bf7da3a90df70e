//go:build !linux

package docker

func killMarked(string, string) bool { return false }

func kernelKilled(string) (killed, readable bool) { return false, false }

// DaemonPID returns the engine's process on this machine; 0 if it is not known.
func (e *Engine) DaemonPID() int { return 0 }

func (e *Engine) otherNetwork() bool { return false }
