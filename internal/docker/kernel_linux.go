package docker

import (
	"errors"
	"syscall"
)

// kernelKilled says whether this machine's kernel log has the container with this ID among those
// that it took a process of for want of memory, and whether that log may be read: as a rule only by
// root. It writes there before it kills. The engine may lose that: containerd hears of it from the
// container's cgroup, which on a busy machine can be gone before it looks.
func kernelKilled(id string) (killed, readable bool) {
	fd, err := syscall.Open("/dev/kmsg", syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return false, false
	}
	defer syscall.Close(fd)
	record := make([]byte, 8<<10) // the kernel's own limit
	for range 1 << 17 {           // it may go on writing
		n, err := syscall.Read(fd, record)
		switch {
		case errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.EINTR): // overwritten meanwhile: the next one
		case errors.Is(err, syscall.EAGAIN): // that was the last one
			return false, true
		case err != nil || n <= 0:
			return false, false
		case isKill(record[:n], id):
			return true, true
		}
	}
	return false, true
}
