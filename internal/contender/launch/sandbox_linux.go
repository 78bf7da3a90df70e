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

	"locbench/internal/bench"
	"locbench/internal/bench/cpuset"
	"locbench/internal/host/cgroup"
)

// sandbox is what surrounds one process: its group, its limits, its marks.
type sandbox struct {
	id      string // of the instance
	limits  bench.Limits
	cpus    cpuset.Set     // that it is kept to; none: all
	allowed cpuset.Set     // those it may use without a CPU set, where that is not what this process may
	pinned  bool           // by the affinity of its threads, since no group keeps it to them
	group   *cgroup.Group  // nil: there is none
	reader  *cgroup.Reader // nil: /proc is read
	missing []string       // limits that are not enforced

	mu      sync.Mutex
	closed  bool
	session int // that of the process, once it was started
}

// newSandbox makes the group. It does not fail: limits that cannot be had are in missing.
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
		s.loseGroup(err)
		return s
	}
	s.group, s.missing, s.pinned = group, group.Missing(), group.NoCPUSet() != nil
	if s.reader, err = group.Reader(); err != nil {
		s.reader = nil // the figures of /proc do
	}
	return s
}

// loseGroup notes that without a group no limit is enforced.
func (s *sandbox) loseGroup(why error) {
	if s.group != nil {
		_ = s.group.Remove() // empty; what is left of it, clean finds
	}
	if s.reader != nil {
		s.reader.Close()
	}
	s.group, s.reader, s.missing, s.pinned = nil, nil, nil, true
	var names []string
	add := func(wanted bool, name string) {
		if wanted {
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

// pin narrows the affinity of the calling thread, hence of what it starts, to the CPU set where no
// group enforces that. Anybody may do so; the process could widen it again, but no contender has a
// reason to.
func (s *sandbox) pin() error {
	cpus := s.cpus
	if len(cpus) == 0 {
		cpus = s.allowed
	}
	// This thread may itself be kept to other CPUs, as a client that has its own is.
	if len(cpus) == 0 || len(s.allowed) == 0 && !s.pinned {
		return nil
	}
	return cpuset.KeepThread(cpus) // which does nothing but wait afterwards
}

// start starts cmd so that not one instruction of it runs outside the group. On cgroup v2 the
// kernel starts a process in a group (clone3). On v1 a process is born into the groups of the
// thread that starts it, and a single thread may change its groups: so this thread enters them,
// starts the process, and leaves. Neither needs a shell or a helper program in between, which would
// be charged to the contender and shift its environment and start.
//
// It is called on a locked thread that lives as long as the process.
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
		return s.startWithout(cmd, fmt.Errorf("start in the group: %w", err))
	}
	leave, err := s.group.Enter()
	if err != nil {
		return s.startWithout(cmd, err)
	}
	err = cmd.Start()
	if e := leave(); e != nil && err == nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return fmt.Errorf("leave cgroup: %w", e)
	}
	return err
}

// refused reports whether it may have been the group that was refused: no right to move a process
// from here to there (EACCES), an old kernel (ENOSYS, EINVAL), a group that takes no process
// (EBUSY, EOPNOTSUPP) or is none any more (EBADF, ENODEV).
func refused(err error) bool {
	return slices.ContainsFunc([]syscall.Errno{
		syscall.EACCES, syscall.EPERM, syscall.ENOSYS, syscall.EINVAL, syscall.EBUSY, syscall.EOPNOTSUPP, syscall.EBADF,
		syscall.ENODEV,
	}, func(e syscall.Errno) bool { return errors.Is(err, e) })
}

// startWithout starts cmd outside a group that cannot be had.
func (s *sandbox) startWithout(cmd *exec.Cmd, why error) error {
	s.loseGroup(why)
	if err := s.pin(); err != nil {
		return err
	}
	*cmd = exec.Cmd{ // one starts once only
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
		// A group of cgroup v2 counts CPU time alone where its controllers cannot be turned on, as
		// in a container whose own processes are in the group above.
		if p, e := procUsage(s.group.PIDs()); e == nil {
			u.Source, u.Memory, u.Threads = u.Source+"; memory and threads of /proc", p.Memory, p.Threads
		}
	}
	return u, err
}

// follow adds the figures of /proc to those of the group.
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

// oomKilled reports whether the kernel has killed a process of the group for lack of memory.
func (s *sandbox) oomKilled() bool {
	u, err := s.usage(0)
	return s.reader != nil && err == nil && u.Memory != nil && u.Memory.OOMKills > 0
}

// close kills what is left of the process and its descendants and removes the group.
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
		err = s.group.Remove() // kills all that is in it, by the kernel's own list
	}
	return errors.Join(err, killMarked(s.left))
}

// left returns the processes that carry the mark, and those that have lost it but are in the session of
// the main process still. That one has ended: another process of its number has another session.
func (s *sandbox) left() []found {
	all := marked(envInstance + "=" + s.id)
	if _, again := present(s.session); s.session == 0 || again || !ownProc() {
		return all
	}
	for _, pid := range inSession(s.session) {
		if !processGone(pid) && !slices.ContainsFunc(all, func(f found) bool { return f.pid == pid }) {
			all = append(all, found{pid: pid})
		}
	}
	return all
}

func mainThread() bool { return unix.Gettid() == os.Getpid() }
