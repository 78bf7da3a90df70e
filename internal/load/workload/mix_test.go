package workload

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// spec returns a plain spec: GET /city?id=….
func spec(url string) Plan {
	return Plan{
		BaseURL: url, Step: bench.Step{Connections: 1, Duration: time.Second},
		Requests: []bench.Request{{Name: "get", Path: "/city?id={id}", ExpectStatus: 200}},
		IDs:      []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10},
		Seed:     1,
	}
}

// asked returns the method and URL of the next n requests of p.
func asked(t *testing.T, p Plan, n int) []string {
	t.Helper()
	m := testenv.Must(NewMix(p))(t)
	var urls []string
	var u User
	for range n {
		testenv.OK(t, m.Begin(&u))
		_, raw := m.Write(&u, nil)
		u.Done(false)
		line, _, _ := strings.Cut(string(raw), " HTTP/1.1\r\n")
		urls = append(urls, line)
	}
	return urls
}

func TestMixDistributions(t *testing.T) {
	const n = 20_000
	count := func(p Plan) map[string]int {
		counts := map[string]int{}
		for _, url := range asked(t, p, n) {
			counts[url]++
		}
		return counts
	}
	near := func(name string, got int, share float64) {
		t.Helper()
		if want := share * n; float64(got) < .85*want || float64(got) > 1.15*want {
			t.Errorf("%s: %d of %d, want about %.0f", name, got, n, want)
		}
	}
	p := spec("http://h")
	p.IDs = []int64{1, 2, 3, 4}
	p.Requests[0].Path = "/{id}"
	counts := count(p)
	for _, id := range p.IDs {
		near("uniform", counts[fmt.Sprint("GET /", id)], .25)
	}
	p.Requests[0].IDs = bench.IDSpec{Distribution: "zipf", Exponent: 2}
	counts = count(p)
	norm := 1 + 1./4 + 1./9 + 1./16
	for i, id := range p.IDs {
		near("zipf", counts[fmt.Sprint("GET /", id)], 1/float64((i+1)*(i+1))/norm)
	}
	p.Requests = []bench.Request{{Path: "/a", Weight: 1}, {Path: "/b", Weight: 3}, {Path: "/c", Weight: 6}}
	counts = count(p)
	near("weight 1", counts["GET /a"], .1)
	near("weight 3", counts["GET /b"], .3)
	near("weight 6", counts["GET /c"], .6)
}

func TestCheckingDoesNotChangeRequests(t *testing.T) {
	p := spec("http://h")
	before := asked(t, p, 100)
	p.Check, p.CheckQuota = func(Response) error { return nil }, 30
	after := asked(t, p, 100)
	testenv.Check(t, slices.Equal(after, before), "checking has changed the requests")
}
