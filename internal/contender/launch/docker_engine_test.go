//go:build acceptance && engine

package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/cpuset"
	"github.com/locbench/locbench/internal/docker"
	"github.com/locbench/locbench/internal/docker/dockertest"
	"github.com/locbench/locbench/internal/testenv"
)

func newDocker(t *testing.T, e *docker.Engine) *Docker {
	t.Helper()
	d, err := NewDocker(t.Context(), e, runID(t), false)
	testenv.OK(t, err)
	t.Cleanup(func() {
		testenv.OK(t, d.Close(context.Background()))
		left := dockertest.Left(t, e, runID(t))
		testenv.Check(t, len(left) <= 0, "left: %v", left)
	})
	return d
}

func TestDocker(t *testing.T) {
	t.Parallel()
	e := dockertest.Engine(t)
	image := dockertest.Image(t, e)
	spec := func(t *testing.T, args ...string) bench.LaunchSpec {
		return bench.LaunchSpec{RunID: runID(t), Name: "trial:1", Artifact: bench.Artifact{Image: image, Command: args}, Port: 8080}
	}
	launch := func(t *testing.T, d *Docker, s bench.LaunchSpec) bench.Instance {
		t.Helper()
		inst, err := d.Launch(t.Context(), s)
		testenv.OK(t, err)
		stopAtEnd(t, inst)
		return inst
	}
	t.Run("HalfCPU", func(t *testing.T) {
		s := spec(t, "spin", "2", "sleep")
		s.Limits = bench.Limits{CPUs: 0.5, CPUSet: 4, Memory: 64 << 20, PIDs: 50}
		inst := launch(t, newDocker(t, e), s)
		info := inst.Info()
		if !info.LimitsEnforced || info.LimitsNote != "" || info.ID == "" || !slices.Equal(info.CPUSet, cpuset.UpTo(e.Info().CPUs).First(4)) {
			t.Errorf("%+v", info)
		}
		since := time.Since(info.StartedAt)
		testenv.Check(t, since >= 0 && since <= 10*time.Second, "started %v ago", since)
		checkQuota(t, inst)
		if status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", info.PID)); e.SameHost() && !strings.Contains(string(status), "Cpus_allowed_list:\t"+info.CPUSet.String()+"\n") {
			t.Errorf("its process is not limited to CPU %s", info.CPUSet)
		}
		u, err := inst.Usage(t.Context())
		if err != nil || u.Memory == nil || u.Memory.Limit != 64<<20 || u.Memory.Peak == 0 || u.Threads == nil || *u.Threads < 2 {
			t.Errorf("%+v %+v, %v", u, u.Memory, err)
		}
		testenv.Check(t, !e.Local() || strings.HasPrefix(u.Source, "cgroup v") && info.PID != 0 && *u.Processes == 1,
			"a local engine's counters come from %s (PID %d)", u.Source, info.PID)
		// The engine's values are about the same.
		stats, err := inst.(*container).Container.Usage(t.Context())
		testenv.Check(t, err == nil && stats.CPU >= u.CPU && stats.CPU-u.CPU <= 2*time.Second,
			"docker stats: %+v, %v; files: %v", stats, err, u.CPU)
	})
	t.Run("OOM", func(t *testing.T) {
		s := spec(t, "hog", "300", "sleep")
		s.Limits = bench.Limits{Memory: 64 << 20}
		inst := launch(t, newDocker(t, e), s)
		exit := ended(t, inst)
		testenv.Check(t, exit.OOMKilled && exit.Code == 137, "%+v", exit)
		testenv.Fails(t, testenv.Err(inst.Usage(t.Context())), "out of memory")
		if r, err := inst.Stop(t.Context(), time.Second); err != nil || !r.ExitedBeforeStop || !r.Exit.OOMKilled {
			t.Errorf("%+v, %v", r, err)
		}
	})
	t.Run("Hardened", func(t *testing.T) {
		if !e.SameHost() {
			t.Skip("needs an engine on this machine")
		}
		s := spec(t, "sleep")
		s.More = bench.Privileges{Capabilities: []string{"NET_RAW"}, Processes: 5000}
		pid := launch(t, newDocker(t, e), s).Info().PID
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		testenv.OK(t, err)
		// CHOWN, DAC_OVERRIDE, FOWNER, KILL, SETGID, SETUID, NET_BIND_SERVICE and NET_RAW by the
		// numbers of linux/capability.h.
		for _, line := range []string{"CapBnd:\t00000000000024eb", "CapEff:\t00000000000024eb", "NoNewPrivs:\t1"} {
			testenv.Check(t, strings.Contains(string(status), line+"\n"), "not %q:\n%s", line, status)
		}
		testenv.Equal(t, kernelProcesses(t, pid), "5000", "the kernel allows")
	})
	t.Run("AsInProduction", func(t *testing.T) {
		if !e.SameHost() {
			t.Skip("needs an engine on this machine")
		}
		s := spec(t, "serve", "8080")
		s.Signal = "SIGINT" // the helper handles only SIGTERM
		s.Confined = bench.Confined{ReadOnly: true, Tmpfs: []string{"/tmp:size=1m"}, ShmSize: 8 << 20, User: "1000:1001"}
		inst := launch(t, newDocker(t, e), s)
		proc := fmt.Sprintf("/proc/%d/", inst.Info().PID)
		status, err := os.ReadFile(proc + "status")
		testenv.OK(t, err)
		mounts, err := os.ReadFile(proc + "mounts")
		testenv.OK(t, err)
		for _, want := range []string{"Uid:\t1000\t", "Gid:\t1001\t", " / overlay ro,", " /tmp tmpfs rw,", "size=1024k", " /dev/shm tmpfs rw,", "size=8192k"} {
			testenv.Check(t, strings.Contains(string(status)+string(mounts), want),
				"no %q in\n%s%s", want, status, mounts)
		}
		if r, err := inst.Stop(t.Context(), time.Minute); err != nil || r.Killed || r.Signal != "SIGINT" || r.Exit.Code == 0 {
			t.Errorf("%+v, %v", r, err)
		}
	})
	t.Run("Neighbors", func(t *testing.T) {
		for inside, want := range map[bool]string{true: "status 404", false: "deadline exceeded"} {
			d, err := NewDocker(t.Context(), e, runID(t), inside)
			testenv.OK(t, err)
			t.Cleanup(func() { _ = d.Close(context.Background()) })
			one := launch(t, d, spec(t, "serve", "8080"))
			waitLog(t, one, "listening")
			other := launch(t, d, spec(t, "get", "http://"+one.(*container).NetworkAddress()+"/"))
			waitLog(t, other, want)
		}
	})
	t.Run("Reach", func(t *testing.T) {
		d := newDocker(t, e)
		if e.SameHost() && (!d.Network.Direct() || !e.Local() || net.ParseIP(d.HostAddress()) == nil) {
			t.Errorf("direct %v, local %v, host %s", d.Network.Direct(), e.Local(), d.HostAddress())
		}
		inst := launch(t, d, spec(t, "serve", "8080"))
		waitLog(t, inst, "listening")
		get(t, inst)
		d.Network.Local = false // as with an engine elsewhere
		published := launch(t, d, spec(t, "serve", "8080"))
		waitLog(t, published, "listening")
		get(t, published)
		if host, _, _ := net.SplitHostPort(published.Info().Address); host != "127.0.0.1" || d.HostAddress() != "host.docker.internal" {
			t.Errorf("published at %s, host known as %s", published.Info().Address, d.HostAddress())
		}
		d.Network.Local = true
	})
	t.Run("HostFromContainer", func(t *testing.T) {
		d := newDocker(t, e)
		if !d.Network.Direct() {
			t.Skip("the engine's network is not this machine's")
		}
		l, err := net.Listen("tcp", net.JoinHostPort(d.HostAddress(), "0"))
		testenv.OK(t, err)
		server := http.Server{Handler: http.NotFoundHandler()}
		served := make(chan struct{})
		go func() { defer close(served); server.Serve(l) }()
		defer func() { server.Close(); <-served }()
		_, port, err := net.SplitHostPort(l.Addr().String())
		testenv.OK(t, err)
		for _, at := range []string{l.Addr().String(), net.JoinHostPort("host.docker.internal", port)} {
			inst := launch(t, d, spec(t, "get", "http://"+at+"/"))
			waitLog(t, inst, "status 404")
		}
	})
	t.Run("Canceled", func(t *testing.T) {
		for ms := 0; ms < 450; ms += 90 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(ms)*time.Millisecond)
			d, err := NewDocker(ctx, e, runID(t), false)
			if err == nil {
				var inst bench.Instance
				inst, err = d.Launch(ctx, spec(t, "deaf", "print", "deaf", "sleep"))
				if err == nil {
					<-ctx.Done()
					_, err = inst.Stop(ctx, 0)
				} else if errors.Is(err, context.DeadlineExceeded) {
					err = nil
				}
				err = errors.Join(err, d.Close(ctx))
			} else if errors.Is(err, context.DeadlineExceeded) {
				err = nil
			}
			cancel()
			left := dockertest.Left(t, e, runID(t))
			testenv.Check(t, err == nil && len(left) <= 0, "canceled after %d ms: %v, left %v", ms, err, left)
		}
	})
}

// TestDockerElsewhere uses an engine in another network namespace, whose network has the same
// address as one here: it must not count as local.
func TestDockerElsewhere(t *testing.T) {
	here := dockertest.Engine(t)
	mine := newDocker(t, here)
	testenv.Need(t, len(mine.Network.Subnets) != 0, "network %+v", mine.Network)
	subnet := mine.Network.Subnets[0]
	unix, tcp, _ := dockertest.Elsewhere(t, "--default-address-pool", fmt.Sprintf("base=%s,size=%d", subnet, subnet.Bits()))
	for _, host := range []string{unix, tcp} {
		t.Run(host[:3], func(t *testing.T) {
			t.Setenv("DOCKER_HOST", host)
			e, err := docker.Connect(t.Context())
			testenv.OK(t, err)
			t.Cleanup(func() { e.Close() })
			d := newDocker(t, e)
			testenv.Need(t, d.Network.Gateway == mine.Network.Gateway,
				"gateways %s and %s: the test proves nothing", d.Network.Gateway, mine.Network.Gateway)
			if d.Network.Direct() || e.Local() || d.HostAddress() != "host.docker.internal" {
				t.Errorf("it is taken for this machine's: direct %v, local %v, host %s (here %s)", d.Network.Direct(), e.Local(), d.HostAddress(), mine.HostAddress())
			}
			ports, loopback := e.Reach()
			testenv.Check(t, ports == (host == tcp) && !loopback, "ports within reach %v, loopback %v", ports, loopback)
			if offset, err := e.ClockOffset(t.Context()); err != nil || offset == 0 {
				t.Errorf("its clock was not asked: %v, %v", offset, err)
			}
			if host == unix {
				return
			}
			image := dockertest.Image(t, e)
			inst, err := d.Launch(t.Context(), bench.LaunchSpec{
				RunID: runID(t), Name: "trial", Artifact: bench.Artifact{Image: image, Command: []string{"serve", "8080"}}, Port: 8080, Limits: bench.Limits{Memory: 64 << 20},
			})
			testenv.OK(t, err)
			stopAtEnd(t, inst)
			waitLog(t, inst, "listening")
			get(t, inst)
			if u, err := inst.Usage(t.Context()); err != nil || u.Memory == nil || u.Memory.Limit != 64<<20 {
				t.Errorf("%+v, %v", u, err)
			}
		})
	}
	// A socket that is forwarded on this machine leads to this machine.
	t.Run("forwarded", func(t *testing.T) {
		socket, ok := strings.CutPrefix(here.Host(), "unix://")
		if !ok {
			t.Skip("this machine's engine is not reached through a socket file")
		}
		t.Setenv("DOCKER_HOST", "unix://"+forwarded(t, socket))
		e, err := docker.Connect(t.Context())
		testenv.OK(t, err)
		t.Cleanup(func() { e.Close() })
		if d := newDocker(t, e); !d.Network.Direct() || !e.Local() {
			t.Error("this machine's engine behind a forwarded socket is taken for another's")
		}
	})
}

// forwarded returns a socket that forwards its connections to another one, like ssh.
func forwarded(t *testing.T, target string) string {
	t.Helper()
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "forwarded.sock"))
	testenv.OK(t, err)
	var all sync.WaitGroup
	all.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("unix", target)
			if err != nil {
				in.Close()
				continue
			}
			for _, pair := range [][2]net.Conn{{in, out}, {out, in}} {
				all.Go(func() {
					io.Copy(pair[0], pair[1])
					pair[0].Close()
				})
			}
		}
	})
	t.Cleanup(func() { l.Close(); all.Wait() })
	return l.Addr().String()
}

// kernelProcesses returns the limit of processes and threads of the cgroup of a process.
func kernelProcesses(t *testing.T, pid int) string {
	t.Helper()
	groups, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	testenv.OK(t, err)
	for line := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		for _, dir := range []string{"/sys/fs/cgroup/pids", "/sys/fs/cgroup"} {
			if limit, err := os.ReadFile(dir + parts[2] + "/pids.max"); err == nil && (parts[1] == "pids" || parts[1] == "") {
				return strings.TrimSpace(string(limit))
			}
		}
	}
	t.Fatalf("no limit of processes found for %s", groups)
	return ""
}
