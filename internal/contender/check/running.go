package check

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/text/contact"
)

const (
	// logPatience is the time that a log line may take from the contender to the instance's log.
	logPatience = 3 * time.Second
	canaries    = 3 // requests that must appear in the log
	noTargetLog = "no log access for a target"
)

// RunningOptions say which checks look at a running instance.
type RunningOptions struct {
	Spec     bench.LaunchSpec        // what was launched
	Names    []string                // which checks (bench.LifecycleChecks); none: no check
	Way      contact.Way             // how requests reach the instance
	OnResult func(bench.CheckResult) // called after each check; may be nil
	patience time.Duration           // shorter in tests; 0: logPatience
}

// Running runs those of the named checks that need the running instance of a trial, soon after its
// start. The error says why ctx ended.
func Running(ctx context.Context, inst bench.Instance, opt RunningOptions) ([]bench.CheckResult, error) {
	opt.patience = cmp.Or(opt.patience, logPatience)
	t := reporter{on: opt.OnResult}
	for _, name := range opt.Names {
		switch name {
		case bench.CheckLogsPort:
			t.run(ctx, name, func(res *bench.CheckResult) { portLogged(ctx, res, inst, opt) })
		case bench.CheckLogsRequests:
			t.run(ctx, name, func(res *bench.CheckResult) { requestsLogged(ctx, res, inst, opt) })
		case bench.CheckImageSize:
			t.run(ctx, name, func(res *bench.CheckResult) { imageSize(res, inst.Info(), opt.Spec.Artifact) })
		}
	}
	return t.results, t.err
}

// StillResponds runs bench.CheckStillResponds: after the last step, GET path gets no 5xx.
func StillResponds(ctx context.Context, inst bench.Instance, way contact.Way, path string) bench.CheckResult {
	start := time.Now()
	res := bench.CheckResult{Group: GroupLifecycle, Name: bench.CheckStillResponds, Request: "GET " + path}
	client := way.Client()
	defer client.CloseIdleConnections()
	status, err := get(ctx, client, inst.BaseURL()+path)
	res.Took = time.Since(start)
	switch exit := inst.Exit(); {
	case exit != nil:
		fail(&res, "exited: %s. Last log line: %s", exit, lastLine(inst))
	case err != nil:
		fail(&res, "no response: %v. Last log line: %s", err, lastLine(inst))
	case status >= 500:
		res.Value = strconv.Itoa(status)
		fail(&res, "expected a response below 500, got %d", status)
	default:
		res.Status, res.Value = bench.CheckPassed, strconv.Itoa(status)
	}
	return res
}

// Responds returns an error if GET path has no response, of any status.
func Responds(ctx context.Context, inst bench.Instance, way contact.Way, path string) error {
	client := way.Client()
	defer client.CloseIdleConnections()
	if status, err := get(ctx, client, inst.BaseURL()+path); status == 0 {
		return fmt.Errorf("GET %s: %w", path, err)
	}
	return nil
}

func portLogged(ctx context.Context, res *bench.CheckResult, inst bench.Instance, opt RunningOptions) {
	if inst.Info().Runtime.Traits().AlreadyRunning {
		skip(res, noTargetLog)
		return
	}
	port := strconv.Itoa(opt.Spec.Port)
	logged := func(l bench.LogLine) bool { return hasWord(l.Text, port) }
	if !poll(ctx, opt.patience, func() bool { return slices.ContainsFunc(inst.Logs(), logged) }) {
		fail(res, "expected a log line that names port %s, got %s without it", port, units.Plural(len(inst.Logs()), "line"))
		return
	}
	res.Status, res.Value = bench.CheckPassed, port
}

// requestsLogged requests new paths and looks for each of them in the log.
func requestsLogged(ctx context.Context, res *bench.CheckResult, inst bench.Instance, opt RunningOptions) {
	switch {
	case inst.Info().Runtime.Traits().AlreadyRunning:
		skip(res, noTargetLog)
		return
	case opt.Spec.Env["ACCESS_LOG"] == "off":
		skip(res, "request log is off (ACCESS_LOG=off)")
		return
	}
	client := opt.Way.Client()
	defer client.CloseIdleConnections()
	paths := make([]string, canaries)
	for i := range paths {
		paths[i] = fmt.Sprintf("/canary-%x-%d", time.Now().UnixNano(), i)
		if _, err := get(ctx, client, inst.BaseURL()+paths[i]); err != nil {
			fail(res, "GET %s: %v", paths[i], err)
			return
		}
	}
	res.Request = "GET " + paths[0]
	var missing []string
	all := poll(ctx, opt.patience, func() bool {
		lines := inst.Logs()
		missing = slices.DeleteFunc(slices.Clone(paths), func(p string) bool {
			return slices.ContainsFunc(lines, func(l bench.LogLine) bool { return strings.Contains(l.Text, p) })
		})
		return len(missing) == 0
	})
	if !all {
		fail(res, "expected a log line for each of %d requests, got none with %s", canaries, strings.Join(missing, ", "))
		return
	}
	res.Status, res.Value = bench.CheckPassed, "logged"
}

func imageSize(res *bench.CheckResult, info bench.InstanceInfo, artifact bench.Artifact) {
	size, what := cmp.Or(info.ImageSize, artifact.ImageSize), ""
	if size == 0 && info.Runtime.Traits().OnHost {
		size, what = artifact.BinarySize, " (binary)"
	}
	if size == 0 {
		skip(res, fmt.Sprintf("runtime %s has no image", info.Runtime))
		return
	}
	res.Status, res.Value = bench.CheckInfo, units.Bytes(size)+what
}

// Stopped returns the result of bench.CheckStops: code 0 within ExitWithin of the stop signal.
func Stopped(stop bench.StopResult) bench.CheckResult {
	res := bench.CheckResult{Group: GroupLifecycle, Name: bench.CheckStops, Took: stop.Took}
	signal := stop.SignalName()
	res.Value = fmt.Sprintf("%s after %s", stop.Exit, stop.Took.Round(time.Millisecond))
	switch {
	case stop.ExitedBeforeStop:
		res.Value = stop.Exit.String()
		fail(&res, "exited before stop: %s", stop.Exit)
	case stop.Handled:
		fail(&res, "did not exit within %s of %s, which it handles; killed", stop.Took.Round(time.Millisecond), signal)
	case stop.Killed:
		fail(&res, "did not exit within %s of %s; killed. "+
			"Handle %[2]s: a program that runs as PID 1 of a container ignores it without a handler; "+
			"or start it with tini, and from a shell with exec", stop.Took.Round(time.Millisecond), signal)
	case !stop.Graceful:
		fail(&res, "expected exit code 0 after %s, got %s", signal, stop.Exit)
	case stop.Took > ExitWithin:
		fail(&res, "expected an exit within %s of %s, took %s", ExitWithin, signal, stop.Took.Round(time.Millisecond))
	default:
		res.Status = bench.CheckPassed
	}
	return res
}
