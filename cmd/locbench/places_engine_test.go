//go:build acceptance && engine && linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/cpuset"
	"github.com/locbench/locbench/internal/docker/dockertest"
	"github.com/locbench/locbench/internal/run/capacity"
	"github.com/locbench/locbench/internal/testenv"
)

// TestRun_InContainer runs locbench in a container, with the socket of the engine. It reaches its
// contenders at their own addresses; if it cannot, it says how to start it. Nothing is left.
func TestRun_InContainer(t *testing.T) {
	t.Parallel()
	testenv.Docker(t)
	const socket = "/var/run/docker.sock"
	if host := os.Getenv("DOCKER_HOST"); host != "" && host != "unix://"+socket {
		t.Skip("the engine is not behind " + socket)
	}
	image, dir := fmt.Sprintf("locbench-test-inside:%d", os.Getpid()), t.TempDir()
	writeFile(t, filepath.Join(dir, "locbench"), readFile(t, testenv.Locbench(t)))
	writeFile(t, filepath.Join(dir, "Dockerfile"), "FROM scratch\nCOPY locbench /locbench\nWORKDIR /tmp\nENTRYPOINT [\"/locbench\"]\n")
	dockerDo(t, "build", "-q", "-t", image, dir)
	t.Cleanup(func() { dockerDo(t, "rmi", "-f", image) })
	for network, fails := range map[string]string{"bridge": "", "host": "", "none": "start it with --network host"} {
		t.Run(network, func(t *testing.T) {
			cmd := exec.Command("docker", "run", "--rm", "--network", network, "-v", socket+":"+socket, image,
				"run", "--headless", "--runtime", "docker", "go-nethttp", "--no-checks", "--rounds", "1", "--connections", "1", "--duration", "300ms")
			out, err := cmd.CombinedOutput()
			testenv.Check(t, (err == nil) == (fails == "") && strings.Contains(string(out), fails), "%v, want %q:\n%s", err, fails, out)
			testenv.Check(t, !strings.Contains(string(out), "not ready"), "it waited in vain:\n%s", out)
		})
	}
}

// If the contender's quota leaves enough CPUs, contender and client are pinned to separate ones.
func TestRun_SeparateCPUs(t *testing.T) {
	if len(cpuset.Allowed()) < 2 || runtime.NumCPU() < 2 {
		t.Skip("one CPU: there is nothing to part")
	}
	runtimes(t, func(t *testing.T, kind string) {
		dir := t.TempDir()
		profile := profileFile(t, "contenders: [go-nethttp]\nruntime: "+kind+"\nlimits: {cpus: 0.5, memory: 64MiB}\n"+requestsOfCities+
			"compare_bodies: none\nchecks: {lifecycle: none, suites: []}\nstep_duration: 1s\nsteps: [2, {rate: 200}]\n")
		stdout, stderr := succeeds(t, dir, "run", "-p", profile, "--headless", "-o", "out")
		run, trials := read(t, filepath.Join(dir, "out"))
		i := run.Isolated
		testenv.Need(t, i != nil && i.Separate && len(i.Contender) == 1 && len(i.Client) != 0, "%+v", i)
		testenv.Check(t, !slices.Contains(i.Client, i.Contender[0]) && len(i.Client)+1 == len(cpuset.Allowed()),
			"contender on %q, client on %q", i.Contender, i.Client)
		in := trials[0].Instance
		testenv.Check(t, in != nil && slices.Equal(in.CPUSet, i.Contender), "the contender was given %+v", in)
		for _, s := range trials[0].Steps {
			if s.Load.FailedTotal() > 0 || s.Load.Succeeded == 0 || s.Load.ClientCPUs > float64(len(i.Client)) {
				t.Errorf("%s: %d succeeded, %d failed, the client had %g CPUs", s.Step.Name, s.Load.Succeeded, s.Load.FailedTotal(), s.Load.ClientCPUs)
			}
		}
		testenv.Contains(t, stdout+stderr, "contender on CPU "+i.Contender.String())
	})
}

// TestEngine_Elsewhere uses an engine in another network namespace, which is as unreachable as
// another machine. Problems are reported before anything is built or measured; the rest works:
// ports are published, counters and clock are the engine's.
func TestEngine_Elsewhere(t *testing.T) {
	t.Parallel()
	unix, tcp, _ := dockertest.Elsewhere(t)
	for what, c := range map[string]struct {
		host, want string
		args       []string
	}{
		"a forwarded socket":                             {unix, "its container ports are unreachable. Run locbench there, or set DOCKER_HOST=tcp://HOST:PORT", []string{"--runtime", "docker"}},
		"store in a container behind a forwarded socket": {unix, "its container ports are unreachable", []string{"--runtime", "process", "--store", "container"}},
		"embedded store":                                 {tcp, "cannot reach elasticsearch on loopback here; use --store container or --elastic", []string{"--runtime", "docker", "--store", "embedded"}},
		"store on loopback":                              {tcp, "cannot reach elasticsearch on loopback here", []string{"--runtime", "docker", "--elastic", "http://127.0.0.1:9"}},
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			run := startIn(t, dir, []string{"DOCKER_HOST=" + c.host}, append([]string{"run", "--headless", "-o", "out"}, c.args...)...)
			code, said := run.wait(time.Minute), run.stderr.String()
			testenv.Check(t, code == 1, "exit code %d", code)
			testenv.Contains(t, said, c.want, "--runtime process")
			_, err := os.Stat(filepath.Join(dir, "out"))
			testenv.Check(t, err != nil && !regexp.MustCompile("  (build|seed|start-up)  ").MatchString(said), "something ran:\n%s", said)
			left := dockerDo(t, "-H", c.host, "ps", "-aq", "--filter", "label=locbench.run") + dockerDo(t, "-H", c.host, "network", "ls", "-q", "--filter", "label=locbench.run")
			testenv.Equal(t, left, "", "left in the engine")
		})
	}
	t.Run("a runtime of locbench's choice", func(t *testing.T) {
		d := disturb(t, []string{"DOCKER_HOST=" + unix}, "run", "--headless", "-p", small(t, "go-nethttp", "auto"), "--no-checks", "--rounds", "1", "--connections", "1", "--duration", "300ms")
		run, trials := d.ends(0, "warning: using processes: the Docker engine at "+unix)
		if run.Profile.Runtime != bench.RuntimeProcess || len(trials) != 1 || trials[0].Instance.Runtime != bench.RuntimeProcess {
			t.Errorf("runtime %s, %s", run.Profile.Runtime, states(trials))
		}
	})
	t.Run("store next to the contenders", func(t *testing.T) {
		dir := t.TempDir()
		writeFile(t, filepath.Join(dir, "store"), readFile(t, built(t, "store")))
		writeFile(t, filepath.Join(dir, "Dockerfile"), "FROM scratch\nCOPY store /store\nENTRYPOINT [\"/store\"]\n")
		dockerDo(t, "-H", tcp, "build", "-t", "store:test", dir)
		profile := small(t, "go-nethttp", "docker")
		editFile(t, profile, "from: embedded", `from: container, image: "store:test"`)
		d := disturb(t, []string{"DOCKER_HOST=" + tcp}, "run", "--headless", "-p", profile, "--rounds", "1", "--duration", "1s")
		run, trials := d.ends(0, "CPUs     ")
		testenv.Need(t, len(trials) == 1 && len(trials[0].Steps) == 3, "%s", states(trials))
		there, info := strings.TrimSuffix(strings.TrimPrefix(tcp, "tcp://"), ":2375"), trials[0].Instance
		if !strings.HasPrefix(info.Address, there+":") || info.PID == 0 {
			t.Errorf("reached at %s, process %d", info.Address, info.PID) // one kernel, so its processes are visible
		}
		if len(run.Needs) != 1 || !strings.HasPrefix(run.Needs[0].URL, "http://"+there+":") || run.Needs[0].Seen == run.Needs[0].URL || !strings.HasSuffix(run.Needs[0].Seen, ":9200") {
			t.Errorf("needs %+v", run.Needs)
		}
		for _, step := range trials[0].Steps {
			// A busy machine may be too slow for the timeout of half a second, but nothing else
			// fails.
			if step.Load.Succeeded == 0 || step.Load.FailedTotal() > step.Load.Failed[bench.ErrTimeout] || step.After == nil {
				t.Errorf("step %s: %+v", step.Step.Name, step.Load.Failed)
			}
		}
		testenv.Check(t, run.Isolated != nil && !run.Isolated.Separate, "CPUs %+v", run.Isolated)
	})
}

// With --limits each limit has its own results folder, whose steps are the probes.
func TestCapacity_Limits(t *testing.T) {
	runtimes(t, func(t *testing.T, runtime string) {
		dir := t.TempDir()
		code, stdout, stderr := locbench(t, dir, short("--slo", "p50<4s,errors<50%", "--runtime", runtime, "--limits", "cpus=0.5,1", "--json")...)
		testenv.Need(t, code == 0 || code == 4, "exit code %d:\n%s", code, stderr)
		kept, err := os.ReadFile(filepath.Join(dir, "out", capacity.File))
		testenv.Check(t, err == nil && string(kept) == stdout, "%s and standard output differ: %v", capacity.File, err)
		r := capacityRecord(t, kept)
		testenv.Need(t, len(r.Points) == 2 && r.SLO == "p50<4s,errors<50%", "%+v", r)
		for i, p := range r.Points {
			// The capacity depends on the machine.
			if p.Result.State == capacity.Searching || p.Result.Rate > 200 || p.Failure != "" || p.Limits.CPUs != float64(i+1)/2 || len(p.Outcomes) == 0 {
				t.Errorf("%+v", p)
			}
			run, trials := readClean(t, filepath.Join(dir, "out", p.Dir))
			if run.State != bench.RunComplete || len(trials) != 1 || len(trials[0].Steps) != 1+len(p.Outcomes) || run.Search == "" {
				t.Fatalf("run %s, %d trials, %d probes", run.State, len(trials), len(p.Outcomes))
			}
			testenv.Check(t, trials[0].Instance.Limits.CPUs == p.Limits.CPUs,
				"it ran with %g CPUs, not with %g", trials[0].Instance.Limits.CPUs, p.Limits.CPUs)
			for j, o := range p.Outcomes {
				s := trials[0].Steps[o.Step]
				if o.Step != j+1 || s.Step.Rate != o.Rate || s.Load.Origin() != bench.FromScheduled || s.Load.Scheduled != s.Load.Sent+s.Load.Dropped {
					t.Errorf("probe %+v was step %+v", o, s.Step)
				}
			}
		}
		if code, stdout, stderr := locbench(t, dir, "report", "out"); code != 0 || strings.Count(stdout, "report.html") != 3 {
			t.Errorf("report: exit code %d\n%s%s", code, stdout, stderr)
		}
		if code, _, stderr := locbench(t, dir, "run", "--resume", "out/cpus-1"); code != 2 || !strings.Contains(stderr, "capacity search") {
			t.Errorf("resume: exit code %d\n%s", code, stderr)
		}
		if code, _, stderr := locbench(t, dir, short("--slo", "p50<4s", "--limits", "cpus=0.5")...); code != 2 || !strings.Contains(stderr, "already holds a search") {
			t.Errorf("again into the same folder: exit code %d\n%s", code, stderr)
		}
	})
}

// TestInterleaving interleaves two contenders: load and counters of each cover its own slices only.
func TestInterleaving(t *testing.T) {
	runtimes(t, func(t *testing.T, runtime string) {
		dir, services := t.TempDir(), wellAndTwice(t)
		stdout, stderr := succeeds(t, dir, "run", "-p", twoInterleaved(t, runtime, "2"), "--services", services, "--headless", "-o", "out")
		testenv.Contains(t, stderr, "faulty:a, round 1 of 2", "faulty:b, round 2 of 2", "\n faulty:b\n")
		testenv.Contains(t, stdout, "faulty:b")
		run, trials := readClean(t, filepath.Join(dir, "out"))
		testenv.Need(t, len(trials) == 4 && run.Profile.Interleave == 100*time.Millisecond,
			"%d trials, interleaved every %s", len(trials), run.Profile.Interleave)
		since := map[int]time.Time{}
		for _, trial := range trials {
			began, ok := trial.Interleaved()
			if other, known := since[trial.Trial.Round]; !ok || known && !other.Equal(began) {
				t.Errorf("%s is interleaved since %s, the other one since %s", trial.Trial, began, other)
			}
			since[trial.Trial.Round] = began
			for _, s := range trial.Steps {
				if s.Interleave == nil || s.Interleave.Count == 0 || s.Interleave.Length != 100*time.Millisecond || len(s.Interleave.With) != 1 {
					t.Fatalf("%s, %s: interleaving %+v", trial.Trial, s.Step.Name, s.Interleave)
				}
				// A busy machine may be too slow for the timeout of half a second, but nothing else fails.
				if l := s.Load; l.Succeeded == 0 || l.FailedTotal() != l.Failed[bench.ErrTimeout] || l.Scheduled != l.Sent+l.Dropped {
					t.Errorf("%s, %s: %d succeeded, failed %v, %d of %d sent", trial.Trial, s.Step.Name, l.Succeeded, l.Failed, l.Sent, l.Scheduled)
				}
				// Its counters cover its own slices: the time between them is recorded too.
				if cpu, ok := s.CPU(); !ok || cpu <= 0 || s.Interleave.Count > 1 && s.Interleave.Waited <= 0 || s.Interleave.WaitedCPU < 0 {
					t.Errorf("%s, %s: %s of CPU time, waited %s", trial.Trial, s.Step.Name, cpu, s.Interleave.Waited)
				}
			}
		}
		code, stdout, stderr := locbench(t, dir, "compare", "out", "faulty:a", "faulty:b")
		testenv.Check(t, code == 0 && strings.Contains(stdout, "need ≥ 6"), "exit code %d\n%s%s", code, stdout, stderr)
	})
}

// Ctrl-C ends a search gracefully: nothing is left, and the finished probes are kept.
func TestCapacity_Interrupted(t *testing.T) {
	runtimes(t, func(t *testing.T, runtime string) {
		dir := t.TempDir()
		c := startLocbench(t, dir, short("--slo", "p50<4s", "--runtime", runtime, "--max-rate", "1000000", "--resolution", "1%")...)
		c.waitEvent(filepath.Join(dir, "out"), stepStarted(2))
		c.signal(os.Interrupt)
		testenv.Equal(t, c.wait(time.Minute), 130, c.stderr.String())
		run, trials := readClean(t, filepath.Join(dir, "out"))
		testenv.Check(t, run.State == bench.RunInterrupted && trials[0].State == bench.TrialAborted,
			"run %s, trial %s", run.State, trials[0].State)
		data := readFile(t, filepath.Join(dir, "out", capacity.File))
		if p := capacityRecord(t, []byte(data)).Points[0]; len(p.Outcomes) < 1 || p.Result.State != capacity.Searching || !strings.Contains(p.Failure, "interrupted") {
			t.Errorf("%+v", p)
		}
	})
}
