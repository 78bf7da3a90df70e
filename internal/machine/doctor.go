package machine

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"locbench/internal/bench"
	"locbench/internal/cgroup"
	"locbench/internal/contact"
	"locbench/internal/docker"
	"locbench/internal/launch"
	"locbench/internal/safe"
)

// Status says how a part of the machine stands.
type Status string

// The statuses.
const (
	OK      Status = "ok"
	Warn    Status = "warn"    // runs are possible; what they mean is bounded
	Missing Status = "missing" // what needs it cannot run
)

// Finding is one line of a diagnosis.
type Finding struct {
	Name   string `json:"name"`
	Status Status `json:"status"`
	Value  string `json:"value"`         // what was seen; safe to print
	Fix    string `json:"fix,omitempty"` // what brings it: a command where there is one
}

// DoctorOptions say what to ask besides the machine itself.
type DoctorOptions struct {
	Elasticsearch string // URL; "": the embedded store will do
}

// askTimeout bounds each question to something outside this process.
const askTimeout = 5 * time.Second

// Doctor looks at everything that a run may need. It starts nothing and changes nothing, but for a
// cgroup that it makes and removes again, to see whether it may.
func Doctor(ctx context.Context, o DoctorOptions) []Finding {
	return diagnose(ctx, o, cgroup.Tree{}, launch.ProbeGroups)
}

// diagnose is Doctor with what tells which limits this user cannot set.
func diagnose(ctx context.Context, o DoctorOptions, groups cgroup.Tree, probe func() (missing []string, noSet, err error)) []Finding {
	m := Fingerprint(ctx)
	all, others := doctorDocker(ctx)
	m.OtherContainers = others
	all = append(all, doctorCgroup(m, probe)...)
	all = append(all, doctorCPUs(m), doctorMemory(m, Available()), doctorLoad(m), doctorGovernor(m))
	all = append(all, doctorState(m)...)
	all = append(all, doctorFiles(openFiles()), doctorPorts(files{}.ports()))
	return append(all, doctorElasticsearch(ctx, o.Elasticsearch), doctorGo(ctx, groups))
}

func doctorDocker(ctx context.Context) (all []Finding, others string) {
	e, err := docker.Connect(ctx)
	if err != nil {
		text, fix, _ := strings.Cut(err.Error(), "; ")
		return []Finding{{"Docker", Missing, safe.Line(text, 300), cmp.Or(fix, "set DOCKER_HOST to an engine that answers") +
			". Without it contenders run as processes"}}, ""
	}
	defer e.Close()
	i := e.Info()
	names, _ := e.Running(ctx, "") // an engine that answers no more is reported elsewhere
	all = []Finding{{Name: "Docker", Status: OK, Value: safe.Line(fmt.Sprintf("engine %s, API %s, cgroup v%d, %d CPUs, at %s",
		i.Version, i.APIVersion, i.CgroupVersion, i.CPUs, e.Host()), 300)}}
	if enter, apart := e.Apart(); apart {
		all = append(all, Finding{"Docker network", Warn, "this rootless engine has one of its own: contenders in it do not reach a store on this machine",
			enter + " locbench …"})
	}
	return append(all, dockerLimits(i)), Names(names)
}

func dockerLimits(i docker.Info) Finding {
	names := []string{"CPU quota", "CPU set", "memory", "processes"}
	var lacks []string
	for n, has := range []bool{i.CPUQuota, i.CPUSet, i.MemoryLimit, i.PIDsLimit} {
		if !has {
			lacks = append(lacks, names[n])
		}
	}
	switch {
	case len(lacks) > 0 && i.Rootless:
		return Finding{"Docker limits", Warn, "not enforced by this rootless engine: " + strings.Join(lacks, ", "),
			"delegate the controllers: a unit drop-in for user@.service with Delegate=cpu cpuset io memory pids"}
	case len(lacks) > 0:
		return Finding{"Docker limits", Warn, "not enforced: " + strings.Join(lacks, ", "), "an engine whose kernel has the controllers (docker info shows the warnings)"}
	case !i.SwapLimit:
		return Finding{"Docker limits", Warn, "CPU, memory, processes; but no swap accounting: a container may swap beyond its memory",
			"sudo swapoff -a, or boot with cgroup_enable=memory swapaccount=1"}
	}
	return Finding{Name: "Docker limits", Status: OK, Value: "CPU, memory without swap, processes"}
}

func doctorCgroup(m bench.Machine, probe func() (missing []string, noSet, err error)) []Finding {
	fix := "run as root, or use Docker"
	if m.CgroupVersion == 2 {
		fix = "run as root, in a delegated unit (systemd-run --user --scope -p Delegate=yes locbench …), or use Docker"
	}
	if m.OS != "linux" {
		return []Finding{{"cgroup", Warn, "none on " + m.OS + ": the process runtime has neither limits nor counters", "use Docker"}}
	}
	if m.CgroupVersion == 0 {
		return []Finding{{"cgroup", Warn, "no hierarchy with CPU or memory is mounted", "mount cgroup v2 (mount -t cgroup2 none /sys/fs/cgroup), or use Docker"}}
	}
	all := []Finding{{Name: "cgroup", Status: OK, Value: "v" + strconv.Itoa(m.CgroupVersion)}}
	missing, noSet, err := probe()
	may := "this user may set CPU quota, CPU set, memory and processes"
	if noSet != nil {
		may = "this user may set CPU quota, memory and processes; a CPU set is kept by affinity"
	}
	switch {
	case err != nil:
		return append(all, Finding{"process limits", Warn, "not enforced: " + safe.Line(err.Error(), 200), fix})
	case len(missing) > 0:
		return append(all, Finding{"process limits", Warn, "not enforced: " + safe.Line(strings.Join(missing, "; "), 300), fix})
	}
	return append(all, Finding{Name: "process limits", Status: OK, Value: may})
}

func doctorCPUs(m bench.Machine) Finding {
	f := Finding{Name: "CPUs", Status: OK, Value: fmt.Sprintf("%d (%s)", m.CPUs, cmp.Or(m.CPUModel, m.Arch))}
	if m.CPUs < 4 {
		f.Status = Warn
		f.Fix = "a machine with 4 CPUs or more: here contender, store and load generator take them from each other, unless the contender is limited to 1 CPU and the store embedded"
	}
	return f
}

func doctorMemory(m bench.Machine, available int64) Finding {
	const gib = 1 << 30
	f := Finding{Name: "memory", Status: OK, Value: fmt.Sprintf("%.1f GiB", float64(m.MemoryBytes)/gib)}
	if m.MemoryBytes == 0 {
		return Finding{Name: "memory", Status: Warn, Value: "unknown"}
	}
	if available > 0 {
		f.Value += fmt.Sprintf(", %.1f GiB available", float64(available)/gib)
	} else {
		available = m.MemoryBytes
	}
	if min(available, m.MemoryBytes) < 2*gib {
		f.Status, f.Fix = Warn, "free 2 GiB: 512 MiB for the contender, the rest for store and load generator"
	}
	return f
}

func doctorLoad(m bench.Machine) Finding {
	load, known := load(m)
	if !known {
		return Finding{Name: "load", Status: OK, Value: "unknown"}
	}
	f := Finding{Name: "load", Status: OK, Value: m.Load1 + " in the last minute"}
	if load > busyShare*float64(m.CPUs) {
		f.Status, f.Fix = Warn, "end what else is running (top shows it), or the figures are partly its"
	}
	return f
}

func doctorGovernor(m bench.Machine) Finding {
	switch m.Governor {
	case "":
		return Finding{Name: "CPU governor", Status: OK, Value: "not to be seen here (usual in virtual machines)"}
	case "performance":
		return Finding{Name: "CPU governor", Status: OK, Value: m.Governor}
	}
	return Finding{"CPU governor", Warn, m.Governor + ": the clock follows the load", "sudo cpupower frequency-set -g performance"}
}

func doctorFiles(hard int, known bool) Finding {
	const need = 8192 // 2048 connections on this side, as many of a contender run as a process to its clients and to the store
	switch {
	case !known:
		return Finding{Name: "open files", Status: OK, Value: "no limit known on " + runtime.GOOS}
	case hard < need:
		return Finding{"open files", Warn, fmt.Sprintf("at most %d", hard), "sudo sh -c 'ulimit -n 65536; exec su $SUDO_USER', or nofile in /etc/security/limits.conf"}
	}
	return Finding{Name: "open files", Status: OK, Value: fmt.Sprintf("up to %d", hard)}
}

func doctorPorts(first, last int) Finding {
	if first == 0 {
		return Finding{Name: "local ports", Status: OK, Value: "range unknown on " + runtime.GOOS}
	}
	n := last - first + 1
	f := Finding{Name: "local ports", Status: OK, Value: fmt.Sprintf("%d (%d to %d)", n, first, last)}
	if n < 10_000 {
		f.Status, f.Fix = Warn, `sudo sysctl -w net.ipv4.ip_local_port_range="15000 65000"`
	}
	return f
}

func doctorElasticsearch(ctx context.Context, url string) Finding {
	if url == "" {
		return Finding{Name: "Elasticsearch", Status: OK, Value: "none given: the embedded store is used",
			Fix: "--elastic http://host:9200 for a real one"}
	}
	version, err := elasticsearchVersion(ctx, url)
	switch {
	case err != nil:
		return Finding{"Elasticsearch", Missing, safe.Line(err.Error(), 300), "start it, or give another URL"}
	case !strings.HasPrefix(version, "7."):
		return Finding{"Elasticsearch", Warn, "version " + safe.Line(version, 50), "version 7, which the contenders' queries are written for"}
	}
	return Finding{Name: "Elasticsearch", Status: OK, Value: "version " + safe.Line(version, 50)}
}

func elasticsearchVersion(ctx context.Context, url string) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, askTimeout, fmt.Errorf("no answer within %v", askTimeout))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", fmt.Errorf("ask Elasticsearch: %w", err)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, CheckRedirect: contact.StayHere}
	resp, err := client.Do(req)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return "", fmt.Errorf("ask Elasticsearch: %w", err)
	}
	defer resp.Body.Close()
	if err := contact.Redirected(resp); err != nil {
		return "", fmt.Errorf("ask Elasticsearch: %w", err)
	}
	var answer struct {
		Version struct {
			Number string `json:"number"`
		} `json:"version"`
	}
	err = json.NewDecoder(io.LimitReader(resp.Body, 64<<10)).Decode(&answer)
	if err != nil || answer.Version.Number == "" {
		return "", fmt.Errorf("status %d and no version: that is no Elasticsearch", resp.StatusCode)
	}
	return answer.Version.Number, nil
}

func doctorGo(ctx context.Context, groups cgroup.Tree) Finding {
	const fix = "https://go.dev/dl, only needed to build Go contenders for the process runtime"
	path, err := exec.LookPath("go")
	if err != nil {
		return Finding{"Go toolchain", Warn, "not found", fix}
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	var out bytes.Buffer
	cmd := exec.Command(path, "env", "GOVERSION")
	cmd.Env = append(cmd.Environ(), "GOTOOLCHAIN=local") // or it might fetch another to answer
	cmd.Stdout, cmd.WaitDelay = &out, time.Second
	err = launch.Helper{Groups: groups}.Do(ctx, cmd)
	if err != nil {
		return Finding{"Go toolchain", Warn, "does not tell its version: " + safe.Line(err.Error(), 200), fix}
	}
	return Finding{Name: "Go toolchain", Status: OK, Value: safe.Line(strings.TrimSpace(out.String()), 50)}
}
