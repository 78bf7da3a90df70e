package launch

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/host/cgroup"
	"github.com/locbench/locbench/internal/testenv"
)

var sandboxLimits = bench.Limits{CPUs: 0.5, CPUSet: 1, Memory: 64 << 20, PIDs: 50}

// TestSandbox_Refused: in a folder that looks like a hierarchy of cgroup v2 or v1 the kernel starts
// no process, so it starts without a group.
func TestSandbox_Refused(t *testing.T) {
	for name, tt := range map[string]struct {
		tree cgroup.Tree
		note string
	}{
		"v2": {hierarchies1(t), "CPU quota, memory, processes: start in the group: "},
		"v1": {hierarchyV1(t), "CPU quota, memory, processes: enter cgroup: the kernel has no tasks"},
	} {
		t.Run(name, func(t *testing.T) {
			spec := bench.LaunchSpec{RunID: runID(t), Name: "t", Limits: sandboxLimits}
			spec.Artifact.Command = []string{"sh", "-c", "echo hello; exec sleep 600"}
			p := newProcess(newSandbox(tt.tree, spec, nil), spec)
			_, v2 := p.box.group.FD()
			testenv.Need(t, v2 == (name == "v2"), "taken for v2: %v", v2)
			testenv.OK(t, p.launch(t.Context(), spec))
			stopAtEnd(t, p)
			waitLog(t, p, "hello")
			note := p.Info().LimitsNote
			if p.Info().LimitsEnforced || !strings.HasPrefix(note, tt.note) || strings.Contains(note, "CPU set") {
				t.Errorf("%q, want %q", note, tt.note)
			}
			testenv.Equal(t, testenv.Must(p.Usage(t.Context()))(t).Source, "/proc")
			err := p.BeginPeak()
			testenv.Check(t, err == errNoGroup, "%v", err)
		})
	}
}

// hierarchyV1 returns a machine with cgroup v1, made of folders: this process is in /here.
func hierarchyV1(t *testing.T) cgroup.Tree {
	t.Helper()
	root := t.TempDir()
	writeFile(t, filepath.Join(root, "proc/self/mountinfo"),
		"30 29 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,memory,pids\n")
	writeFile(t, filepath.Join(root, "proc/self/cgroup"), "4:cpu,memory,pids:/here\n")
	writeFile(t, filepath.Join(root, "sys/fs/cgroup/cpu/here/tasks"), "")
	return cgroup.Tree{Root: root}
}

// TestSandbox_V1: the thread that starts the process enters the group and leaves it again; what it
// cannot leave is not started.
func TestSandbox_V1(t *testing.T) {
	for _, stays := range []bool{false, true} {
		tree := hierarchyV1(t)
		box := newSandbox(tree, bench.LaunchSpec{Limits: sandboxLimits}, nil)
		home, entered := filepath.Join(tree.Root, "sys/fs/cgroup/cpu/here/tasks"), ""
		_ = filepath.WalkDir(tree.Root, func(path string, e os.DirEntry, err error) error {
			if strings.HasPrefix(e.Name(), groupPrefix) {
				entered = filepath.Join(path, "tasks")
			}
			return err
		})
		writeFile(t, entered, "")
		if stays {
			os.Remove(home)
		}
		cmd := exec.Command("true")
		err := box.start(cmd)
		if (err != nil) != stays || stays && !strings.HasPrefix(err.Error(), "leave cgroup: the kernel has no tasks") {
			t.Errorf("stays %v: %v", stays, err)
		}
		if !stays {
			_ = cmd.Wait()
		}
		for _, file := range []string{entered, home} {
			if text, err := os.ReadFile(file); string(text) != "0" && !(stays && file == home) {
				t.Errorf("stays %v: %s has %q, %v", stays, file, text, err)
			}
		}
		os.Remove(entered)
		testenv.OK(t, box.close())
	}
}

// TestSandbox_Usage: counters that the group lacks are those of the processes in it.
func TestSandbox_Usage(t *testing.T) {
	for name, tt := range map[string]struct {
		files   map[string]string
		source  string
		peak    bool // the group has its peak memory
		oom     bool
		threads int
	}{
		"with memory": {map[string]string{"memory.current": "5\n", "pids.current": "3\n"}, "cgroup v2", true, false, 3},
		"out of memory": {map[string]string{"memory.current": "5\n", "memory.events": "oom_kill 2\n"},
			"cgroup v2", true, true, 0},
		"without memory": {map[string]string{"cgroup.procs": "CHILD"},
			"cgroup v2; memory and threads of /proc", true, false, 1},
		"without any": {nil, "cgroup v2", false, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			tree := hierarchies1(t)
			box := newSandbox(tree, bench.LaunchSpec{Limits: sandboxLimits}, nil)
			child := exec.Command("sleep", "600")
			testenv.OK(t, child.Start())
			testenv.Check(t, box.reader == nil && box.pinned, "reader %v, pinned %v", box.reader, box.pinned)
			fd, _ := box.group.FD()
			dir, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
			testenv.OK(t, err)
			writeFile(t, filepath.Join(dir, "cpu.stat"), "usage_usec 7\n")
			for file, text := range tt.files {
				text = strings.Replace(text, "CHILD", strconv.Itoa(child.Process.Pid), 1)
				writeFile(t, filepath.Join(dir, file), text)
			}
			box.reader, err = box.group.Reader()
			testenv.Need(t, err == nil, "%v", err)
			u, err := box.usage(0)
			if err != nil || u.Source != tt.source || u.CPU != 7*time.Microsecond || (u.Memory != nil) != tt.peak {
				t.Errorf("%+v, %v", u, err)
			}
			testenv.Check(t, box.oomKilled() == tt.oom, "out of memory: %v", !tt.oom)
			testenv.Check(t, (u.Threads != nil) == (tt.threads > 0) && (tt.threads <= 0 || *u.Threads == tt.threads),
				"threads %v", u.Threads)
			err = box.beginPeak()
			testenv.Check(t, !errors.Is(err, errNoGroup), "%v", err)
			child.Process.Kill()
			child.Wait()
			for file := range tt.files {
				os.Remove(filepath.Join(dir, file))
			}
			os.Remove(filepath.Join(dir, "cpu.stat"))
			testenv.OK(t, box.close())
			_, err = box.usage(0)
			testenv.Check(t, err == errStopped && box.beginPeak() == errNoGroup && !box.oomKilled(), "closed: %v", err)
			testenv.OK(t, box.close())
		})
	}
}

// TestRefused: errors of a start for which the group may be the reason.
func TestRefused(t *testing.T) {
	for err, want := range map[error]bool{
		nil: false, syscall.EBADF: true, os.NewSyscallError("clone", syscall.EPERM): true, syscall.ENOMEM: false,
	} {
		testenv.Check(t, refused(err) == want, "%v: %v", err, !want)
	}
}

// TestSandbox_Left: of a session whose leader has exited, what it has left, and never the
// processes of other sessions.
func TestSandbox_Left(t *testing.T) {
	cmd := exec.Command("sh", "-c", "env -i sleep 600 >/dev/null 2>&1 & echo $!")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out := testenv.Must(cmd.Output())(t)
	child, _ := strconv.Atoi(strings.TrimSpace(string(out)))
	box := &sandbox{id: newInstanceID()}
	left := box.left()
	testenv.Need(t, len(left) == 0, "without a session: %v", left)
	box.session = os.Getpid()
	left = box.left()
	testenv.Check(t, len(left) == 0, "a session whose leader is alive: %v", left)
	box.session = cmd.Process.Pid
	testenv.Until(t, time.Minute, "it has no marks", func() bool { return len(environOf(child)) == 0 })
	left = box.left()
	testenv.Check(t, len(left) == 1 && left[0].pid == child, "%v, want %d", left, child)
	syscall.Kill(child, syscall.SIGKILL)
	testenv.Until(t, time.Minute, "it has exited", func() bool { return processGone(child) })
	left = box.left()
	testenv.Check(t, len(left) == 0, "exited: %v", left)
}

// TestProcUsage: the sum of two processes.
func TestProcUsage(t *testing.T) {
	one, err := procUsage([]int{os.Getpid()})
	if err != nil || *one.Processes != 1 || *one.Threads < 1 || one.CPU != *one.CPUUser+*one.CPUSystem ||
		one.Memory.Peak < one.Memory.Used || one.Memory.Used < 1<<20 || one.Took <= 0 ||
		!one.At.Before(time.Now()) || *one.Memory.MinorFaults < 1 {
		t.Errorf("%+v %+v, %v", one, one.Memory, err)
	}
	s, _ := cgroup.ReadStat(os.Getpid())
	own := time.Duration(s.User+s.System+s.ChildUser+s.ChildSystem) * cgroup.Tick
	testenv.Check(t, one.CPU <= own, "%v of CPU time, but %v of it later", one.CPU, own)
	two, err := procUsage([]int{os.Getpid(), os.Getpid(), 1 << 30})
	if err != nil || *two.Processes != 2 || two.Memory.Used < 3*one.Memory.Used/2 || *two.Threads < 2 ||
		*two.Memory.MinorFaults < 2**one.Memory.MinorFaults {
		t.Errorf("%+v %+v, %v", two, two.Memory, err)
	}
	testenv.Check(t, testenv.Err(procUsage([]int{1 << 30})) != nil, "counters of no process")
	for line, want := range map[string]int64{
		"VmRSS:\t    12 kB\n": 12 << 10, "VmRSS:\n": 0, "VmRSS: x\n": 0, "Vm: 12\n": 0, "VmRSS: -5 kB": 0,
	} {
		testenv.Equal(t, statusBytes([]byte("A:\t1\n"+line), "VmRSS:"), want, line)
	}
}
