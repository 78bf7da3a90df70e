package workload

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// sampledLoad is a load in virtual time, whose requests are evenly spread over it.
type sampledLoad struct {
	spec     Plan
	requests int
	length   time.Duration                                    // of the load; 0: of the step
	slices   int                                              // 0: not interleaved
	cost     time.Duration                                    // time of one check
	checked  func()                                           // may be nil
	drawn    io.Writer                                        // gets what is drawn; may be nil
	response func(i int, r *Request) (status int, a Response) // nil: good
}

// run returns how many responses of each kind were checked, in each quarter of the load, and how
// many were kept whole.
func (l sampledLoad) run(t *testing.T) (checked map[string][4]int, kept int) {
	t.Helper()
	checked = map[string][4]int{}
	now, spec := time.Unix(1000, 0), l.spec
	spec.BaseURL, spec.Seed, spec.Now = "http://h", 7, func() time.Time { return now }
	spec.Check = func(a Response) error {
		now = now.Add(l.cost)
		if l.checked != nil && a.Unread == nil {
			l.checked()
		}
		return a.Unread
	}
	if len(spec.Requests) == 0 {
		spec.Requests = []bench.Request{{Name: "get", Path: "/"}}
	}
	slices := max(l.slices, 1)
	if l.slices > 0 {
		spec.Sampling = &Sampling{Length: spec.Step.Duration}
	}
	length := max(l.length, spec.Step.Duration)
	if l.length > 0 {
		length = l.length
	}
	var u User
	for slice := range slices {
		began := now
		spec.Seed++
		if l.slices > 0 {
			spec.Sampling.Before = length * time.Duration(slice) / time.Duration(slices)
		}
		m := testenv.Must(NewMix(spec))(t)
		own := l.requests / slices
		for i := range own {
			if at := began.Add(length / time.Duration(slices) * time.Duration(i) / time.Duration(own)); at.After(now) {
				now = at
			}
			testenv.OK(t, m.Begin(&u))
			r, _ := m.Write(&u, nil)
			a, status := Response{Status: 200}, 200
			if l.response != nil {
				status, a = l.response(slice*own+i, r)
			}
			if u.Keeps() {
				if kept++; l.drawn != nil {
					fmt.Fprint(l.drawn, " ", r.Name, slice*own+i)
				}
				if r.Expects(status) {
					if is, kind, _ := m.CheckResponse(&u, r, a); is || kind != "" {
						quarters := checked[r.Name]
						quarters[4*(slice*own+i)/l.requests]++
						checked[r.Name] = quarters
					}
				}
			}
			u.Done(!r.Expects(status))
		}
		now = now.Add(time.Second) // the slices of others
	}
	return checked, kept
}

func sum(quarters [4]int) (n int) {
	for _, q := range quarters {
		n += q
	}
	return n
}

// The quota is that of the step, whatever the step consists of.
func TestQuotaIsOfTheWholeStep(t *testing.T) {
	const never = 1 << 30
	minute := bench.Step{Connections: 1, Duration: time.Minute}
	session := []bench.Request{{Name: "one", Path: "/", Session: "s"}, {Name: "two", Path: "/", Session: "s"}, {Name: "three", Path: "/", Session: "s"}}
	for name, l := range map[string]sampledLoad{
		"in one go":   {spec: Plan{Step: minute}, requests: 60_000},
		"600 slices":  {spec: Plan{Step: minute}, requests: 60_000, slices: 600},
		"slow slices": {spec: Plan{Step: minute}, requests: 600, slices: 600},
		"a session and max_requests": {
			spec: Plan{Step: bench.Step{Connections: 1, Duration: time.Hour, MaxRequests: 2_000}, Requests: session,
				Sessions: []bench.Session{{Name: "s"}}},
			requests: 6_000, length: time.Minute,
		},
		"max_requests is not reached": {
			spec: Plan{Step: bench.Step{Connections: 1, Duration: time.Minute, MaxRequests: 1_000_000}}, requests: 5_000,
		},
		"max_requests and kinds without a check": {
			spec: Plan{
				Step: bench.Step{Connections: 1, Duration: time.Hour, MaxRequests: 10_000}, Checks: func(r string) bool { return r == "a" },
				Requests: []bench.Request{{Name: "a", Path: "/", Weight: 1}, {Name: "b", Path: "/", Weight: 9}},
			},
			requests: 10_000, length: time.Minute,
		},
	} {
		l.spec.CheckQuota, l.spec.CheckEvery = 300, never
		checked, _ := l.run(t)
		for kind, quarters := range checked {
			n := sum(quarters)
			testenv.Check(t, n >= 295 && n <= 310, "%s: %d of kind %s checked, want 300", name, n, kind)
			for q, n := range quarters {
				testenv.Check(t, n >= 65 && n <= 85, "%s: quarter %d has %d of kind %s, want 75", name, q+1, n, kind)
			}
		}
		testenv.Check(t, len(checked) != 0, "%s: nothing checked", name)
	}
}

// packedBy are a response without an encoding, and three that cannot be unpacked.
var packedBy = [4]Response{
	{Body: []byte("a")}, {Body: []byte("a"), Head: []byte("Content-Encoding: x\n")},
	{Body: []byte("a"), Head: []byte("Content-Encoding: br\n")}, {Body: []byte("a"), Head: []byte("Content-Encoding: gzip\n")},
}

// Responses that cannot be checked do not use up the quota, and are not all kept whole either.
func TestQuotaCountsWhatWasChecked(t *testing.T) {
	step := bench.Step{Connections: 1, Duration: 10 * time.Second}
	for name, test := range map[string]struct {
		response func(i int, r *Request) (int, Response)
		want     int
		kept     int // at most, for each one of the quota; 0: triesOfQuota / triesOfUnread
	}{
		"3 of 4 too long":            {func(i int, _ *Request) (int, Response) { return 200, Response{Cut: i%4 > 0} }, 300, 0},
		"4 of 5 have another status": {func(i int, _ *Request) (int, Response) { return http.StatusOK + i%5, Response{} }, 300, 0},
		"49 of 50 are rejected":      {func(i int, _ *Request) (int, Response) { return http.StatusOK + i%50, Response{} }, 300, 60},
		"all have another status":    {func(int, *Request) (int, Response) { return 429, Response{} }, 0, triesOfQuota},
		"3 of 4 cannot be unpacked":  {func(i int, _ *Request) (int, Response) { return 200, packedBy[i%4] }, 300, 0},
		"none can be unpacked":       {func(i int, _ *Request) (int, Response) { return 200, packedBy[1+i%3] }, 0, 0},
		"all too long":               {func(int, *Request) (int, Response) { return 200, Response{Cut: true} }, 0, 0},
		"good ones only at the end":  {func(i int, _ *Request) (int, Response) { return 200, Response{Cut: i < 75_000} }, 300, 0},
	} {
		l := sampledLoad{spec: Plan{Step: step, CheckQuota: 300, CheckEvery: 1 << 30}, requests: 100_000, response: test.response}
		checked, kept := l.run(t)
		n := sum(checked["get"])
		testenv.Check(t, n >= test.want-5 && n <= test.want+5, "%s: %d checked, want %d", name, n, test.want)
		most := cmp.Or(test.kept, triesOfQuota/triesOfUnread) * 301
		testenv.Check(t, kept <= most, "%s: %d responses kept whole, want at most %d", name, kept, most)
	}
}

// An unexpected body counts as checked, a response that is not known does not.
func TestQuotaOfUnknownResponses(t *testing.T) {
	for err, want := range map[error]int64{errors.New("another body"): 1, nil: 1, ErrNotKnown: 0} {
		m, e := NewMix(Plan{
			BaseURL: "http://h", Step: bench.Step{Connections: 1, Duration: time.Second}, CheckQuota: 300,
			Requests: []bench.Request{{Name: "get", Path: "/"}}, Check: func(Response) error { return err },
		})
		testenv.Need(t, e == nil, "%v", e)
		var u User
		m.Begin(&u)
		r, _ := m.Write(&u, nil)
		taken := m.checker.kinds[0].taken.Load()
		testenv.Need(t, taken == 1, "%d taken", taken)
		m.CheckResponse(&u, r, Response{Status: 200})
		u.Done(false)
		testenv.Equal(t, m.checker.kinds[0].taken.Load(), want, err)
	}
}

// With a budget the share draws only while checks take at most that; the quota always draws.
func TestBudgetOfChecks(t *testing.T) {
	step := bench.Step{Connections: 1, Duration: 10 * time.Second}
	const fast, slow = 2 * time.Microsecond, time.Millisecond
	for _, test := range []struct {
		budget      float64
		cost        time.Duration
		quota       int
		least, most int // of 100,000 responses, of which the share draws 1,000
	}{
		{budget: 0, cost: slow, quota: 300, least: 900, most: 1100},   // a share that the user chose
		{budget: .01, cost: fast, quota: 300, least: 900, most: 1100}, // 2 ms of 10 s
		{budget: .01, cost: slow, quota: 300, least: 300, most: 310},  // 300 ms: the quota alone is more than 1%
		{budget: .01, cost: slow, quota: 0, least: 90, most: 110},     // 100 ms of 10 s
		{budget: .002, cost: slow, quota: 0, least: 18, most: 24},     // 20 ms
	} {
		l := sampledLoad{
			spec:     Plan{Step: step, CheckQuota: test.quota, CheckEvery: 100, CheckBudget: test.budget},
			requests: 100_000, cost: test.cost,
		}
		checked, _ := l.run(t)
		if n := sum(checked["get"]); n < test.least || n > test.most {
			t.Errorf("budget %g, %s each, quota %d: %d checked, want %d to %d", test.budget, test.cost, test.quota, n, test.least, test.most)
		}
	}
}

// The clock is read for a part of the requests only.
func TestClockOfQuotaIsReadSeldom(t *testing.T) {
	reads, now := 0, time.Unix(1000, 0)
	spec := quotaSpec(300, 1<<30, bench.Step{Connections: 1, Duration: time.Second})
	spec.BaseURL, spec.Now, spec.Check = "http://h", func() time.Time { reads++; return now }, func(Response) error { return nil }
	m := testenv.Must(NewMix(spec))(t)
	var u User
	for i := range 100_000 {
		now = time.Unix(1000, int64(i)*10_000)
		m.Begin(&u)
		m.Write(&u, nil)
		u.taken = nil
		u.Done(false)
	}
	testenv.Check(t, reads >= 600 && reads <= 10_000,
		"%v", fmt.Sprint(reads, " readings of the clock for 100,000 requests"))
}

// Which responses of a stretch are drawn is random: what is wrong at regular intervals is neither
// missed nor found too often.
func TestQuotaHasNoPeriod(t *testing.T) {
	for _, period := range []int{20, 40, 50, 100} {
		hits, checked := 0, 0
		l := sampledLoad{
			spec:     Plan{Step: bench.Step{Connections: 1, Duration: time.Hour, MaxRequests: 6000}, CheckQuota: 300, CheckEvery: 1 << 30},
			requests: 6000, length: time.Minute,
		}
		for offset := range 3 {
			at := 0
			l.spec.Requests = []bench.Request{{Name: "get", Path: "/"}}
			l.response = func(i int, _ *Request) (int, Response) { at = i; return 200, Response{} }
			l.checked = func() {
				checked++
				if at%period == 7*offset {
					hits++
				}
			}
			l.run(t)
		}
		truth := float64(checked) / float64(period)
		if x := float64(hits); math.Abs(x-truth) > 4*math.Sqrt(truth) {
			t.Errorf("one in %d: %d of %d, want about %.0f", period, hits, checked, truth)
		}
	}
}
