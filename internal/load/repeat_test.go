package load

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// newJobs returns a site of jobs that take a number of polls.
func newJobs(t testing.TB, polls, pending int) *site {
	return newSite(t, func(r *visit) string {
		switch path := r.URL.Path; {
		case path == "/jobs":
			r.state["jobs"]++
			return "200\n\n" + fmt.Sprintf(`{"id":%d}`, r.state["jobs"])
		case strings.HasPrefix(path, "/results/"):
			r.state["results"]++
			return hello
		default:
			r.state["polls"]++
			if r.state[path]++; r.state[path] < polls {
				r.state["most"] = max(r.state["most"], r.state[path])
				return fmt.Sprint(pending, "\n\n", `{"state":"running"}`)
			}
			r.state["done"]++
			return "200\n\n" + `{"state":"done","result":7}`
		}
	})
}

func jobsPlan(url string, step bench.Step, pending int, repeat bench.Repeat) Plan {
	p := plan(url, 1, time.Hour)
	p.Step, p.Step.Name = step, "s"
	p.Requests = in(
		bench.Request{Name: "start", Path: "/jobs", Save: save("job", bench.FromJSON, "id")},
		bench.Request{Name: "wait", Path: "/jobs/{job}", ExpectStatus: 200, MoreStatuses: []int{pending}, Repeat: &repeat, Save: save("result", bench.FromJSON, "result")},
		bench.Request{Name: "result", Path: "/results/{result}"})
	p.Sessions = []bench.Session{{Name: "s", Weight: 1}}
	p.Until = func(a Response) error {
		if !strings.Contains(string(a.Body), `"done"`) {
			return errors.New("not done")
		}
		return nil
	}
	return p
}

func arrivals(users, requests int) bench.Step {
	return bench.Step{Duration: time.Hour, Arrivals: &bench.Arrivals{Users: users, Over: ms, Requests: requests}}
}

// Each try is one request. Only the response that ends the repetition is saved from; one
// before it may have a status that is rejected, and ends no session. After the last try the request has failed.
func TestRepeatedUntil(t *testing.T) {
	t.Parallel()
	status, body := bench.Repeat{Status: []int{200}, Every: ms, Most: 20}, bench.Repeat{Every: ms, Most: 20, Until: bench.Expectation{"contains": "done"}}
	for name, repeat := range map[string]bench.Repeat{"status": status, "body": body} {
		for pending, rejected := range map[int]string{202: "rejected=0", 404: "rejected+site.done=site.polls"} {
			t.Run(fmt.Sprintf("%s, %d", name, pending), func(t *testing.T) {
				eachWay(t, func(t *testing.T, e Engine, open bool) {
					step, least := bench.Step{Connections: 4, Duration: time.Hour, MaxRequests: 40}, "36" // at the end each connection may wait with one
					if open {
						step, least = arrivals(20, 2), "40"
					}
					s := newJobs(t, 4, pending)
					holds(t, run(t, e, jobsPlan(s.URL, step, pending, repeat)), s, "sent=asked failed=0 site.jobs=40 site.most<=3 site.done>="+least+
						" site.results=site.done s0.begun=40 s0.completed=site.done s0.rejected=0 "+rejected)
				})
			})
		}
	}
	for _, pending := range []int{202, 404} {
		eachLoop(t, func(t *testing.T, e Engine) {
			s := newJobs(t, 100, pending)
			l := run(t, e, jobsPlan(s.URL, arrivals(10, 2), pending, bench.Repeat{Status: []int{200}, Every: ms, Most: 3}))
			holds(t, l, s, "sent=80 site.polls=60 site.most=3 fail.too_many_repeats=20 s0.begun=20 s0.completed=0 fail.s0.wait=20")
			testenv.Equal(t, l.Examples[bench.ErrRepeat],
				fmt.Sprintf("session \"s\", step \"wait\": sent 3 times; not as `until` says, since expected status 200, got %d", pending))
		})
	}
}

// What waits to be repeated at the end of a step is not sent any more, and has not failed.
func TestRepeatedAtTheEnd(t *testing.T) {
	eachWay(t, func(t *testing.T, e Engine, open bool) {
		step := bench.Step{Connections: 4, Duration: 50 * ms}
		if open {
			step = bench.Step{Rate: 200, Duration: 50 * ms, MaxConnections: 100}
		}
		s := newJobs(t, 1000, 202)
		holds(t, run(t, e, jobsPlan(s.URL, step, 202, bench.Repeat{Status: []int{200}, Every: time.Hour, Most: 20})), s, "sent>0 failed=0 site.most<=1")
	})
}
