package hostusage

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/host/cgroup"
)

// host reads the first line of /proc/stat.
func host() *bench.HostUsage {
	f, err := os.Open("/proc/stat")
	if err != nil {
		return nil
	}
	defer f.Close()
	line, err := bufio.NewReaderSize(f, 4096).ReadSlice('\n')
	if err != nil {
		return nil
	}
	u, err := parseHost(string(line))
	if err != nil {
		return nil
	}
	u.At = time.Now()
	u.Pressure, u.Throttles = pressure("/proc/pressure"), Throttles("/sys/devices/system/cpu")
	return &u
}

// pressure reads the pressure of the machine; nil if the kernel was started without it.
func pressure(dir string) *bench.Pressure {
	stall := func(name string) *bench.Stall {
		data, err := os.ReadFile(filepath.Join(dir, name)) // a kernel file of at most three lines
		if err != nil {
			return nil
		}
		return cgroup.Stall(data)
	}
	p := bench.Pressure{Source: "/proc/pressure", CPU: stall("cpu"), Memory: stall("memory"), IO: stall("io")}
	if p.CPU == nil && p.Memory == nil && p.IO == nil {
		return nil
	}
	return &p
}

// parseHost reads "cpu user nice system idle iowait irq softirq steal guest guest_nice". user and
// nice already include guests.
func parseHost(line string) (u bench.HostUsage, err error) {
	f := strings.Fields(line)
	if len(f) < 9 || f[0] != "cpu" {
		return u, fmt.Errorf("stat of the machine: %.60q", line)
	}
	var n [8]int64
	for i := range n {
		if n[i], err = strconv.ParseInt(f[i+1], 10, 64); err != nil || n[i] < 0 || n[i] > 1<<52 {
			return u, fmt.Errorf("stat of the machine: %.60q", line)
		}
	}
	return bench.HostUsage{
		Busy: time.Duration(n[0]+n[1]+n[2]+n[5]+n[6]) * cgroup.Tick, Idle: time.Duration(n[3]+n[4]) * cgroup.Tick,
		IOWait: time.Duration(n[4]) * cgroup.Tick, Steal: time.Duration(n[7]) * cgroup.Tick,
	}, nil
}

// processCPU returns the CPU time of a process and of its children that have ended.
func processCPU(pid int) (time.Duration, error) {
	s, err := cgroup.ReadStat(pid)
	user, system := s.CPU()
	return user + system, err
}

// listener returns the process that listens on a port of the loopback interface or of all. ok is
// false if it belongs to another user.
func listener(port string) (pid int, ok bool) {
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return 0, false
	}
	sockets := map[string]bool{}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		data, _ := os.ReadFile(table) // the machine may lack IPv6
		for _, l := range Listeners(data) {
			if l.here(uint16(n)) {
				sockets["socket:["+l.Inode+"]"] = true
			}
		}
	}
	if len(sockets) == 0 {
		return 0, false
	}
	links, _ := filepath.Glob("/proc/[0-9]*/fd/*") // files of other users are not listed
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil && sockets[to] {
			name := strings.Split(link, "/")[2]
			comm, err := os.ReadFile("/proc/" + name + "/comm")
			if err != nil || strings.TrimSpace(string(comm)) == "docker-proxy" {
				return 0, false // a proxy of Docker, not the store itself
			}
			if pid, err := strconv.Atoi(name); err == nil {
				return pid, true
			}
		}
	}
	return 0, false
}
