// Package machine describes this machine for the record of a run, and checks what it can do for
// "locbench doctor". Only RaiseOpenFiles changes anything: this process's limit of open files.
package machine

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/host/cgroup"
	"github.com/locbench/locbench/internal/host/hostusage"
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

// state reads what may change between runs and what administrators or vendors configure.
func (f files) state(m *bench.Machine) {
	m.Governor = f.governors()
	m.Turbo = f.turbo()
	m.SMT = f.onOff("sys/devices/system/cpu/smt/active", "1", "0")
	m.Virtual = f.virtual()
	if swaps := f.read("proc/swaps"); len(swaps) > 0 {
		used := swapUsed(swaps)
		m.SwapUsed = &used
	}
	m.Throttles = hostusage.Throttles(filepath.Join(f.root+"/", "sys/devices/system/cpu"))
}

// maxShown bounds lists of names in one line.
const maxShown = 5

// governors lists each governor once; usually all CPUs have the same one.
func (f files) governors() string {
	paths, _ := filepath.Glob(filepath.Join(f.root+"/", "sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor"))
	var all []string
	for _, p := range paths {
		if g := f.line(strings.TrimPrefix(p, f.root)); g != "" && !slices.Contains(all, g) && len(all) < maxShown {
			all = append(all, g)
		}
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// turbo returns "on" if CPUs may run above their base clock, "off" if not, and "" if unknown.
func (f files) turbo() string {
	return cmp.Or(f.onOff("sys/devices/system/cpu/intel_pstate/no_turbo", "0", "1"),
		f.onOff("sys/devices/system/cpu/cpufreq/boost", "1", "0"))
}

// onOff reads a switch; it returns "" if the file has neither value.
func (f files) onOff(path, on, off string) string {
	return map[string]string{on: "on", off: "off"}[f.line(path)]
}

// virtual returns the name of the hypervisor; "" on bare metal or if unknown.
func (f files) virtual() string {
	hypervisor := false
	for line := range bytes.Lines(f.read("proc/cpuinfo")) {
		if name, flags, _ := strings.Cut(string(line), ":"); strings.TrimSpace(name) == "flags" {
			hypervisor = slices.Contains(strings.Fields(flags), "hypervisor")
			break
		}
	}
	kind := f.line("sys/hypervisor/type")
	if !hypervisor && kind == "" {
		return ""
	}
	vendor := strings.TrimSpace(f.line("sys/class/dmi/id/sys_vendor") + " " + f.line("sys/class/dmi/id/product_name"))
	return safe.Line(cmp.Or(strings.TrimSpace(kind+" "+vendor), "hypervisor"), 100)
}

// swapUsed adds up the fourth column of /proc/swaps, in KiB; the first line is a heading.
func swapUsed(swaps []byte) (used int64) {
	for line := range bytes.Lines(swaps) {
		cells := strings.Fields(string(line))
		if len(cells) < 5 {
			continue
		}
		if n, err := strconv.ParseInt(cells[3], 10, 64); err == nil && n > 0 && n < 1<<50 {
			used += n << 10
		}
	}
	return used
}

// Names returns a line with the number of names and at most five of them; "" without names. The
// names may come from outside: they are made safe to print.
func Names(names []string) string {
	if len(names) == 0 {
		return ""
	}
	var shown []string
	for _, n := range names[:min(len(names), maxShown)] {
		shown = append(shown, safe.Line(n, 60))
	}
	if more := len(names) - len(shown); more > 0 {
		shown = append(shown, fmt.Sprintf("%d more", more))
	}
	return fmt.Sprintf("%d: %s", len(names), strings.Join(shown, ", "))
}

const (
	busyShare = 0.25     // share of the CPUs: a higher load (1 min) is a warning
	muchSwap  = 64 << 20 // bytes
)

// LoadWarnings returns a phrase for each state of the machine that distorts the results of a run.
func LoadWarnings(m bench.Machine) (phrases []string) {
	add := func(found bool, format string, args ...any) {
		if found {
			phrases = append(phrases, fmt.Sprintf(format, args...))
		}
	}
	load, known := load(m)
	add(known && load > busyShare*float64(m.CPUs), "load %s on %s before the run", m.Load1, units.Plural(m.CPUs, "CPU"))
	add(m.Governor != "" && m.Governor != "performance", "CPU governor %s", m.Governor)
	if swap := m.SwapUsed; swap != nil {
		add(*swap > muchSwap, "%.1f GiB of swap in use", gibibytes(*swap))
	}
	add(m.OtherContainers != "", "other containers (%s)", m.OtherContainers)
	return phrases
}

func load(m bench.Machine) (float64, bool) {
	load, err := strconv.ParseFloat(m.Load1, 64)
	return load, err == nil && !math.IsNaN(load) && !math.IsInf(load, 0)
}

func gibibytes(n int64) float64 { return float64(n) / (1 << 30) }

const invisible = "not visible (usual in a VM)"

// doctorState returns checks of what distorts results without preventing a run.
func doctorState(m bench.Machine) []Warning {
	turbo := check("turbo", cmp.Or(m.Turbo, invisible), false, "")
	if m.Turbo == "on" {
		turbo = Warning{"turbo", Warn, "on: clock varies with load and heat",
			"turn off for repeatable results: echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo, " +
				"or echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost"}
	}
	smt := check("SMT", cmp.Or(m.SMT, "unknown"), false, "")
	if m.SMT == "on" {
		smt = Warning{"SMT", Warn, "on: two CPUs share one core",
			"echo off | sudo tee /sys/devices/system/cpu/smt/control"}
	}
	virtual := check("virtualisation", cmp.Or(m.Virtual, "none detected"), false, "")
	if m.Virtual != "" {
		virtual.Fix = "no action; steal time is reported per step"
	}
	swap := check("swap", "unknown", false, "")
	if used := m.SwapUsed; used != nil {
		swap = check("swap", fmt.Sprintf("%.1f GiB in use", gibibytes(*used)), *used > muchSwap,
			"sudo swapoff -a, once memory is free")
	}
	heat := check("thermal throttling", "not counted (usual in a VM)", false, "")
	if n := m.Throttles; n != nil {
		heat = check(heat.Name, fmt.Sprintf("%d times since boot", *n), *n > 0,
			"improve cooling or turn turbo off; runs report affected steps")
	}
	return []Warning{turbo, smt, virtual, swap, heat,
		check("other containers", cmp.Or(m.OtherContainers, "none"), m.OtherContainers != "",
			"stop them with docker stop: they compete for CPU and memory")}
}
