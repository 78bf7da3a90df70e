//go:build !linux

package docker

func killMarked(string, string) bool { return false }

func kernelKilled(string) (killed, readable bool) { return false, false }
