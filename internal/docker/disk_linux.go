package docker

import "golang.org/x/sys/unix"

// freeAt returns the bytes that are free for every user on the disk of a path.
func freeAt(path string) (free int64, ok bool) {
	var s unix.Statfs_t
	if unix.Statfs(path, &s) != nil {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true //nolint:unconvert // 32 bits on some processors
}
