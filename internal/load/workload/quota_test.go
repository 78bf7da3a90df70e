package workload

import (
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

// quotaMix returns a mix of two kinds of requests, one 19 times as frequent as the other.
func quotaMix(t *testing.T, quota, every int, step bench.Step, now func() time.Time) *Mix {
	t.Helper()
	m, err := NewMix(Spec{
		BaseURL: "http://h", Step: step, Seed: 7, CheckQuota: quota, CheckEvery: every, Now: now,
		Requests: []bench.Request{
			{Name: "often", Path: "/a", Weight: 19}, {Name: "rare", Path: "/b", Weight: 1},
		},
		Check: func(Response) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// sample writes n requests spread evenly over the length of the step, and returns how many of each
// kind were written, and how many were checked in each quarter.
func sample(t *testing.T, quota, every, n int, step bench.Step) (written map[string]int, checked map[string][4]int) {
	t.Helper()
	start := time.Unix(1000, 0)
	now := start
	m := quotaMix(t, quota, every, step, func() time.Time { return now })
	written, checked = map[string]int{}, map[string][4]int{}
	for i := range n {
		now = start.Add(step.Duration * time.Duration(i) / time.Duration(n))
		var u User
		if err := m.Begin(&u); err != nil {
			t.Fatal(err)
		}
		r, _ := m.Write(&u, nil)
		written[r.Name]++
		if u.Keeps() {
			quarters := checked[r.Name]
			quarters[4*i/n]++
			checked[r.Name] = quarters
		}
	}
	return written, checked
}

func TestQuotaOfChecks(t *testing.T) {
	const never = 1 << 30
	timed := bench.Step{Connections: 1, Duration: time.Second}
	for name, test := range map[string]struct {
		step        bench.Step
		n, every    int
		least, most int // of "often", in each quarter
	}{
		"by time":       {timed, 100_000, never, 74, 76},
		"by requests":   {bench.Step{Connections: 1, Duration: time.Hour, MaxRequests: 100_000}, 100_000, never, 74, 76},
		"share on top":  {timed, 100_000, 100, 190, 290}, // 237 by the share alone
		"share is less": {timed, 100_000, 10_000, 74, 85},
	} {
		written, checked := sample(t, 300, test.every, test.n, test.step)
		for kind, quarters := range checked {
			least, most := test.least, test.most
			if kind == "rare" {
				least, most = 70, 100
			}
			for q, n := range quarters {
				if n < least || n > most {
					t.Errorf("%s: quarter %d: %d of kind %s checked, want %d to %d", name, q+1, n, kind, least, most)
				}
			}
		}
		if len(checked) != 2 {
			t.Errorf("%s: checked %v of %v", name, checked, written)
		}
	}
}

func TestFewRequestsAreAllChecked(t *testing.T) {
	written, checked := sample(t, 300, 1<<30, 250, bench.Step{Connections: 1, Duration: time.Second})
	for kind, n := range written {
		all := 0
		for _, q := range checked[kind] {
			all += q
		}
		if all != n {
			t.Errorf("%d of %d of kind %s checked", all, n, kind)
		}
	}
}

// The draw of requests does not depend on what is checked.
func TestQuotaDoesNotChangeRequests(t *testing.T) {
	step := bench.Step{Connections: 1, Duration: time.Second}
	a, _ := sample(t, 300, 100, 5000, step)
	b, _ := sample(t, 0, 1, 5000, step)
	if a["rare"] != b["rare"] || a["often"] != b["often"] {
		t.Errorf("%v and %v", a, b)
	}
}
