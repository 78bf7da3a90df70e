package hostusage

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/host/cgroup"
	"github.com/locbench/locbench/internal/testenv"
)

// spin uses d of CPU time, as counted by the kernel for this process.
func spin(t testing.TB, d time.Duration) {
	t.Helper()
	before := testenv.Must(processCPU(os.Getpid()))(t)
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		for x := 0; x < 1e6; x++ {
			_ = x * x
		}
		if now, err := processCPU(os.Getpid()); err != nil || now-before >= d {
			return
		}
	}
	t.Fatal("this machine gives no CPU time")
}

// The machine's counters only grow. Without a need there are no values of one.
func TestHost(t *testing.T) {
	var none *Counters
	a, b := Host(), Host()
	testenv.Need(t, none.Read() == nil && a != nil && b != nil, "%+v, %+v", a, b)
	testenv.Check(t, b.Busy >= a.Busy && !b.At.Before(a.At) && a.Busy+a.Idle != 0, "%+v, %+v", a, b)
}

// A need on the loopback interface is found by its port: here this process.
func TestAddressFindsTheProcess(t *testing.T) {
	l := testenv.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	s, err := Address("http://user:secret@" + l.Addr().String() + "/path")
	testenv.Need(t, err == nil && s.pid == os.Getpid(), "%+v, %v", s, err)
	defer s.Close()
	before := s.Read()
	spin(t, 2*cgroup.Tick)
	after := s.Read()
	r := bench.StepResult{HostBefore: reading(before), HostAfter: reading(after)}
	got := after.CPU - before.CPU
	testenv.Check(t, got >= 2*cgroup.Tick && after.Source == "/proc", "%s of CPU time", got)
	cpus, ok := r.NeedCPUs("db")
	testenv.Check(t, ok && cpus > 0, "%v CPUs, %v", cpus, ok)
	l.Close()
	for _, url := range []string{"http://" + l.Addr().String(), "http://10.1.2.3:9200", "http://example:9200", "::", "http://127.0.0.1:99999"} {
		testenv.Check(t, testenv.Err(Address(url)) != nil, "%s has a process", url)
	}
}

func reading(u *bench.NeedUsage) *bench.HostReading {
	return &bench.HostReading{Needs: map[string]*bench.NeedUsage{"db": u}}
}

// A container is read through the group of its main process.
func TestContainerReadsAGroup(t *testing.T) {
	child := exec.CommandContext(t.Context(), "sleep", "60")
	testenv.OK(t, child.Start())
	defer func() { _ = child.Process.Kill(); _ = child.Wait() }()
	s, err := Container(child.Process.Pid)
	if err != nil {
		t.Skipf("this system has no readable control groups: %v", err)
	}
	defer s.Close()
	u := s.Read()
	testenv.Check(t, u != nil && strings.HasPrefix(u.Source, "cgroup") && u.CPU > 0, "%+v", u)
	testenv.Check(t, testenv.Err(Container(0)) != nil, "process 0 has a group")
}

func TestEmbeddedCountsItsOwnWork(t *testing.T) {
	calls, busy := int64(5), time.Second
	s := Embedded(func() (int64, time.Duration) { return calls, busy })
	before := s.Read()
	before.At = before.At.Add(-time.Second)
	busy += 3 * time.Second
	r := bench.StepResult{HostBefore: reading(before), HostAfter: reading(s.Read())}
	if n, ok := r.NeedInFlight("db"); !ok || n < 2.5 || n > 3.01 {
		t.Errorf("%v calls at a time, %v", n, ok)
	}
	_, ok := r.NeedCPUs("db")
	testenv.Check(t, !ok, "a need inside the client has separate CPU time")
}

func TestParseHost(t *testing.T) {
	u, err := parseHost("cpu  100 20 30 4000 50 6 7 8 9 10\n")
	testenv.Check(t, err == nil && u.Busy == 1630*time.Millisecond && u.Idle == 40500*time.Millisecond && u.Steal == 80*time.Millisecond && u.IOWait == 500*time.Millisecond,
		"%+v, %v", u, err)
	for _, line := range []string{"", "cpu", "cpu0 1 2 3 4 5 6 7 8", "cpu 1 2 3 4 5 6 7 x", "cpu -1 2 3 4 5 6 7 8", "intr 1 2 3 4 5 6 7 8 9"} {
		u, err := parseHost(line)
		testenv.Check(t, err != nil, "%q: %+v", line, u)
	}
}

func TestListens(t *testing.T) {
	for line, want := range map[string]string{
		"0: 0100007F:23F0 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 4711 1":                     "4711",
		"0: 00000000:23F0 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 4712 1":                     "4712",
		"0: 0100007F:23F0 0100007F:1234 01 00000000:00000000 00:00000000 00000000 0 0 4713 1":                     "",
		"0: 0101A8C0:23F0 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 4714 1":                     "",
		"0: 00000000000000000000000001000000:23F0 00000000000000000000000000000000:0000 0A 0:0 00:0 0 0 0 4715 1": "4715",
		"0: 0000000000000000FFFF00000100007F:23F0 00000000000000000000000000000000:0000 0A 0:0 00:0 0 0 0 4716 1": "4716",
		"sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode":          "",
		"0: zz:23F0 0 0A 0 0 0 0 0 9": "",
		"":                            "",
	} {
		t.Run(line, func(t *testing.T) {
			got := ""
			for _, l := range Listeners([]byte(line)) {
				if l.here(9200) {
					got = l.Inode
				}
			}
			testenv.Equal(t, got, want, line)
		})
	}
}

func TestPressureAndHeatOfTheMachine(t *testing.T) {
	root := t.TempDir()
	write := func(path, text string) {
		t.Helper()
		path = filepath.Join(root, path)
		testenv.Write(t, text, path)
	}
	if p := pressure(filepath.Join(root, "pressure")); p != nil {
		t.Errorf("a kernel that does not count: %+v", p)
	}
	testenv.Check(t, Throttles(filepath.Join(root, "cpu")) == nil, "counts of a machine without counters")
	write("pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=7\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n")
	write("pressure/io", "nonsense\n")
	p := pressure(filepath.Join(root, "pressure"))
	testenv.Check(t, p != nil && p.CPU != nil && p.CPU.Some == 7*time.Microsecond && p.CPU.Full != nil && p.IO == nil && p.Memory == nil && p.Source == "/proc/pressure",
		"%+v", p)
	write("cpu/cpu0/thermal_throttle/core_throttle_count", "3\n")
	write("cpu/cpu0/thermal_throttle/package_throttle_count", "4\n")
	write("cpu/cpu11/thermal_throttle/core_throttle_count", "-9\n")
	write("cpu/cpufreq/thermal_throttle/core_throttle_count", "100\n")
	n := Throttles(filepath.Join(root, "cpu"))
	testenv.Check(t, n != nil && *n == 7, "%v", n)
}
