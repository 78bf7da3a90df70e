package machine

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"locbench/internal/bench"
	"locbench/internal/safe"
)

// state reads what may change from one run to the next, and what a machine's makers and keepers
// have chosen.
func (f files) state(m *bench.Machine) {
	m.Governor = f.governors()
	m.Turbo = f.turbo()
	switch f.line("sys/devices/system/cpu/smt/active") {
	case "1":
		m.SMT = "on"
	case "0":
		m.SMT = "off"
	}
	m.Virtual = f.virtual()
	if swaps := f.read("proc/swaps"); len(swaps) > 0 {
		used := swapUsed(swaps)
		m.SwapUsed = &used
	}
	m.Throttles = f.throttles()
}

// maxShown bounds lists of names in one line.
const maxShown = 5

// governors lists each governor once: usually all CPUs have the same.
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

// turbo is "on" where CPUs may run above their base clock, "off" where not, "" where the kernel
// does not tell.
func (f files) turbo() string {
	for _, switches := range []struct{ path, on, off string }{
		{"sys/devices/system/cpu/intel_pstate/no_turbo", "0", "1"},
		{"sys/devices/system/cpu/cpufreq/boost", "1", "0"},
	} {
		switch f.line(switches.path) {
		case switches.on:
			return "on"
		case switches.off:
			return "off"
		}
	}
	return ""
}

// virtual names what runs this machine, where its CPUs say that something does; "" on bare metal or
// where it is not known.
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

// throttles is how often CPUs were slowed down for their heat since the machine was started, cores
// and packages added up; nil where the kernel does not count it, as in most virtual machines.
func (f files) throttles() *int64 {
	paths, _ := filepath.Glob(filepath.Join(f.root+"/", "sys/devices/system/cpu/cpu[0-9]*/thermal_throttle/*_throttle_count"))
	var sum int64
	known := false
	for _, p := range paths {
		if n, err := strconv.ParseInt(f.line(strings.TrimPrefix(p, f.root)), 10, 64); err == nil && n >= 0 && n < 1<<50 {
			sum += n
			known = true
		}
	}
	if !known {
		return nil
	}
	return &sum
}

// Names writes a list of names from outside for one line: at most five, and how many there are in
// all. It is "" for none.
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
	busyShare = 0.25     // of the CPUs, as the load of the last minute
	muchSwap  = 64 << 20 // bytes
)

// Unrest says what on this machine moves the figures of a run that begins now, one phrase each.
func Unrest(m bench.Machine) (phrases []string) {
	add := func(is bool, format string, args ...any) {
		if is {
			phrases = append(phrases, fmt.Sprintf(format, args...))
		}
	}
	load, known := load(m)
	add(known && load > busyShare*float64(m.CPUs), "a load of %s before the run, on %d CPUs", m.Load1, m.CPUs)
	add(m.Governor != "" && m.Governor != "performance", "CPU governor %s", m.Governor)
	add(m.SwapUsed != nil && *m.SwapUsed > muchSwap, "%.1f GiB of swap in use", gibibytes(m.SwapUsed))
	add(m.OtherContainers != "", "other containers run (%s)", m.OtherContainers)
	return phrases
}

func load(m bench.Machine) (float64, bool) {
	load, err := strconv.ParseFloat(m.Load1, 64)
	return load, err == nil && !math.IsNaN(load) && !math.IsInf(load, 0)
}

func gibibytes(n *int64) float64 {
	if n == nil {
		return 0
	}
	return float64(*n) / (1 << 30)
}

// doctorState are the findings about what moves figures: nothing of it hinders a run.
func doctorState(m bench.Machine) []Finding {
	all := []Finding{{Name: "turbo", Status: OK, Value: cmp.Or(m.Turbo, "not to be seen here (usual in virtual machines)")}}
	if m.Turbo == "on" {
		all[0] = Finding{"turbo", Warn, "on: the clock follows load and heat",
			"for figures that can be repeated: echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo, or echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost"}
	}
	smt := Finding{Name: "SMT", Status: OK, Value: cmp.Or(m.SMT, "unknown")}
	if m.SMT == "on" {
		smt.Status, smt.Value = Warn, "on: two CPUs are one core, and slow each other down"
		smt.Fix = "echo off | sudo tee /sys/devices/system/cpu/smt/control"
	}
	virtual := Finding{Name: "virtualisation", Status: OK, Value: cmp.Or(m.Virtual, "none to be seen")}
	if m.Virtual != "" {
		virtual.Fix = "nothing to do: time that other machines take is reported with each step (steal)"
	}
	swap := Finding{Name: "swap", Status: OK, Value: "unknown"}
	if m.SwapUsed != nil {
		swap.Value = fmt.Sprintf("%.1f GiB in use", gibibytes(m.SwapUsed))
		if *m.SwapUsed > muchSwap {
			swap.Status, swap.Fix = Warn, "sudo swapoff -a, once there is memory for what is out there"
		}
	}
	heat := Finding{Name: "thermal throttling", Status: OK, Value: "not counted here (usual in virtual machines)"}
	if m.Throttles != nil {
		heat.Value = fmt.Sprintf("%d times since the machine was started", *m.Throttles)
		if *m.Throttles > 0 {
			heat.Status, heat.Fix = Warn, "better cooling, or turbo off; a run tells of the steps in which it happened"
		}
	}
	others := Finding{Name: "other containers", Status: OK, Value: "none runs"}
	if m.OtherContainers != "" {
		others = Finding{"other containers", Warn, m.OtherContainers, "docker stop them: they take CPU time and memory bandwidth from what is measured"}
	}
	return append(all, smt, virtual, swap, heat, others)
}
