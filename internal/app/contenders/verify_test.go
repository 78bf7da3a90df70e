package contenders

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/profiles"
)

func TestVerifyProfile(t *testing.T) {
	p, err := profile.Parse("verify.yaml", verifyProfile)
	testenv.OK(t, err)
	if p.Limits.CPUs != 1.5 || p.Limits.Memory != 512<<20 || len(p.Checks.Lifecycle) != len(bench.LifecycleChecks()) || p.Runtime != bench.RuntimeDocker {
		t.Errorf("%+v", p)
	}
}

// TestVerifyLoadsAsProfilesDo: a step of 'locbench services verify' has the most connections of all
// bundled profiles, and the load is short.
func TestVerifyLoadsAsProfilesDo(t *testing.T) {
	p, err := profile.Parse("verify.yaml", verifyProfile)
	testenv.OK(t, err)
	list, err := profile.List(profiles.FS)
	testenv.OK(t, err)
	for _, other := range list {
		if profile.MostConnections(other.Steps) > profile.MostConnections(p.Steps) {
			t.Errorf("it loads with %d connections, profile %s with %d", profile.MostConnections(p.Steps), other.Name, profile.MostConnections(other.Steps))
		}
	}
	if d := p.LoadDuration(); d > 30*time.Second {
		t.Errorf("the load takes %s", d)
	}
}

func lifecyclePassed() (list []bench.CheckResult) {
	for _, name := range bench.LifecycleChecks() {
		list = append(list, bench.CheckResult{Group: "lifecycle", Name: name, Status: bench.CheckPassed})
	}
	return list
}

func goodTrial() bench.TrialResult {
	start := 40 * time.Millisecond
	return bench.TrialResult{
		State: bench.TrialComplete, Started: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), StartUp: &start,
		Service:  bench.Service{Name: "web", Endpoints: []string{"get"}},
		Instance: &bench.InstanceInfo{LimitsEnforced: true}, Artifact: bench.Artifact{ImageSize: 9 << 20},
		Checks: append(lifecyclePassed(), bench.CheckResult{Group: "closest", Name: "of others", Status: bench.CheckSkipped},
			bench.CheckResult{Group: "get", Name: "one", Status: bench.CheckPassed}),
		Steps: []bench.StepResult{{
			Step: bench.Step{Name: "4 connections", Connections: 4}, Load: bench.Load{Sent: 300, Succeeded: 300, Elapsed: 3 * time.Second},
			After: &bench.Usage{Memory: &bench.Memory{Peak: 7 << 20, Limit: 512 << 20}},
		}},
		LastLog: []bench.LogLine{{Text: "the last word\x1b[2J"}},
	}
}

func TestOutcome(t *testing.T) {
	for want, spoil := range map[string]func(*bench.TrialResult){
		"": func(*bench.TrialResult) {},
		"check get two: expected 404, got 500": func(l *bench.TrialResult) {
			l.Checks = append(l.Checks, bench.CheckResult{Group: "get", Name: "two", Status: bench.CheckFailed, Detail: "expected 404, got 500"})
		},
		"no passing check in get":                            func(l *bench.TrialResult) { l.Checks[len(l.Checks)-1].Status = bench.CheckSkipped },
		"lifecycle not checked: no result of no-environment": func(l *bench.TrialResult) { l.Checks = l.Checks[1:] },
		"lifecycle not checked: no-store was skipped: it uses none": func(l *bench.TrialResult) {
			l.Checks[1].Status, l.Checks[1].Detail = bench.CheckSkipped, "it uses none"
		},
		"out of memory: the kernel killed 2 processes": func(l *bench.TrialResult) { l.Steps[0].After.Memory.OOMKills = 2 },
		"used 7 MiB of memory, above its limit of 6 MiB": func(l *bench.TrialResult) {
			l.Steps[0].After.Memory.Limit = 6 << 20
		},
		"load 4 connections: 3 of 300 requests failed (5xx 2, timeout 1)": func(l *bench.TrialResult) {
			l.Steps[0].Load.Failed = map[bench.ErrorKind]int64{bench.ErrTimeout: 1, "5xx": 2}
		},
		"exit code 3": func(l *bench.TrialResult) { l.State, l.Failure = bench.TrialFailed, "exit code 3" },
		"limits not enforced: no swap limit": func(l *bench.TrialResult) {
			l.Instance = &bench.InstanceInfo{LimitsNote: "no swap limit"}
		},
	} {
		t.Run(want, func(t *testing.T) {
			trial := goodTrial()
			spoil(&trial)
			wrong := faults(trial)
			if want == "" {
				testenv.Equal(t, wrong, nil)
			} else {
				testenv.Equal(t, wrong, []string{want})
			}
			var out bytes.Buffer
			writeOutcome(&out, trial, wrong)
			text := out.String()
			for part, there := range map[string]bool{
				want: true, ": verified\n": want == "", "last word": want != "", "closest": false, "\x1b": false,
				"short load           100/s with 4 connections": true, "start-up             40.0 ms\n": true,
				"image                9 MiB\n": true, "peak memory          7 MiB\n": true,
			} {
				if strings.Contains(text, part) != there {
					t.Errorf("%q: %t\n%s", part, !there, text)
				}
			}
		})
	}
}

// TestOutcomeWithoutRequestLog verifies a variant that logs no requests on purpose.
func TestOutcomeWithoutRequestLog(t *testing.T) {
	trial := goodTrial()
	for i, c := range trial.Checks {
		if c.Name == bench.CheckLogsRequests {
			trial.Checks[i].Status = bench.CheckSkipped
		}
	}
	if wrong := faults(trial); len(wrong) != 1 {
		t.Errorf("with the log on: %q", wrong)
	}
	trial.Service.Env = map[string]string{"ACCESS_LOG": "off"}
	if wrong := faults(trial); len(wrong) != 0 {
		t.Errorf("with the log off: %q", wrong)
	}
}

// TestVerifyLeavesNoFile: a verification makes no folder for temporary files, which it would leave
// when it is killed.
func TestVerifyLeavesNoFile(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "absent"))
	t.Setenv("DOCKER_HOST", "unix://"+t.TempDir()+"/no.sock")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out bytes.Buffer
	env := console.Env{Stdout: &out, Stderr: &out, Getenv: func(string) string { return "" }}
	err := Verify(ctx, env, VerifyOptions{Names: []string{"go-nethttp"}, Out: filepath.Join(t.TempDir(), "out")})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v\n%s", err, out.String())
	}
}
