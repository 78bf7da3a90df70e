package machine

import (
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

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
