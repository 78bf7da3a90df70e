package docker

import (
	"bytes"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/locbench/locbench/internal/text/safe"
)

// maxProc is the most of a file of a process that is read, in bytes.
const maxProc = 4 << 20

// killMarked kills the processes of the container with this ID whose environment has a variable,
// and reports whether it has killed one and failed at none.
func killMarked(id, variable string) bool {
	found, failed := killOnce(id, variable)
	if found {
		_, again := killOnce(id, variable) // what its parent has started after the end of a child
		failed = failed || again
	}
	return found && !failed
}

func killOnce(id, variable string) (found, failed bool) {
	all, err := os.ReadDir("/proc")
	if err != nil || len(id) < 12 {
		return false, true
	}
	for _, entry := range all {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		dir := "/proc/" + entry.Name()
		groups, err := safe.ReadFile(dir+"/cgroup", maxProc)
		if err != nil || !bytes.Contains(groups, []byte(id)) {
			continue
		}
		env, err := safe.ReadFile(dir+"/environ", maxProc)
		failed = failed || errors.Is(err, os.ErrPermission)
		if err == nil && bytes.Contains(append([]byte{0}, env...), append([]byte{0}, variable...)) {
			err = syscall.Kill(pid, syscall.SIGKILL)
			found, failed = found || err == nil, failed || errors.Is(err, syscall.EPERM)
		}
	}
	return found, failed
}

// kernelKilled reports whether this machine's kernel log has a process of the container with this
// ID that was killed for lack of memory, and whether the log is readable (usually only for root).
// The kernel logs before it kills. The engine may miss the kill: containerd learns of it from the
// container's cgroup, which on a busy machine can be gone before it looks.
func kernelKilled(id string) (killed, readable bool) {
	fd, err := syscall.Open("/dev/kmsg", syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return false, false
	}
	defer syscall.Close(fd)
	return findKill(id, func(record []byte) (int, error) { return syscall.Read(fd, record) })
}

// findKill does the work of kernelKilled. read reads one record.
func findKill(id string, read func(record []byte) (int, error)) (killed, readable bool) {
	record := make([]byte, 8<<10) // the kernel's own limit
	for range 1 << 17 {           // bounded, since the kernel may keep writing
		n, err := read(record)
		if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.EINTR) {
			continue // overwritten or interrupted: read the next one
		}
		if errors.Is(err, syscall.EAGAIN) {
			return false, true // that was the last one
		}
		if err != nil || n <= 0 {
			return false, false
		}
		if isKill(record[:n], id) {
			return true, true
		}
	}
	return false, true
}

// isKill reports whether a record of the kernel's log is about an out-of-memory kill in the
// container with this ID. A record is "PRIORITY,…;TEXT"; the kernel's own have a priority below 8,
// those of programs a higher one.
func isKill(record []byte, id string) bool {
	head, text, _ := bytes.Cut(record, []byte(";"))
	number, _, _ := bytes.Cut(head, []byte(","))
	priority, err := strconv.Atoi(string(number))
	kill := err == nil && priority < 8 && bytes.HasPrefix(text, []byte("oom-kill:"))
	return kill && len(id) >= 12 && bytes.Contains(text, []byte(id))
}

// DaemonPID returns the engine's process on this machine; 0 if it is not known. Where the system's
// first process made the socket, the engine is the only one of the name dockerd that it has started.
func (e *Engine) DaemonPID() int {
	if pid := e.listener(); pid != 1 {
		return pid
	}
	return childOfFirst("/proc", "dockerd")
}

// listener returns the process on this machine that listens at the engine's socket; 0 if it is not known.
func (e *Engine) listener() (pid int) {
	socket, here := strings.CutPrefix(e.host, "unix://")
	if !here {
		return 0
	}
	conn, err := net.DialTimeout("unix", socket, pingTimeout)
	if err != nil {
		return 0
	}
	defer conn.Close()
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) { // without it, pid stays 0
		if peer, err := syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED); err == nil {
			pid = int(peer.Pid)
		}
	})
	return pid
}

// otherNetwork reports whether the process that listens at the engine's socket is known to be in another
// network namespace. Of a process of another user it is not known.
func (e *Engine) otherNetwork() bool {
	theirs, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(e.listener()), "ns", "net"))
	ours, err2 := os.Readlink("/proc/self/ns/net")
	return err == nil && err2 == nil && theirs != ours
}

// childOfFirst returns the only child of process 1 with a name; 0 if there is none, or several.
func childOfFirst(proc, name string) (found int) {
	all, _ := os.ReadDir(proc)
	for _, entry := range all {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		stat, _ := safe.ReadFile(filepath.Join(proc, entry.Name(), "stat"), maxProc)
		if _, after, ok := bytes.Cut(stat, []byte("("+name+") ")); ok && len(bytes.Fields(after)) > 1 && string(bytes.Fields(after)[1]) == "1" {
			if found != 0 {
				return 0
			}
			found = pid
		}
	}
	return found
}
