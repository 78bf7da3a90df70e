package check

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"locbench/internal/bench"
)

const (
	// logPatience is how long a log line may take from the contender to the instance's log.
	logPatience = 3 * time.Second
	canaries    = 3
)

// RunningOptions say which checks look at a running instance.
type RunningOptions struct {
	Spec     bench.LaunchSpec        // as it was launched
	Names    []string                // which checks; nil: all
	Client   *http.Client            // nil: one of its own, without proxy
	OnResult func(bench.CheckResult) // told after each check; may be nil
	patience time.Duration           // tests do not wait as long; 0: logPatience
}

// Running runs those of the named checks that look at the running instance of a leg, soon after its start: its port in
// the log, its requests in the log, the size of its image. The error tells that ctx has ended.
func Running(ctx context.Context, inst bench.Instance, opt RunningOptions) ([]bench.CheckResult, error) {
	if opt.patience <= 0 {
		opt.patience = logPatience
	}
	var results []bench.CheckResult
	for _, name := range chosen(opt.Names) {
		start := time.Now()
		res := lifecycleResult(name)
		switch name {
		case PortLogged:
			portLogged(ctx, &res, inst, opt)
		case RequestsLogged:
			requestsLogged(ctx, &res, inst, opt)
		case ImageSize:
			imageSize(&res, inst.Info(), opt.Spec.Artifact)
		default:
			continue
		}
		if ctx.Err() != nil {
			return results, fmt.Errorf("lifecycle check %s: %w", name, context.Cause(ctx))
		}
		res.Took = time.Since(start)
		results = append(results, res)
		if opt.OnResult != nil {
			opt.OnResult(res)
		}
	}
	return results, nil
}

func portLogged(ctx context.Context, res *bench.CheckResult, inst bench.Instance, opt RunningOptions) {
	if inst.Info().Runtime == bench.RuntimeURL {
		skip(res, "the log of a service that somebody else started cannot be read")
		return
	}
	port, found := strconv.Itoa(opt.Spec.Port), ""
	poll(ctx, opt.patience, func() bool {
		for _, line := range inst.Logs() {
			if names(line.Text, port) {
				found = line.Text
				return true
			}
		}
		return false
	})
	if found == "" {
		fail(res, "wanted a log line that names port %s, got %s", port, plural(len(inst.Logs()), "line", "lines")+" without it")
		return
	}
	res.Status, res.Value, res.Detail = bench.CheckPassed, port, clip(found, 300)
}

// requestsLogged asks for paths that nobody else asks for, and looks for each of them in the log.
func requestsLogged(ctx context.Context, res *bench.CheckResult, inst bench.Instance, opt RunningOptions) {
	switch {
	case inst.Info().Runtime == bench.RuntimeURL:
		skip(res, "the log of a service that somebody else started cannot be read")
		return
	case opt.Spec.Env["ACCESS_LOG"] == "off":
		skip(res, "the request log is turned off (ACCESS_LOG=off)")
		return
	}
	client, done := client(opt.Client)
	defer done()
	paths := make([]string, canaries)
	for i := range paths {
		paths[i] = fmt.Sprintf("/canary-%x-%d", time.Now().UnixNano(), i)
		if err := get(ctx, client, inst.BaseURL()+paths[i]); err != nil {
			fail(res, "GET %s: %v", paths[i], err)
			return
		}
	}
	res.Request = "GET " + paths[0]
	var missing []string
	var line string
	all := poll(ctx, opt.patience, func() bool {
		missing = missing[:0]
		lines := inst.Logs()
		for _, p := range paths {
			if line = lineWith(lines, p); line == "" {
				missing = append(missing, p)
			}
		}
		return len(missing) == 0
	})
	if !all {
		fail(res, "wanted a log line for each of %d requests, got none with %s", canaries, strings.Join(missing, ", "))
		return
	}
	res.Status, res.Value, res.Detail = bench.CheckPassed, "logged", clip(line, 300)
}

func lineWith(lines []bench.LogLine, text string) string {
	for _, l := range lines {
		if strings.Contains(l.Text, text) {
			return l.Text
		}
	}
	return ""
}

func imageSize(res *bench.CheckResult, info bench.InstanceInfo, artifact bench.Artifact) {
	size, what := info.ImageSize, "image"
	if size == 0 {
		size = artifact.ImageSize
	}
	if size == 0 && info.Runtime == bench.RuntimeProcess && artifact.BinarySize > 0 {
		size, what = artifact.BinarySize, "binary"
	}
	if size == 0 {
		skip(res, fmt.Sprintf("no image with runtime %s", info.Runtime))
		return
	}
	res.Status, res.Value = bench.CheckInfo, fmt.Sprintf("%.1f MB", float64(size)/1e6)
	res.Detail = fmt.Sprintf("%d bytes (%s)", size, what)
}

// Stopped judges how an instance has ended: GracefulStop passes when it ended by itself, with code 0, within grace.
func Stopped(stop bench.StopResult) bench.CheckResult {
	res := lifecycleResult(GracefulStop)
	res.Took = stop.Took
	res.Value = fmt.Sprintf("%s after %s", stop.Exit, stop.Took.Round(time.Millisecond))
	switch {
	case stop.Already:
		res.Value = stop.Exit.String()
		fail(&res, "had ended before it was asked to: %s", stop.Exit)
	case stop.Killed:
		fail(&res, "did not end after SIGTERM within %s and was killed", stop.Took.Round(time.Millisecond))
	case !stop.Graceful:
		fail(&res, "wanted exit code 0 after SIGTERM, got %s", stop.Exit)
	case stop.Took > ExitWithin:
		fail(&res, "wanted it to end within %s, it took %s", ExitWithin, stop.Took.Round(time.Millisecond))
	default:
		res.Status = bench.CheckPassed
	}
	return res
}
