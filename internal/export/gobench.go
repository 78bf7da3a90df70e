package export

import (
	"fmt"
	"io"
	"strings"
	"time"

	"locbench/internal/bench"
	"locbench/internal/safe"
)

// writeGoBench writes Go's benchmark format: one line for each step and round. The name holds the contender and the step and not the
// round, so that benchstat takes the rounds for samples and finds the same name in another folder. Warm-ups and steps that were cut
// short are left out.
func writeGoBench(w io.Writer, run bench.Run, legs []bench.LegResult) error {
	var b strings.Builder
	config := func(key, value string) {
		// benchstat compares only what has the same configuration: what differs from run to run must not be in it.
		if value = safe.Line(value, 200); value != "" {
			fmt.Fprintf(&b, "%s: %s\n", key, value)
		}
	}
	config("goos", run.Machine.OS)
	config("goarch", run.Machine.Arch)
	config("cpu", run.Machine.CPUModel)
	config("pkg", "locbench/"+benchName(run.Profile.Name))
	for _, leg := range legs {
		if d, ok := leg.Definition(); ok { // benchstat keeps apart what differs in it
			config("measured-step", d.String())
			break
		}
	}
	for _, u := range []string{"req/s better=higher", "p50-ns better=lower", "p99-ns better=lower", "cpu-ns/req better=lower", "peak-bytes better=lower", "errors better=lower"} {
		fmt.Fprintf(&b, "Unit %s\n", u)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	return rows(run, legs, func(r row) error {
		if r.Step.WarmUp || r.Aborted != "" {
			return nil
		}
		_, err := io.WriteString(w, benchLine(r))
		return err
	})
}

func benchLine(r row) string {
	var b strings.Builder
	// The index keeps steps of the same name apart, and the order of the steps in sorted output.
	fmt.Fprintf(&b, "BenchmarkLoad/contender=%s/step=%02d_%s %d", benchName(r.leg.Leg.Label()), r.Index+1, benchName(r.Step.Name), max(r.Load.Succeeded, 1))
	fmt.Fprintf(&b, " %s req/s", number(r.Load.Throughput()))
	if d, ok := figure(r.Load.Latency, func(l bench.Latencies) time.Duration { return l.P50 }); ok {
		fmt.Fprintf(&b, " %d p50-ns", d.Nanoseconds())
	}
	if d, ok := figure(r.Load.Latency, func(l bench.Latencies) time.Duration { return l.P99 }); ok {
		fmt.Fprintf(&b, " %d p99-ns", d.Nanoseconds())
	}
	if cpu, ok := r.CPUPerRequest(); ok {
		fmt.Fprintf(&b, " %d cpu-ns/req", cpu.Nanoseconds())
	}
	if r.After != nil && r.After.Memory != nil && r.After.Memory.Peak > 0 {
		fmt.Fprintf(&b, " %d peak-bytes", r.After.Memory.Peak)
	}
	fmt.Fprintf(&b, " %d errors\n", r.Load.FailedTotal())
	return b.String()
}

// benchName makes one word of s: benchmark names end at a space, are split at slashes, and end in -N for N processors.
func benchName(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune(".:_-", r):
			return r
		}
		return '_'
	}, safe.Line(s, 100))
	if s == "" {
		return "unnamed"
	}
	if i := strings.LastIndexByte(s, '-'); i >= 0 && strings.Trim(s[i+1:], "0123456789") == "" {
		s = s[:i] + "_" + s[i+1:]
	}
	return s
}
