package launch

import (
	"os"

	"golang.org/x/sys/unix"
)

// job finds an instance's processes by their marks: processes can leave any group of macOS.
type job struct{}

func newJob(int) job { return job{} }

// end kills the processes with the mark of the instance.
func (job) end(id string) error {
	return killMarked(func() []markedProcess { return marked(envInstance + "=" + id) })
}

// marked returns the processes whose environment had all of the entries at their start
// ("KEY=value"; "KEY=" for any value). It sees those of this user whose programs are not the
// system's, but not this process.
func marked(entries ...string) (all []markedProcess) {
	processes, _ := unix.SysctlKinfoProcSlice("kern.proc.all")
	for _, p := range processes {
		pid := int(p.Proc.P_pid)
		if pid <= 1 || pid == os.Getpid() {
			continue
		}
		args, err := unix.SysctlRaw("kern.procargs2", pid)
		if err != nil {
			continue
		}
		env, ok := environIn(args)
		if !ok {
			continue
		}
		if f, ok := matchEnv(env, entries); ok {
			f.pid = pid
			all = append(all, f)
		}
	}
	return all
}

// parent returns the number of a process's parent; 0 if it cannot be read.
func parent(pid int) int {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(info.Proc.P_pid) != pid {
		return 0
	}
	return int(info.Eproc.Ppid)
}
