// Package machine describes this machine for the record of a run, and checks what it can do for
// "locbench doctor". Only RaiseOpenFiles changes anything: this process's limit of open files.
package machine

import (
	"bufio"
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/host/cgroup"
	"github.com/locbench/locbench/internal/text/safe"
)

// files reads the kernel's files below root, which tests replace by recorded ones.
type files struct{ root string }

// Describe returns what results depend on in this machine. What cannot be read stays empty.
func Describe(context.Context) bench.Machine {
	m := bench.Machine{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU()}
	if runtime.GOOS == "linux" {
		files{}.describe(&m)
	} else {
		system(&m)
	}
	return m
}

func (f files) describe(m *bench.Machine) {
	tree := cgroup.Tree{Root: f.root}
	m.Kernel = f.line("proc/sys/kernel/osrelease")
	m.CPUModel = cpuModel(f.read("proc/cpuinfo"))
	m.MemoryBytes = meminfo(f.read("proc/meminfo"), "MemTotal:")
	f.state(m)
	m.CgroupVersion = tree.Version()
	m.Load1, _, _ = strings.Cut(f.line("proc/loadavg"), " ")
	// CPUs and memory that this process may use: a container or unit with limits has fewer than the
	// machine. NumCPU already respects affinity.
	cpus, memory := tree.Own()
	if cpus > 0 {
		m.CPUs = max(1, min(m.CPUs, int(math.Ceil(cpus))))
	}
	if memory > 0 && (memory < m.MemoryBytes || m.MemoryBytes == 0) {
		m.MemoryBytes = memory
	}
}

func (f files) read(path string) []byte {
	data, _ := os.ReadFile(filepath.Join(f.root+"/", path))
	return data
}

func (f files) line(path string) string {
	line, _, _ := bytes.Cut(f.read(path), []byte("\n"))
	return safe.Line(strings.TrimSpace(string(line)), 200)
}

// cpuModel returns the name of the first CPU; on ARM without one, implementer and part numbers.
func cpuModel(cpuinfo []byte) string {
	values := map[string]string{}
	s := bufio.NewScanner(bytes.NewReader(cpuinfo))
	for s.Scan() {
		k, v, ok := strings.Cut(s.Text(), ":")
		if k = strings.TrimSpace(k); ok && values[k] == "" {
			values[k] = safe.Line(strings.Join(strings.Fields(v), " "), 200)
		}
	}
	for _, k := range []string{"model name", "Model", "cpu model", "cpu"} {
		if values[k] != "" {
			return values[k]
		}
	}
	if values["CPU implementer"] != "" {
		return "implementer " + values["CPU implementer"] + " part " + values["CPU part"]
	}
	return ""
}

// meminfo reads a line such as "MemTotal:   24687452 kB" and returns bytes.
func meminfo(data []byte, key string) int64 {
	for line := range bytes.Lines(data) {
		if f := strings.Fields(string(line)); len(f) > 1 && f[0] == key {
			if n, err := strconv.ParseInt(f[1], 10, 64); err == nil && n >= 0 && n < 1<<50 {
				return n << 10
			}
		}
	}
	return 0
}

// Available returns the memory that processes could get without swapping, in bytes; 0 if unknown.
func Available() int64 { return meminfo(files{}.read("proc/meminfo"), "MemAvailable:") }

// ports returns the range of local ports for outgoing connections; 0, 0 if unknown.
func (f files) ports() (first, last int) {
	p := strings.Fields(f.line("proc/sys/net/ipv4/ip_local_port_range"))
	if len(p) != 2 {
		return 0, 0
	}
	first, err1 := strconv.Atoi(p[0])
	last, err2 := strconv.Atoi(p[1])
	if err1 != nil || err2 != nil || first <= 0 || last < first || last > 65535 {
		return 0, 0
	}
	return first, last
}
