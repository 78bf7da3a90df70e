package launch

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/cpuset"
	"github.com/locbench/locbench/internal/host/cgroup"
)

// sandbox has the cgroup, the limits and the marks of one process.
type sandbox struct {
	id      string // the instance's ID
	limits  bench.Limits
	cpus    cpuset.Set     // the CPUs it is limited to; empty: all
	allowed cpuset.Set     // its CPUs without a CPU set; empty: those of this process
	pinned  bool           // by affinity, since no cgroup enforces the CPU set
	group   *cgroup.Group  // nil: no cgroup
	reader  *cgroup.Reader // nil: read /proc
	missing []string       // limits that are not enforced

	mu      sync.Mutex
	closed  bool
	session int // the process's session, once it has started
}

// newSandbox makes the cgroup. It never fails: limits that cannot be enforced are in missing.
func newSandbox(tree cgroup.Tree, spec bench.LaunchSpec, allowed cpuset.Set) *sandbox {
	s := &sandbox{id: newInstanceID(), limits: spec.Limits, allowed: allowed, cpus: spec.CPUs}
	if len(allowed) == 0 {
		allowed = cpuset.Allowed()
	}
	if len(s.cpus) == 0 {
		s.cpus = allowed.First(spec.Limits.CPUSet)
	}
	group, err := tree.Create(groupName(s.id, spec.RunID), spec.Limits, s.cpus)
	if err != nil {
		s.dropGroup(err)
		return s
	}
	s.group, s.missing, s.pinned = group, group.Missing(), group.NoCPUSet() != nil
	s.reader, _ = group.Reader() // nil: read /proc
	return s
}

// dropGroup drops the cgroup and adds the limits that are not enforced without it to missing.
func (s *sandbox) dropGroup(why error) {
	if s.group != nil {
		_ = s.group.Remove() // empty; Clean finds what is left
	}
	if s.reader != nil {
		s.reader.Close()
	}
	s.group, s.reader, s.missing, s.pinned = nil, nil, nil, true
	var names []string
	add := func(limited bool, name string) {
		if limited {
			names = append(names, name)
		}
	}
	add(s.limits.CPUs > 0, "CPU quota")
	add(s.limits.Memory > 0, "memory")
	add(s.limits.PIDs > 0, "processes")
	if len(names) > 0 {
		s.missing = append(s.missing, strings.Join(names, ", ")+": "+why.Error())
	}
}

// pin limits the affinity of the calling thread, and so of what it starts, to the CPU set if no
// cgroup enforces it. It needs no rights. The process could undo it, but has no reason to.
func (s *sandbox) pin() error {
	cpus := s.cpus
	if len(cpus) == 0 {
		cpus = s.allowed
	}
	// This thread may itself be limited to other CPUs, like a client with its own.
	if len(cpus) == 0 || len(s.allowed) == 0 && !s.pinned {
		return nil
	}
	return cpuset.KeepThread(cpus) // the thread then only waits
}

// start starts cmd without one instruction of it outside the cgroup. On cgroup v2 the kernel starts
// a process in a cgroup (clone3). On v1 a process begins in the cgroups of the thread that starts
// it, and a thread may change its own: so this thread enters them, starts the process, and leaves.
// Neither needs a shell or a helper program, which would count for the contender and delay its
// start.
//
// The caller is a locked thread that exists until the process exits.
func (s *sandbox) start(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	if err := s.pin(); err != nil {
		return err
	}
	if s.group == nil {
		return cmd.Start()
	}
	if fd, ok := s.group.FD(); ok {
		cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, fd
		err := cmd.Start()
		if !refused(err) {
			return err
		}
		return s.startWithoutGroup(cmd, fmt.Errorf("start in the group: %w", err))
	}
	leave, err := s.group.Enter()
	if err != nil {
		return s.startWithoutGroup(cmd, err)
	}
	err = cmd.Start()
	if e := leave(); e != nil && err == nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return fmt.Errorf("leave cgroup: %w", e)
	}
	return err
}

// refused reports whether the cgroup may be the cause of err: no right to move a process into it
// (EACCES, EPERM), an old kernel (ENOSYS, EINVAL), a cgroup that takes no process (EBUSY,
// EOPNOTSUPP) or was removed (EBADF, ENODEV).
func refused(err error) bool {
	return slices.ContainsFunc([]syscall.Errno{
		syscall.EACCES, syscall.EPERM, syscall.ENOSYS, syscall.EINVAL, syscall.EBUSY, syscall.EOPNOTSUPP, syscall.EBADF,
		syscall.ENODEV,
	}, func(e syscall.Errno) bool { return errors.Is(err, e) })
}

// startWithoutGroup starts cmd without a cgroup.
func (s *sandbox) startWithoutGroup(cmd *exec.Cmd, why error) error {
	s.dropGroup(why)
	if err := s.pin(); err != nil {
		return err
	}
	*cmd = exec.Cmd{ // an exec.Cmd starts only once
		Path: cmd.Path, Args: cmd.Args, Env: cmd.Env, Dir: cmd.Dir, Stdout: cmd.Stdout, Stderr: cmd.Stderr,
		WaitDelay: cmd.WaitDelay, SysProcAttr: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
	}
	return cmd.Start()
}

func (s *sandbox) usage(pid int) (bench.Usage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return bench.Usage{}, errStopped
	}
	if s.reader == nil {
		return procUsage(inSession(pid))
	}
	u, err := s.reader.Read()
	if err == nil && u.Memory == nil {
		// On cgroup v2 a cgroup counts only CPU time if its controllers cannot be turned on, as in
		// a container whose own processes are in the parent.
		if p, e := procUsage(s.group.PIDs()); e == nil {
			u.Source, u.Memory, u.Threads = u.Source+"; memory and threads of /proc", p.Memory, p.Threads
		}
	}
	return u, err
}

// follow adds the counters of /proc to those of the cgroup.
func (s *sandbox) follow(pid int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.session = pid
	if s.reader != nil {
		s.reader.Follow(pid)
	}
}

func (s *sandbox) beginPeak() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.reader == nil {
		return errNoGroup
	}
	return s.reader.BeginPeak()
}

func (s *sandbox) addPressure() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.closed && s.reader != nil && s.reader.AddPressure()
}

// oomKilled reports whether the kernel killed a process of the cgroup for lack of memory.
func (s *sandbox) oomKilled() bool {
	u, err := s.usage(0)
	return s.reader != nil && err == nil && u.Memory != nil && u.Memory.OOMKills > 0
}

// close kills what is left of the process and its descendants and removes the cgroup.
func (s *sandbox) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	if s.reader != nil {
		s.reader.Close()
	}
	var err error
	if s.group != nil {
		err = s.group.Remove() // kills all processes in it, by the kernel's list
	}
	return errors.Join(err, killMarked(s.left))
}

// left returns the processes with the mark, and those without it in the session of the main
// process, unless a new process has the main one's number.
func (s *sandbox) left() []markedProcess {
	all := marked(envInstance + "=" + s.id)
	if _, again := present(s.session); s.session == 0 || again || !ownProc() {
		return all
	}
	for _, pid := range inSession(s.session) {
		if !processGone(pid) && !slices.ContainsFunc(all, func(f markedProcess) bool { return f.pid == pid }) {
			all = append(all, markedProcess{pid: pid})
		}
	}
	return all
}

func mainThread() bool { return unix.Gettid() == os.Getpid() }
