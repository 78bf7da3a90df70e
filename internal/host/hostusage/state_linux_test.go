package hostusage

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/testenv"
)

func TestPressureAndHeatOfTheMachine(t *testing.T) {
	root := t.TempDir()
	write := func(path, text string) {
		t.Helper()
		path = filepath.Join(root, path)
		testenv.OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
		testenv.OK(t, os.WriteFile(path, []byte(text), 0o644))
	}
	if p := pressure(filepath.Join(root, "pressure")); p != nil {
		t.Errorf("a kernel that does not count: %+v", p)
	}
	testenv.Check(t, Throttles(filepath.Join(root, "cpu")) == nil, "counts of a machine without counters")
	write("pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=7\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n")
	write("pressure/io", "nonsense\n")
	p := pressure(filepath.Join(root, "pressure"))
	if p == nil || p.CPU == nil || p.CPU.Some != 7*time.Microsecond || p.CPU.Full == nil || p.IO != nil || p.Memory != nil || p.Source != "/proc/pressure" {
		t.Errorf("%+v", p)
	}
	write("cpu/cpu0/thermal_throttle/core_throttle_count", "3\n")
	write("cpu/cpu0/thermal_throttle/package_throttle_count", "4\n")
	write("cpu/cpu11/thermal_throttle/core_throttle_count", "-9\n")
	write("cpu/cpufreq/thermal_throttle/core_throttle_count", "100\n")
	if n := Throttles(filepath.Join(root, "cpu")); n == nil || *n != 7 {
		t.Errorf("%v", n)
	}
}
