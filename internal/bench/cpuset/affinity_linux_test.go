package cpuset

import (
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/locbench/locbench/internal/testenv"
)

// apart runs a function on its own thread, and restores the affinity of that afterwards.
func apart(do func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	was := OfThread()
	do()
	_ = KeepThread(was)
}

func allOfTwo(t *testing.T) Set {
	t.Helper()
	all := Allowed()
	if len(all) < 2 {
		t.Skip("one CPU: there is no smaller set to keep to")
	}
	return all
}

func TestKeep(t *testing.T) {
	all := allOfTwo(t)
	one, own := all[:1], all[1:2]
	chosen, finish, done := make(chan int), make(chan bool), make(chan bool)
	go func() {
		defer close(done)
		apart(func() {
			testenv.OK(t, KeepThread(own))
			chosen <- unix.Gettid()
			<-finish
		})
	}()
	defer func() {
		close(finish)
		<-done
	}()
	tid := <-chosen
	undo := testenv.Must(Keep(one))(t)
	defer undo()
	check := func(when string, want Set) {
		t.Helper()
		threads := 0
		err := eachThread(func(id int, mask unix.CPUSet) error {
			if id == tid {
				got := read(mask)
				testenv.Check(t, slices.Equal(got, own), "%s: a thread that has chosen CPU %s is on %s", when, own, got)
				return nil
			}
			threads++
			got := read(mask)
			testenv.Check(t, slices.Equal(got, want), "%s: a thread is on %s, want %s", when, got, want)
			return nil
		})
		testenv.Check(t, err == nil && threads != 0, "%s: %d threads, %v", when, threads, err)
	}
	check("kept", one)
	testenv.Equal(t, runtime.GOMAXPROCS(0), 1, "GOMAXPROCS")
	out, err := exec.Command("grep", "Cpus_allowed_list", "/proc/self/status").Output()
	testenv.Check(t, err == nil && strings.Fields(string(out))[1] == one.String(), "a child is on %s, %v", out, err)
	testenv.OK(t, undo())
	check("afterwards", all)
	n := runtime.GOMAXPROCS(0)
	testenv.Check(t, n >= 1 && n <= len(all), "GOMAXPROCS %d afterwards", n)
}

func TestKeepRefuses(t *testing.T) {
	all, none := Allowed(), Of(maxCPU)
	undo, err := Keep(none)
	testenv.Check(t, undo == nil && err != nil && strings.Contains(err.Error(), "keep this process to CPUs 16384: "), "%v", err)
	got := Allowed()
	testenv.Check(t, slices.Equal(got, all), "afterwards on %s", got)
	apart(func() {
		testenv.Fails(t, KeepThread(none), "keep a thread to CPUs 16384: ")
	})
}

func TestKeepThread(t *testing.T) {
	all := allOfTwo(t)
	apart(func() {
		testenv.OK(t, KeepThread(all[1:]))
		got := OfThread()
		testenv.Check(t, slices.Equal(got, all[1:]), "on %s", got)
	})
	got := Allowed()
	testenv.Check(t, slices.Equal(got, all), "the process is on %s", got)
}

func TestSiblings(t *testing.T) {
	got := Siblings(maxCPU)
	testenv.Check(t, got == nil, "of no CPU: %s", got)
	if _, err := os.Stat("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list"); err != nil {
		t.Skip(err)
	}
	got = Siblings(0)
	testenv.Check(t, slices.Contains(got, 0), "of CPU 0: %s", got)
}
