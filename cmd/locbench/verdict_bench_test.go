package main

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"locbench/internal/testenv"
	"locbench/internal/verdict"
)

// BenchmarkVerdict runs contenders that are built to be bound by one thing each, and reports in how many of the runs the verdict was
// that one. It asserts nothing: on a machine with other work to do the machine itself may well be what bound a step.
//
//	make bench-verdict
func BenchmarkVerdict(b *testing.B) {
	testenv.Docker(b)
	runs := 20
	if n, err := strconv.Atoi(os.Getenv("RUNS")); err == nil && n > 0 {
		runs = n
	}
	for _, c := range []struct {
		name, contender string
		fault           string
		args            []string
		at              int // the step that is judged
		want            verdict.Bound
	}{
		{"quota", "faulty", "spin", []string{"--cpus", "0.3", "--connections", "4"}, 0, verdict.Quota},
		{"contender's lock", "faulty", "lock", []string{"--connections", "2,16"}, 1, verdict.Contender},
		{"too few connections", "faulty", "wait", []string{"--connections", "2,16"}, 0, verdict.Connections},
		{"store", "go-nethttp", "", []string{"--latency", "30ms", "--connections", "4,32"}, 1, verdict.Store},
		{"errors", "faulty", "hang", []string{"--connections", "2"}, 0, verdict.Errors},
	} {
		b.Run(c.name, func(b *testing.B) {
			var services []string
			if c.fault != "" {
				services = []string{"--services", faulty(b, c.fault, 0)}
			}
			right, others := 0, map[verdict.Bound]int{}
			for range runs {
				dir := b.TempDir()
				args := append([]string{"run", "-p", small(b, c.contender, "docker"), "--rounds", "1", "--duration", "2s", "--no-checks", "-o", "out"}, c.args...)
				code, _, stderr := locbench(b, dir, append(args, services...)...)
				run, legs := read(b, filepath.Join(dir, "out"))
				if len(legs) != 1 || len(legs[0].Steps) <= c.at {
					b.Fatalf("exit code %d:\n%s", code, stderr)
				}
				v := verdict.Leg(run.Machine.CPUs, legs[0])[c.at]
				if v.Bound == c.want {
					right++
				} else {
					others[v.Bound]++
					b.Log(v)
				}
			}
			b.ReportMetric(float64(right), "right")
			b.ReportMetric(float64(runs), "runs")
			b.ReportMetric(0, "ns/op")
			if len(others) > 0 {
				b.Logf("instead: %v", others)
			}
		})
	}
}
