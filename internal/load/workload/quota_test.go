package workload

import (
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// quotaSpec is of two kinds of requests, one 19 times as frequent as the other.
func quotaSpec(quota, every int, step bench.Step) Plan {
	return Plan{
		Step: step, CheckQuota: quota, CheckEvery: every, Requests: []bench.Request{
			{Name: "often", Path: "/a", Weight: 19}, {Name: "rare", Path: "/b", Weight: 1},
		},
	}
}

func TestQuotaOfChecks(t *testing.T) {
	const never = 1 << 30
	timed := bench.Step{Connections: 1, Duration: time.Second}
	for name, test := range map[string]struct {
		spec        Plan
		length      time.Duration
		least, most int // of "often", in each quarter
	}{
		"by time":       {quotaSpec(300, never, timed), 0, 74, 76},
		"by requests":   {quotaSpec(300, never, bench.Step{Connections: 1, Duration: time.Hour, MaxRequests: 100_000}), time.Second, 74, 76},
		"share on top":  {quotaSpec(300, 100, timed), 0, 190, 290}, // 237 by the share alone
		"share is less": {quotaSpec(300, 10_000, timed), 0, 74, 85},
	} {
		checked, _ := sampledLoad{spec: test.spec, requests: 100_000, length: test.length}.run(t)
		for kind, quarters := range checked {
			least, most := test.least, test.most
			if kind == "rare" {
				least, most = 70, 100
			}
			for q, n := range quarters {
				testenv.Check(t, n >= least && n <= most,
					"%s: quarter %d: %d of kind %s checked, want %d to %d", name, q+1, n, kind, least, most)
			}
		}
		testenv.Check(t, len(checked) == 2, "%s: checked %v", name, checked)
	}
	few, _ := sampledLoad{spec: quotaSpec(300, never, timed), requests: 250}.run(t)
	testenv.Equal(t, sum(few["often"])+sum(few["rare"]), 250)
}
