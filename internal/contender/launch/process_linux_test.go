package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/host/cgroup"
	"github.com/locbench/locbench/internal/testenv"
)

// shell launches a script as a contender without a cgroup: with small programs that every system
// has, and no limit of their time.
func shell(t *testing.T, script string, env map[string]string) (*process, error) {
	t.Helper()
	spec := bench.LaunchSpec{RunID: runID(t), Name: "t", Artifact: bench.Artifact{Command: []string{"sh", "-c", script}}, Env: env}
	p := newProcess(newSandbox(cgroup.Tree{Root: t.TempDir()}, spec, nil), spec)
	if err := p.launch(t.Context(), spec); err != nil {
		return nil, err
	}
	stopAtEnd(t, p)
	return p, nil
}

func shelled(t *testing.T, script string, env map[string]string) *process {
	t.Helper()
	p := testenv.Must(shell(t, script, env))(t)
	return p
}

func TestShell_ExitCode(t *testing.T) {
	inst := shelled(t, "echo last words; exit 3", nil)
	if exit := ended(t, inst); exit.Code != 3 || exit.Signal != "" || exit.OOMKilled || len(inst.Logs()) != 1 {
		t.Errorf("%+v %v", exit, inst.Logs())
	}
	if inst.Diagnose(t.Context()) != "" || inst.Listens() != nil || inst.BaseURL() != "http://127.0.0.1:0" {
		t.Errorf("%q, listens at %v, %s", inst.Diagnose(t.Context()), inst.Listens(), inst.BaseURL())
	}
	r, err := inst.Stop(t.Context(), time.Second)
	testenv.Check(t, err == nil && r.ExitedBeforeStop && r.Exit.Code == 3, "%+v, %v", r, err)
	if _, err := inst.Usage(t.Context()); err == nil || err.Error() != "process exited: exit code 3" {
		t.Errorf("counters of an exited process: %v", err)
	}
}

func TestShell_KilledExternally(t *testing.T) {
	inst := shelled(t, "kill -KILL $$", nil)
	exit := ended(t, inst)
	testenv.Check(t, exit.Code == 137 && exit.Signal == "SIGKILL" && !exit.OOMKilled, "%+v", exit)
}

func TestShell_StopGraceful(t *testing.T) {
	inst := shelled(t, "trap 'echo stopping; exit 0' TERM; sleep 600 >/dev/null 2>&1 & echo up; wait", nil)
	waitLog(t, inst, "up")
	r, err := inst.Stop(t.Context(), time.Minute)
	testenv.Check(t, err == nil && r.Graceful && !r.Killed && !r.ExitedBeforeStop && r.Exit.Code == 0,
		"%+v, %v", r, err)
	waitLog(t, inst, "stopping")
	again, err := inst.Stop(t.Context(), 0)
	testenv.Check(t, err == nil && again == r, "again %+v, %v", again, err)
}

// TestShell_Stopped: a process that is stopped can exit all the same.
func TestShell_Stopped(t *testing.T) {
	inst := shelled(t, "trap 'exit 0' TERM; kill -STOP $$; sleep 600 >/dev/null 2>&1 & wait", nil)
	testenv.Until(t, time.Minute, "it is stopped", func() bool { return inst.Diagnose(t.Context()) == "process stopped externally (SIGSTOP)" })
	r, err := inst.Stop(t.Context(), time.Minute)
	testenv.Check(t, err == nil && r.Graceful, "%+v, %v", r, err)
	testenv.Equal(t, processExit(nil).Code, -1)
}

// TestShell_StopSignal: a process gets the signal of its manifest.
func TestShell_StopSignal(t *testing.T) {
	for signal, trap := range map[string]string{"SIGUSR1": "USR1", "2": "INT", "": "TERM"} {
		inst := shelled(t, "trap 'exit 0' "+trap+"; echo up; sleep 600 >/dev/null 2>&1 & wait", nil)
		inst.signal = newProcess(nil, bench.LaunchSpec{Signal: signal}).signal
		waitLog(t, inst, "up")
		r, err := inst.Stop(t.Context(), time.Minute)
		testenv.Check(t, err == nil && r.Graceful && r.SignalName() == "SIG"+trap, "%s: %+v, %v", signal, r, err)
	}
}

// TestShell_StopDeaf: a process that ignores SIGTERM is killed with its children.
func TestShell_StopDeaf(t *testing.T) {
	inst := shelled(t, "trap '' TERM; sleep 600 >/dev/null 2>&1 & echo child $!; wait", nil)
	var child int
	fmt.Sscanf(waitLog(t, inst, "child"), "child %d", &child)
	testenv.Need(t, exists(child), "no child: %v", inst.Logs())
	r, err := inst.Stop(t.Context(), time.Millisecond)
	if err != nil || !r.Killed || r.Handled || r.Graceful || r.Exit.Signal != "SIGKILL" || r.Exit.OOMKilled {
		t.Errorf("%+v, %v", r, err)
	}
	gone(t, child)
	gone(t, inst.Info().PID)
}

// TestShell_StopHung: a process that handles SIGTERM and continues to run is not one that ignores
// it.
func TestShell_StopHung(t *testing.T) {
	inst := shelled(t, "trap 'echo stopping' TERM; echo up; while :; do sleep 600 >/dev/null 2>&1 & wait; done", nil)
	waitLog(t, inst, "up")
	r, err := inst.Stop(t.Context(), time.Millisecond)
	testenv.Check(t, err == nil && r.Killed && r.Handled, "%+v, %v", r, err)
	again, err := inst.Stop(t.Context(), 0)
	testenv.Check(t, err == nil && again == r, "again %+v, %v", again, err)
}

// TestShell_StopWithoutMarks: a process that has emptied its environment is killed too.
func TestShell_StopWithoutMarks(t *testing.T) {
	inst := shelled(t, "env -i sleep 600 >/dev/null 2>&1 & echo child $!; wait", nil)
	var child int
	fmt.Sscanf(waitLog(t, inst, "child"), "child %d", &child)
	testenv.Until(t, time.Minute, "it has no environment", func() bool {
		env, err := cgroup.ReadProc(child, "environ")
		line, _ := cgroup.ReadProc(child, "cmdline")
		return err == nil && len(env) == 0 && strings.HasPrefix(string(line), "sleep")
	})
	testenv.OK(t, testenv.Err(inst.Stop(t.Context(), time.Minute)))
	gone(t, child)
}

func TestShell_LogIsBounded(t *testing.T) {
	inst := shelled(t, "i=0; while [ $i -lt 1500 ]; do i=$((i+1)); echo line $i; done", nil)
	ended(t, inst)
	if logs := inst.Logs(); len(logs) > 500 || logs[len(logs)-1].Text != "line 1500" {
		t.Errorf("%d lines, the last %v", len(logs), logs[len(logs)-1])
	}
}

// TestShell_WithoutGroup: the missing limits are reported, and the counters are those of /proc.
func TestShell_WithoutGroup(t *testing.T) {
	spec := bench.LaunchSpec{RunID: runID(t), Name: "t", Artifact: bench.Artifact{Command: []string{"sh", "-c", "echo up; sleep 600 >/dev/null 2>&1 & wait"}},
		Limits: bench.Limits{CPUs: 0.5, CPUSet: 1, Memory: 64 << 20, PIDs: 50}}
	p := newProcess(newSandbox(cgroup.Tree{Root: t.TempDir()}, spec, nil), spec)
	testenv.OK(t, p.launch(t.Context(), spec))
	stopAtEnd(t, p)
	info := p.Info()
	if info.LimitsEnforced || !strings.HasPrefix(info.LimitsNote, "CPU quota, memory, processes: ") || strings.Contains(info.LimitsNote, "CPU set") {
		t.Errorf("%+v", info)
	}
	waitLog(t, p, "up")
	u, err := p.Usage(t.Context())
	if err != nil || u.Source != "/proc" || u.Memory == nil || u.Memory.PeakSource != "VmHWM" || *u.Processes < 1 || u.Throttling != nil {
		t.Errorf("%+v, %v", u, err)
	}
	status, _ := cgroup.ReadProc(info.PID, "status")
	testenv.Check(t, strings.Contains(string(status), "Cpus_allowed_list:\t"+info.CPUSet.String()+"\n"),
		"not held to CPU %s", info.CPUSet)
}

func TestProcessCannotStart(t *testing.T) {
	for _, command := range [][]string{{"/absent/program"}, {os.DevNull}, {}} {
		spec := bench.LaunchSpec{Name: "t", Artifact: bench.Artifact{Command: command}}
		var err error
		if len(command) == 0 {
			_, err = Process{}.Launch(t.Context(), spec)
		} else {
			err = newProcess(newSandbox(cgroup.Tree{Root: t.TempDir()}, spec, nil), spec).launch(t.Context(), spec)
		}
		testenv.Check(t, err != nil && strings.HasPrefix(err.Error(), "start "), "%v: %v", command, err)
	}
}

func TestProcessCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	spec := bench.LaunchSpec{RunID: runID(t), Name: "t", Artifact: bench.Artifact{Command: []string{"sleep", "600"}}}
	_, err := (Process{}).Launch(ctx, spec)
	testenv.Check(t, errors.Is(err, context.Canceled), "%v", err)
	p := newProcess(newSandbox(cgroup.Tree{Root: t.TempDir()}, spec, nil), spec) // canceled while it starts
	err = p.launch(ctx, spec)
	testenv.Check(t, errors.Is(err, context.Canceled), "%v", err)
	left := marked(envRun + "=" + runID(t))
	testenv.Check(t, len(left) <= 0, "left: %v", left)
}
