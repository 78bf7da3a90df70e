package docker

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/locbench/locbench/internal/text/safe"
)

// Apart reports whether a rootless engine on this machine has another network namespace than this
// process: then neither side reaches the other's addresses. enter is the prefix of a command that
// runs in that namespace.
//
// RootlessKit writes the number of the namespace's process next to the socket; without it ok is
// false.
func (e *Engine) Apart() (enter string, ok bool) {
	socket, here := strings.CutPrefix(e.host, "unix://")
	if !e.info.Rootless || !here {
		return "", false
	}
	return apart(filepath.Dir(socket), "/proc")
}

func apart(dir, proc string) (enter string, ok bool) {
	file := filepath.Join(dir, "dockerd-rootless", "child_pid")
	data, err := safe.ReadFile(file, 64)
	pid, err2 := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil || err2 != nil {
		return "", false
	}
	theirs, err := os.Readlink(filepath.Join(proc, strconv.Itoa(pid), "ns", "net"))
	ours, err2 := os.Readlink(filepath.Join(proc, "self", "ns", "net"))
	if err != nil || err2 != nil || theirs == ours {
		return "", false
	}
	return "nsenter --user --net --preserve-credentials --target $(cat " + file + ")", true
}
