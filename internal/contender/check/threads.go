package check

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/contender/ready"
)

// wakers is the number of connections that wake a contender's thread pools before the count.
const wakers = 16

// threadCase is a CPU set and a limit, in CPUs.
type threadCase struct {
	set   int
	limit float64
}

const mostCPUs = 4 // the most CPUs of a threadCase

// threadCasesOn returns the three cases on a machine with N CPUs. With fewer than four CPUs, all of
// them are used and named instead of four, and equal cases are dropped.
func threadCasesOn(cpus int) (cases []threadCase) {
	for _, c := range []threadCase{{mostCPUs, mostCPUs}, {mostCPUs, 1.5}, {1, 1}} {
		if cpus > 0 {
			c.set = min(c.set, cpus)
		}
		c.limit = min(c.limit, float64(c.set))
		if !slices.Contains(cases, c) {
			cases = append(cases, c)
		}
	}
	return cases
}

// name returns "threads (4 CPUs, limit 1.5)".
func (c threadCase) name() string {
	return fmt.Sprintf("%s (%s, limit %.1f)", bench.CheckThreads, units.Plural(c.set, "CPU"), c.limit)
}

// slug returns the name in the form for containers: "threads-4-1.5".
func (c threadCase) slug() string {
	return fmt.Sprintf("%s-%d-%.1f", bench.CheckThreads, c.set, c.limit)
}

// threads counts the contender's processes and threads after some requests under the limits.
func (l attempt) threads(ctx context.Context, res *bench.CheckResult, c threadCase) {
	limits := func(s *bench.LaunchSpec) { s.Limits.CPUSet, s.Limits.CPUs, s.CPUs = c.set, c.limit, nil }
	l.with(ctx, res, limits, func(inst bench.Instance) {
		if info := inst.Info(); !info.LimitsEnforced {
			skip(res, "limits not enforced: "+info.LimitsNote)
			return
		}
		if _, err := ready.Wait(ctx, inst, l.opt.Ready, nil); err != nil {
			fail(res, "did not start: %v", err)
			return
		}
		client := l.opt.Ready.Way.Client()
		defer client.CloseIdleConnections()
		wake(ctx, client, inst.BaseURL()+cmp.Or(l.opt.Ready.Path, "/"))
		usage, err := inst.Usage(ctx)
		if err != nil {
			fail(res, "reading processes and threads failed: %v", err)
			return
		}
		var parts []string
		if usage.Processes != nil {
			parts = append(parts, units.Plural(*usage.Processes, "process"))
		}
		if usage.Threads != nil {
			parts = append(parts, units.Plural(*usage.Threads, "thread"))
		}
		if len(parts) == 0 {
			skip(res, "the runtime does not count processes and threads ("+usage.Source+")")
			return
		}
		res.Status, res.Value = bench.CheckInfo, strings.Join(parts, ", ")
		if l.opt.CPUs < mostCPUs {
			res.Detail = fmt.Sprintf("the machine has %d of %s", l.opt.CPUs, units.Plural(mostCPUs, "CPU"))
		}
	})
}

// wake sends requests over several connections at once and ignores the responses.
func wake(ctx context.Context, client *http.Client, url string) {
	var wg sync.WaitGroup
	for range wakers {
		wg.Go(func() {
			for range 4 {
				_, _ = get(ctx, client, url)
			}
		})
	}
	wg.Wait()
}

// get sends a GET request and returns the status of the response.
func get(ctx context.Context, client *http.Client, url string) (status int, err error) {
	a, err := fetch(ctx, client, DefaultTimeout, func(ctx context.Context) (*http.Request, error) {
		return http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	})
	if a == nil {
		return 0, err
	}
	return a.status, err
}
