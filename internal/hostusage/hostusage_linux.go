package hostusage

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"locbench/internal/bench"
	"locbench/internal/procfs"
)

// tick is the unit of /proc: USER_HZ is 100 on every architecture that Go runs on.
const tick = time.Second / 100

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
	u.Pressure, u.Throttles = pressure("/proc/pressure"), throttles("/sys/devices/system/cpu")
	return &u
}

// throttles is how often CPUs were slowed down for their heat, cores and packages added up; nil
// where nobody counts.
func throttles(dir string) *int64 {
	paths, _ := filepath.Glob(filepath.Join(dir, "cpu[0-9]*/thermal_throttle/*_throttle_count"))
	var sum int64
	known := false
	for _, p := range paths {
		data, err := os.ReadFile(p)
		if n, e := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64); err == nil && e == nil && n >= 0 && n < 1<<50 {
			sum, known = sum+n, true
		}
	}
	if !known {
		return nil
	}
	return &sum
}

// pressure reads the machine's; nil where the kernel was started without counting it.
func pressure(dir string) *bench.Pressure {
	stall := func(name string) *bench.Stall {
		data, err := os.ReadFile(filepath.Join(dir, name)) // the kernel's, three lines at most
		if err != nil {
			return nil
		}
		return procfs.Stall(data)
	}
	p := bench.Pressure{Source: "/proc/pressure", CPU: stall("cpu"), Memory: stall("memory"), IO: stall("io")}
	if p.CPU == nil && p.Memory == nil && p.IO == nil {
		return nil
	}
	return &p
}

// parseHost reads "cpu user nice system idle iowait irq softirq steal guest guest_nice"; guests are
// in user and nice already.
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
		Busy: time.Duration(n[0]+n[1]+n[2]+n[5]+n[6]) * tick, Idle: time.Duration(n[3]+n[4]) * tick,
		IOWait: time.Duration(n[4]) * tick, Steal: time.Duration(n[7]) * tick,
	}, nil
}

// processCPU is the CPU time of a process and of its children that have ended.
func processCPU(pid int) (time.Duration, error) {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0, err
	}
	end := bytes.LastIndexByte(data, ')') // the name before it may hold anything
	f := strings.Fields(string(data[end+1:]))
	if end < 0 || len(f) < 16 {
		return 0, fmt.Errorf("stat of process %d cannot be read", pid)
	}
	sum := int64(0)
	for _, i := range []int{11, 12, 13, 14} { // fields 14 to 17
		n, err := strconv.ParseInt(f[i], 10, 64)
		if err != nil || n < 0 || n > 1<<52 {
			return 0, fmt.Errorf("stat of process %d: %.20q", pid, f[i])
		}
		sum += n
	}
	return time.Duration(sum) * tick, nil
}

// listener finds the process that listens on a port on the loopback interface or on all; false
// where it belongs to somebody else.
func listener(port string) (pid int, ok bool) {
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return 0, false
	}
	inodes := map[string]bool{}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		f, err := os.Open(table)
		if err != nil {
			continue
		}
		for lines := bufio.NewScanner(f); lines.Scan(); {
			if inode, ok := listens(lines.Text(), uint16(n)); ok {
				inodes["socket:["+inode+"]"] = true
			}
		}
		f.Close()
	}
	if len(inodes) == 0 {
		return 0, false
	}
	links, _ := filepath.Glob("/proc/[0-9]*/fd/*") // what is not ours is not listed
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil && inodes[to] {
			name := strings.Split(link, "/")[2]
			if comm, err := os.ReadFile("/proc/" + name + "/comm"); err != nil || strings.TrimSpace(string(comm)) == "docker-proxy" {
				return 0, false // it only passes on what a container answers
			}
			if pid, err := strconv.Atoi(name); err == nil {
				return pid, true
			}
		}
	}
	return 0, false
}

// listens reads a line of /proc/net/tcp: "sl local_address rem_address st … uid timeout inode",
// with 0A for a socket that listens.
func listens(line string, port uint16) (inode string, ok bool) {
	f := strings.Fields(line)
	if len(f) < 10 || f[3] != "0A" {
		return "", false
	}
	address, p, ok := strings.Cut(f[1], ":")
	if n, err := strconv.ParseUint(p, 16, 16); !ok || err != nil || uint16(n) != port {
		return "", false
	}
	raw, err := hex.DecodeString(address)
	if err != nil || !loopback(raw) {
		return "", false
	}
	return f[9], true
}

// loopback tells whether an address of /proc/net, whose 32-bit words are in the order of the
// machine, is one of the loopback interface, or all.
func loopback(raw []byte) bool {
	zero := len(bytes.Trim(raw, "\x00")) == 0
	switch len(raw) {
	case 4:
		return zero || raw[3] == 127 || raw[0] == 127
	case 16:
		word := raw[8:12]
		mapped := len(bytes.Trim(raw[:8], "\x00")) == 0 &&
			(bytes.Equal(word, []byte{0, 0, 0xff, 0xff}) || bytes.Equal(word, []byte{0xff, 0xff, 0, 0})) && (raw[15] == 127 || raw[12] == 127)
		one := len(bytes.Trim(raw[:12], "\x00")) == 0 && (raw[12] == 1 || raw[15] == 1)
		return zero || mapped || one
	}
	return false
}
