package docker

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/safe"
)

// delegated sets what a Podman on this machine can enforce: with cgroup v2 the limits of the kernel's controllers,
// without root of those that systemd delegates to this user; with v1 none without root. What Podman says lacks some of them.
func (info *Info) delegated(root string) {
	file := "sys/fs/cgroup/cgroup.controllers"
	if info.Rootless {
		file = fmt.Sprintf("sys/fs/cgroup/user.slice/user-%d.slice/user@%[1]d.service/cgroup.controllers", os.Getuid())
	}
	names, err := safe.ReadFile(filepath.Join(root, file), maxFile)
	if err != nil && (info.CgroupVersion != 1 || !info.Rootless) {
		return // v1, where it is right, or no systemd
	}
	has := func(controller string) bool { return slices.Contains(strings.Fields(string(names)), controller) }
	info.CPUQuota, info.CPUSet, info.PIDsLimit = has("cpu"), has("cpuset"), has("pids")
	info.MemoryLimit, info.SwapLimit = has("memory"), has("memory")
}

// seen sets which limits the kernel enforces for a container on this machine, by those it has. Podman
// and rootless engines do not know it of themselves.
func (info *Info) seen(l bench.Limits, swaps bool, asked bench.Limits) {
	info.CPUQuota = l.CPUs > 0 && l.CPUs <= asked.CPUs
	info.MemoryLimit, info.SwapLimit = l.Memory > 0 && l.Memory <= asked.Memory, !swaps
	info.PIDsLimit = l.PIDs > 0 && l.PIDs <= asked.PIDs
}

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
