package cpuset

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestKeep runs in its own process: it changes the affinity of all threads.
func TestKeep(t *testing.T) {
	if os.Getenv("LOCBENCH_TEST_KEEP") == "" {
		if len(Allowed()) < 2 {
			t.Skip("one CPU: there is no smaller set to keep to")
		}
		cmd := exec.Command(os.Args[0], "-test.run=^TestKeep$", "-test.v")
		cmd.Env = append(os.Environ(), "LOCBENCH_TEST_KEEP=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	all := Allowed()
	own := all[1:2] // a thread that has chosen for itself
	chosen := make(chan int)
	finish := make(chan struct{})
	go func() {
		runtime.LockOSThread() // and never unlocked
		var set unix.CPUSet
		set.Set(own[0])
		if err := unix.SchedSetaffinity(0, &set); err != nil {
			t.Error(err)
		}
		chosen <- unix.Gettid()
		<-finish
	}()
	defer close(finish)
	tid := <-chosen
	undo, err := Keep(all[:1])
	if err != nil {
		t.Fatal(err)
	}
	if got := lists(t, tid); len(got) != 1 || got[all[:1].String()] == 0 {
		t.Errorf("threads are on %v, not on %s", got, all[:1].String())
	}
	if n := runtime.GOMAXPROCS(0); n != 1 {
		t.Errorf("GOMAXPROCS %d", n)
	}
	if out, err := exec.Command("grep", "Cpus_allowed_list", "/proc/self/status").Output(); err != nil || strings.Fields(string(out))[1] != all[:1].String() {
		t.Errorf("a child is on %s, %v", out, err)
	}
	if got := affinityOf(t, tid); got != own.String() {
		t.Errorf("a thread that has chosen CPU %s is on %s", own.String(), got)
	}
	if err := undo(); err != nil {
		t.Fatal(err)
	}
	if got := lists(t, tid); len(got) != 1 || got[all.String()] == 0 {
		t.Errorf("afterwards threads are on %v, not on %s", got, all.String())
	}
	if n := runtime.GOMAXPROCS(0); n < 1 || n > len(all) {
		t.Errorf("GOMAXPROCS %d afterwards", n)
	}
}

// lists counts the threads by what the kernel says of them, without one.
func lists(t *testing.T, without int) map[string]int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, e := range entries {
		if tid := atoi(e.Name()); tid != without {
			if list := affinityOf(t, tid); list != "" {
				got[list]++
			}
		}
	}
	return got
}

func atoi(s string) (n int) {
	for _, r := range s {
		n = n*10 + int(r-'0')
	}
	return n
}

func affinityOf(t *testing.T, tid int) string {
	t.Helper()
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(tid, &set); err != nil {
		return "" // it has ended
	}
	var cpus []int
	for i := range 1024 {
		if set.IsSet(i) {
			cpus = append(cpus, i)
		}
	}
	return Of(cpus...).String()
}
