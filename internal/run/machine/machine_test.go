package machine

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/docker"
	"github.com/locbench/locbench/internal/host/cgroup"
	"github.com/locbench/locbench/internal/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestDescribe(t *testing.T) {
	m := Describe(t.Context())
	testenv.Check(t, m.OS == runtime.GOOS && m.Arch == runtime.GOARCH && m.CPUs >= 1 && m.CPUs <= runtime.NumCPU(),
		"%+v", m)
	testenv.Check(t, runtime.GOOS != "linux" || m.Kernel != "" && m.MemoryBytes >= 1<<20 && m.Load1 != "", "%+v", m)
}

func TestEnvironmentRecorded(t *testing.T) {
	var m bench.Machine
	m.CPUs = 64
	files{"testdata/recorded"}.describe(&m)
	want := bench.Machine{
		Kernel: "6.1.0-18-amd64", CPUModel: "AMD EPYC 7B13", CPUs: 3, MemoryBytes: 1 << 30, Governor: "schedutil",
		CgroupVersion: 2, Load1: "0.42",
	}
	want.SMT, want.Turbo, want.Virtual, want.SwapUsed, want.Throttles = "on", "off", "kvm QEMU Standard PC (Q35 + ICH9, 2009)", new(int64(300<<20)), new(int64(12))
	want.Governor = "performance, schedutil"
	testenv.Equal(t, m, want)
	first, last := (files{"testdata/recorded"}).ports()
	testenv.Check(t, first == 32768 && last == 60999, "ports %d to %d", first, last)
	var nothing bench.Machine
	files{t.TempDir()}.describe(&nothing)
	testenv.Equal(t, nothing, (bench.Machine{}), "of an empty root")
}

func TestCPUModel(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "garbage": "", "model name\t: Intel(R)   Xeon\nmodel name\t: Second": "Intel(R) Xeon",
		"processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c": "implementer 0x41 part 0xd0c",
		"model name : \x1b[31mred":                                   "␛[31mred",
	} {
		t.Run(in, func(t *testing.T) {
			testenv.Equal(t, cpuModel([]byte(in)), want, in)
		})
	}
}

func FuzzParsers(f *testing.F) {
	f.Add([]byte("MemTotal:  12 kB\nmodel name : x"))
	f.Add([]byte("MemTotal:"))
	f.Add([]byte("MemTotal: 99999999999999999999 kB"))
	f.Fuzz(func(t *testing.T, data []byte) {
		cpuModel(data)
		testenv.Check(t, meminfo(data, "MemTotal:") >= 0, "negative")
	})
}

func TestRaiseOpenFiles(t *testing.T) {
	n, err := RaiseOpenFiles()
	testenv.Need(t, err == nil && (runtime.GOOS != "linux" || n >= 1024), "%d, %v", n, err)
	if runtime.GOOS != "linux" {
		return
	}
	out, err := exec.Command("/bin/sh", "-c", "ulimit -n").Output()
	got := strings.TrimSpace(string(out))
	testenv.Check(t, err == nil && got == fmt.Sprint(n), "a child has %s, %v; want %d", got, err, n)
}

func TestWarnings(t *testing.T) {
	m := func(change func(*bench.Machine)) bench.Machine {
		m := bench.Machine{OS: "linux", CPUs: 8, MemoryBytes: 16 << 30, Load1: "0.1", Governor: "performance", CgroupVersion: 2}
		if change != nil {
			change(&m)
		}
		return m
	}
	whole := docker.Info{CPUQuota: true, CPUSet: true, MemoryLimit: true, SwapLimit: true, PIDsLimit: true}
	swapless := whole
	swapless.SwapLimit = false
	for _, tt := range []struct {
		f     Warning
		want  Status
		value string
	}{
		{doctorCPUs(m(nil)), OK, "8 ("},
		{doctorCPUs(m(func(m *bench.Machine) { m.CPUs = 2 })), Warn, "2 ("},
		{doctorMemory(m(nil), 8<<30), OK, "16.0 GiB, 8.0 GiB available"},
		{doctorMemory(m(nil), 1<<30), Warn, "1.0 GiB available"},
		{doctorMemory(m(func(m *bench.Machine) { m.MemoryBytes = 0 }), 0), Warn, "unknown"},
		{doctorLoad(m(nil)), OK, "0.1"},
		{doctorLoad(m(func(m *bench.Machine) { m.Load1 = "7.9" })), Warn, "7.9"},
		{doctorGovernor(m(nil)), OK, "performance"},
		{doctorGovernor(m(func(m *bench.Machine) { m.Governor = "powersave" })), Warn, "powersave"},
		{doctorGovernor(m(func(m *bench.Machine) { m.Governor = "" })), OK, "not visible"},
		{doctorFiles(1024, true), Warn, "1024"},
		{doctorFiles(65536, true), OK, "65536"},
		{doctorPorts(32768, 60999), OK, "28232"},
		{doctorPorts(60000, 60999), Warn, "1000"},
		{dockerLimits(whole), OK, "without swap"},
		{dockerLimits(swapless), Warn, "no swap accounting"},
		{dockerLimits(docker.Info{Rootless: true}), Warn, "rootless"},
		{dockerLimits(docker.Info{CPUQuota: true}), Warn, "memory"},
		{doctorCgroup(m(func(m *bench.Machine) { m.OS = "darwin" }), nil)[0], Warn, "none on darwin: no limits or counters"},
		{doctorCgroup(m(func(m *bench.Machine) { m.CgroupVersion = 0 }), nil)[0], Warn, "no CPU or memory controller mounted"},
	} {
		if tt.f.Status != tt.want || !strings.Contains(tt.f.Value, tt.value) || tt.f.Status != OK && tt.f.Fix == "" && tt.value != "unknown" {
			t.Errorf("%+v, want %s with %q", tt.f, tt.want, tt.value)
		}
	}
}

func TestElasticsearchWarning(t *testing.T) {
	response := `{"version":{"number":"7.10.2"}}`
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, response) }))
	defer s.Close()
	for _, tt := range []struct {
		url, response string
		want          Status
	}{
		{"", "", OK}, {s.URL, response, OK}, {s.URL, `{"version":{"number":"8.1.0"}}`, OK}, {s.URL, "hello", Missing},
		{"http://127.0.0.1:1", "", Missing}, {"::", "", Missing},
	} {
		t.Run(tt.url, func(t *testing.T) {
			response = tt.response
			f := doctorNeed(t.Context(), tt.url)
			testenv.Check(t, f.Status == tt.want, "%q responding %q: %+v", tt.url, tt.response, f)
		})
	}
}

func TestElasticsearchWarningFollowsNoRedirect(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a redirect was followed") }))
	defer other.Close()
	s := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusMovedPermanently))
	defer s.Close()
	f := doctorNeed(t.Context(), s.URL)
	testenv.Check(t, f.Status == Missing && strings.Contains(f.Value, other.URL), "%+v", f)
}

// TestProcessLimits reports which limits a user may set, as the probe of the kernel returned them.
func TestProcessLimits(t *testing.T) {
	for name, tt := range map[string]struct {
		missing []string
		noSet   error
		err     error
		version int
		status  Status
		value   string
		fix     string
	}{
		"all":            {nil, nil, nil, 2, OK, "enforced: CPU quota, CPU set, memory, processes", ""},
		"no CPU set":     {nil, errors.New("not delegated"), nil, 2, OK, "enforced: CPU quota, memory, processes; CPU set by affinity", ""},
		"no memory":      {[]string{"memory: not delegated"}, errors.New("not delegated"), nil, 2, Warn, "not enforced: memory: not delegated", "in a delegated unit"},
		"nothing, on v2": {nil, nil, errors.New("permission denied"), 2, Warn, "not enforced: permission denied", "in a delegated unit"},
		"nothing, on v1": {nil, nil, errors.New("permission denied"), 1, Warn, "not enforced: permission denied", "run as root, or use Docker"},
	} {
		t.Run(name, func(t *testing.T) {
			m := bench.Machine{OS: "linux", CgroupVersion: tt.version}
			all := doctorCgroup(m, func() ([]string, error, error) { return tt.missing, tt.noSet, tt.err })
			testenv.Need(t, len(all) == 2 && all[0].Value == fmt.Sprintf("v%d", tt.version), "%+v", all)
			if f := all[1]; f.Name != "process limits" || f.Status != tt.status || f.Value != tt.value || !strings.Contains(f.Fix, tt.fix) {
				t.Errorf("%+v", f)
			}
		})
	}
}

// TestGoToolchain uses scripts instead of Go.
func TestGoToolchain(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not run scripts")
	}
	for name, tt := range map[string]struct {
		script string
		want   Warning
	}{
		"none":   {"", Warning{Status: Warn, Value: "not found"}},
		"works":  {"echo go1.26.8", Warning{Status: OK, Value: "go1.26.8"}},
		"broken": {"exit 7", Warning{Status: Warn, Value: "unknown version: exit status 7"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv("PATH", dir)
			if tt.script != "" {
				testenv.OK(t, os.WriteFile(filepath.Join(dir, "go"), []byte("#!/bin/sh\n"+tt.script+"\n"), 0o755))
			}
			f := doctorGo(t.Context(), cgroup.Tree{Root: t.TempDir()})
			if f.Status != tt.want.Status || f.Value != tt.want.Value || f.Status == Warn && f.Fix == "" {
				t.Errorf("%+v, want %+v", f, tt.want)
			}
		})
	}
}

// TestDoctor checks this machine without an engine or a compiler, and makes no cgroup.
func TestDoctor(t *testing.T) {
	t.Setenv("DOCKER_HOST", "unix://"+t.TempDir()+"/no.sock")
	t.Setenv("PATH", t.TempDir())
	seen := map[string]Warning{}
	none := func() ([]string, error, error) { return nil, nil, nil }
	for _, f := range diagnose(t.Context(), "", cgroup.Tree{Root: t.TempDir()}, none) {
		testenv.Check(t, f.Value != "" && (f.Status != Missing || f.Fix != ""), "%+v", f)
		seen[f.Name] = f
		t.Logf("%-15s %-8s %s | %s", f.Name, f.Status, f.Value, f.Fix)
	}
	d := seen["Docker"]
	testenv.Check(t, d.Status == Missing && strings.Contains(d.Fix, "start"), "%+v", d)
	for _, name := range []string{"cgroup", "CPUs", "memory", "open files", "local ports", "CPU governor", "Elasticsearch", "Go toolchain"} {
		_, ok := seen[name]
		testenv.Check(t, ok, "no line %q", name)
	}
}

func TestLoadWarnings(t *testing.T) {
	idle := bench.Machine{CPUs: 8, Load1: "1.99", Governor: "performance", SwapUsed: new(int64(1 << 20)), Turbo: "on", SMT: "on", Virtual: "kvm"}
	testenv.Equal(t, len(LoadWarnings(idle)), 0, "idle machine")
	testenv.Equal(t, len(LoadWarnings(bench.Machine{CPUs: 8})), 0, "unknown state")
	for _, load := range []string{"NaN", "Inf", "x", ""} {
		testenv.Equal(t, len(LoadWarnings(bench.Machine{CPUs: 1, Load1: load})), 0, "load", load)
	}
	busy := bench.Machine{CPUs: 8, Load1: "2.01", Governor: "powersave", SwapUsed: new(int64(3 << 30)), OtherContainers: Names([]string{"db", "\x1b[31mred"})}
	want := []string{"load 2.01 on 8 CPUs before the run", "CPU governor powersave", "3.0 GiB of swap in use", "other containers (2: db, ␛[31mred)"}
	testenv.Equal(t, LoadWarnings(busy), want)
}

func TestNames(t *testing.T) {
	testenv.Equal(t, Names(nil), "")
	got := Names([]string{"a", "b", "c", "d", "e", "f", strings.Repeat("x", 500)})
	testenv.Check(t, got == "7: a, b, c, d, e, 2 more", "%v", got)
}

// TestState reads files as the kernel and its drivers write them: intel_pstate has no_turbo;
// acpi-cpufreq and amd-pstate have boost.
func TestState(t *testing.T) {
	for name, tt := range map[string]struct {
		tree map[string]string
		want bench.Machine
	}{
		"bare metal with Intel's driver": {map[string]string{
			"sys/devices/system/cpu/intel_pstate/no_turbo": "0\n", "sys/devices/system/cpu/smt/active": "0\n", "proc/swaps": "Filename\tType\tSize\tUsed\tPriority\n",
			"sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count": "0\n", "proc/cpuinfo": "processor\t: 0\nflags\t\t: fpu vme sse2 hypervisory\n",
		}, bench.Machine{Turbo: "on", SMT: "off", SwapUsed: new(int64), Throttles: new(int64)}},
		"AMD, boost off":  {map[string]string{"sys/devices/system/cpu/cpufreq/boost": "0\n"}, bench.Machine{Turbo: "off"}},
		"a small machine": {map[string]string{"proc/cpuinfo": "flags : fpu hypervisor\n"}, bench.Machine{Virtual: "hypervisor"}},
		"nonsense": {map[string]string{
			"sys/devices/system/cpu/cpufreq/boost": "maybe\n", "sys/devices/system/cpu/smt/active": "-7\n", "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count": "-1\n",
			"proc/cpuinfo": "flags", "proc/swaps": "a b c -5 e\n1 2 3 999999999999999999999 5\n",
		}, bench.Machine{SwapUsed: new(int64)}},
	} {
		var got bench.Machine
		files{testenv.Folder(t, tt.tree)}.state(&got)
		testenv.Equal(t, got, tt.want, name)
	}
}

func TestDoctorState(t *testing.T) {
	m := bench.Machine{Turbo: "on", SMT: "on", Virtual: "kvm", SwapUsed: new(int64(1 << 30)), Throttles: new(int64(9)), OtherContainers: "1: db"}
	warned := 0
	for _, f := range doctorState(m) {
		testenv.Check(t, f.Fix != "", "%s: %s without a remedy", f.Name, f.Value)
		if f.Status == Warn {
			warned++
		}
	}
	testenv.Equal(t, warned, 5, "warnings")
	for _, f := range doctorState(bench.Machine{}) {
		testenv.Equal(t, f.Status, OK, f)
	}
}
