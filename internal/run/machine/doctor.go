package machine

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/contender/launch"
	"github.com/locbench/locbench/internal/docker"
	"github.com/locbench/locbench/internal/host/cgroup"
	"github.com/locbench/locbench/internal/needs/kinds"
	"github.com/locbench/locbench/internal/text/safe"
)

// Status is the result of a check of the machine.
type Status string

// The statuses.
const (
	OK      Status = "ok"
	Warn    Status = "warn"    // runs are possible, with less reliable results
	Missing Status = "missing" // runs that need it are not possible
)

// Warning is one line of a diagnosis.
type Warning struct {
	Name   string `json:"name"`
	Status Status `json:"status"`
	Value  string `json:"value"`         // the value found; safe to print
	Fix    string `json:"fix,omitempty"` // the next step, a command if there is one
}

// goTimeout is the time limit of the command go env.
const goTimeout = 5 * time.Second

// Doctor checks everything that a run may need, such as a need that runs at a URL ("": none). It
// starts and changes nothing; to see whether it is allowed to, it makes a cgroup and removes it
// again.
func Doctor(ctx context.Context, url string) []Warning {
	return diagnose(ctx, url, cgroup.Tree{}, launch.ProbeGroups)
}

// diagnose is Doctor with probe, which returns the limits that this user cannot set.
func diagnose(
	ctx context.Context, url string, groups cgroup.Tree, probe func() (missing []string, noSet, err error),
) []Warning {
	m := Describe(ctx)
	all, others := doctorDocker(ctx)
	m.OtherContainers = others
	all = append(all, doctorCgroup(m, probe)...)
	all = append(all, doctorCPUs(m), doctorMemory(m, Available()), doctorLoad(m), doctorGovernor(m))
	all = append(all, doctorState(m)...)
	all = append(all, doctorFiles(openFiles()), doctorPorts(files{}.ports()))
	return append(all, doctorNeed(ctx, url), doctorGo(ctx, groups))
}

// check returns a line with the status OK or, if bad, Warn and a fix.
func check(name, value string, bad bool, fix string) Warning {
	if bad {
		return Warning{name, Warn, value, fix}
	}
	return Warning{Name: name, Status: OK, Value: value}
}

func doctorDocker(ctx context.Context) (all []Warning, others string) {
	e, err := docker.Connect(ctx)
	if err != nil {
		text, fix := err.Error(), "set DOCKER_HOST to an engine that responds"
		if e, ok := errors.AsType[*docker.ConnectError](err); ok {
			text, fix = e.Problem(), e.Fix
		}
		return []Warning{{"Docker", Missing, safe.Line(text, 300), fix + ". Without it contenders run as processes"}}, ""
	}
	defer e.Close()
	i := e.Info()
	names, _ := e.Running(ctx, "") // an engine that does not respond any more is reported elsewhere
	seen := fmt.Sprintf("%s, API %s, cgroup v%d, %s, at %s",
		i.Product(), i.APIVersion, i.CgroupVersion, units.Plural(i.CPUs, "CPU"), e.Host())
	all = []Warning{check("Docker", safe.Line(seen, 300), false, "")}
	if enter, apart := e.Apart(); apart {
		all = append(all, Warning{"Docker network", Warn,
			"this rootless engine has its own network: contenders cannot reach a need on this machine",
			enter + " locbench …"})
	}
	if i.Podman {
		all = append(all, check("Docker network", "Podman cannot separate containers of one network: contenders reach each other", false, ""))
	}
	return append(all, dockerLimits(i)), Names(names)
}

func dockerLimits(i docker.Info) Warning {
	const name = "Docker limits"
	names := []string{"CPU quota", "CPU set", "memory", "processes"}
	var lacks []string
	for n, has := range []bool{i.CPUQuota, i.CPUSet, i.MemoryLimit, i.PIDsLimit} {
		if !has {
			lacks = append(lacks, names[n])
		}
	}
	switch {
	case len(lacks) > 0 && i.Rootless:
		return Warning{name, Warn, "not enforced (rootless engine): " + strings.Join(lacks, ", "),
			"delegate controllers: add Delegate=cpu cpuset io memory pids in a drop-in for user@.service"}
	case len(lacks) > 0:
		return Warning{name, Warn, "not enforced: " + strings.Join(lacks, ", "),
			"use an engine whose kernel has these controllers (see docker info)"}
	case !i.SwapLimit:
		return Warning{name, Warn, "CPU, memory, processes; no swap accounting: containers may swap beyond their limit",
			"sudo swapoff -a, or boot with cgroup_enable=memory swapaccount=1"}
	}
	return check(name, "CPU, memory without swap, processes", false, "")
}

func doctorCgroup(m bench.Machine, probe func() (missing []string, noSet, err error)) []Warning {
	if m.OS != "linux" {
		return []Warning{{"cgroup", Warn, "none on " + m.OS + ": no limits or counters for processes",
			"use Docker"}}
	}
	if m.CgroupVersion == 0 {
		return []Warning{{"cgroup", Warn, "no CPU or memory controller mounted",
			"mount cgroup v2 (mount -t cgroup2 none /sys/fs/cgroup), or use Docker"}}
	}
	fix := "run as root, or use Docker"
	if m.CgroupVersion == 2 {
		fix = "run as root, in a delegated unit (systemd-run --user --scope -p Delegate=yes locbench …), or use Docker"
	}
	missing, noSet, err := probe()
	may := "enforced: CPU quota, CPU set, memory, processes"
	if noSet != nil {
		may = "enforced: CPU quota, memory, processes; CPU set by affinity"
	}
	switch {
	case err != nil:
		may = "not enforced: " + safe.Line(err.Error(), 200)
	case len(missing) > 0:
		may = "not enforced: " + safe.Line(strings.Join(missing, "; "), 300)
	}
	return []Warning{
		check("cgroup", "v"+strconv.Itoa(m.CgroupVersion), false, ""),
		check("process limits", may, err != nil || len(missing) > 0, fix),
	}
}

func doctorCPUs(m bench.Machine) Warning {
	return check("CPUs", fmt.Sprintf("%d (%s)", m.CPUs, cmp.Or(m.CPUModel, m.Arch)), m.CPUs < 4,
		"use 4 CPUs or more, or limit the contender to 1 CPU with embedded needs: contender, needs and client "+
			"share these")
}

func doctorMemory(m bench.Machine, available int64) Warning {
	if m.MemoryBytes == 0 {
		return Warning{Name: "memory", Status: Warn, Value: "unknown"}
	}
	value := fmt.Sprintf("%.1f GiB", gibibytes(m.MemoryBytes))
	if available > 0 {
		value += fmt.Sprintf(", %.1f GiB available", gibibytes(available))
	}
	return check("memory", value, min(cmp.Or(available, m.MemoryBytes), m.MemoryBytes) < 2<<30,
		"free 2 GiB: 512 MiB for the contender, the rest for needs and client")
}

func doctorLoad(m bench.Machine) Warning {
	load, known := load(m)
	if !known {
		return check("load", "unknown", false, "")
	}
	return check("load", m.Load1+" (1 min)", load > busyShare*float64(m.CPUs),
		"stop other processes (see top): they distort results")
}

func doctorGovernor(m bench.Machine) Warning {
	const name = "CPU governor"
	if m.Governor == "" || m.Governor == "performance" {
		return check(name, cmp.Or(m.Governor, invisible), false, "")
	}
	return Warning{name, Warn, m.Governor + ": CPU clock varies with load", "sudo cpupower frequency-set -g performance"}
}

func doctorFiles(hard int, known bool) Warning {
	const need = 8192 // 2048 connections of the client; as a process, the contender has those and 2048 to a need
	if !known {
		return check("open files", "limit unknown on "+runtime.GOOS, false, "")
	}
	value := fmt.Sprintf("up to %d", hard)
	if hard < need {
		value = fmt.Sprintf("at most %d", hard)
	}
	return check("open files", value, hard < need,
		"sudo sh -c 'ulimit -n 65536; exec su $SUDO_USER', or nofile in /etc/security/limits.conf")
}

func doctorPorts(first, last int) Warning {
	if first == 0 {
		return check("local ports", "range unknown on "+runtime.GOOS, false, "")
	}
	n := last - first + 1
	return check("local ports", fmt.Sprintf("%d (%d to %d)", n, first, last), n < 10_000,
		`sudo sysctl -w net.ipv4.ip_local_port_range="15000 65000"`)
}

func doctorNeed(ctx context.Context, url string) Warning {
	k := kinds.ByURL
	if url == "" {
		return Warning{k.Title, OK, k.Absent, k.Instead}
	}
	version, err := k.Probe(ctx, url)
	if err != nil {
		return Warning{k.Title, Missing, safe.Line(err.Error(), 500), "start it or correct the URL"}
	}
	return check(k.Title, "version "+version, false, "")
}

func doctorGo(ctx context.Context, groups cgroup.Tree) Warning {
	const fix = "https://go.dev/dl (only to build Go contenders as processes)"
	path, err := exec.LookPath("go")
	if err != nil {
		return Warning{"Go toolchain", Warn, "not found", fix}
	}
	ctx, cancel := context.WithTimeout(ctx, goTimeout)
	defer cancel()
	var out bytes.Buffer
	cmd := exec.Command(path, "env", "GOVERSION")
	cmd.Env = append(cmd.Environ(), "GOTOOLCHAIN=local") // else it might download a toolchain
	cmd.Stdout, cmd.WaitDelay = &out, time.Second
	err = launch.Helper{Groups: groups}.Do(ctx, cmd)
	if err != nil {
		return Warning{"Go toolchain", Warn, "unknown version: " + safe.Line(err.Error(), 200), fix}
	}
	return check("Go toolchain", safe.Line(strings.TrimSpace(out.String()), 50), false, "")
}
