package load

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

// jobs is a server of jobs that take a number of polls. Its journal is what the results are
// compared with.
type jobs struct {
	*httptest.Server
	mu    sync.Mutex
	polls []int // by job
	ended int   // requests for results
}

func newJobs(t testing.TB, polls, pending int) *jobs {
	j := &jobs{}
	j.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		j.mu.Lock()
		defer j.mu.Unlock()
		var id int
		switch {
		case r.URL.Path == "/jobs":
			fmt.Fprintf(w, `{"id":%d}`, len(j.polls))
			j.polls = append(j.polls, 0)
		case strings.HasPrefix(r.URL.Path, "/results/"):
			j.ended++
		default:
			fmt.Sscanf(r.URL.Path, "/jobs/%d", &id)
			if j.polls[id]++; j.polls[id] < polls {
				w.WriteHeader(pending)
				fmt.Fprint(w, `{"state":"running"}`)
				return
			}
			fmt.Fprint(w, `{"state":"done","result":7}`)
		}
	}))
	t.Cleanup(j.Close)
	return j
}

func jobsPlan(url string, step bench.Step, pending int, repeat bench.Repeat) Plan {
	p := plan(url, 1, time.Hour)
	p.Step = step
	p.Requests = []bench.Request{
		{Name: "start", Session: "job", Path: "/jobs", Save: []bench.Save{{Name: "job", From: bench.FromJSON, Of: "id"}}},
		{Name: "wait", Session: "job", Path: "/jobs/{job}", ExpectStatus: 200, MoreStatuses: []int{pending}, Repeat: &repeat,
			Save: []bench.Save{{Name: "result", From: bench.FromJSON, Of: "result"}}},
		{Name: "result", Session: "job", Path: "/results/{result}"},
	}
	p.Sessions = []bench.Session{{Name: "job", Weight: 1}}
	p.Until = func(a Response) error {
		if !strings.Contains(string(a.Body), `"done"`) {
			return errors.New("not done")
		}
		return nil
	}
	return p
}

// Each try is one request. Only the response that ends the repetition is saved from; one
// before it may have a status that is rejected, and ends no session.
func TestRepeatedUntil(t *testing.T) {
	t.Parallel()
	status, body := bench.Repeat{Status: []int{200}, Every: time.Millisecond, Most: 20}, bench.Repeat{Every: time.Millisecond, Most: 20}
	body.Until = bench.Expectation{"contains": "done"}
	for name, repeat := range map[string]bench.Repeat{"status": status, "body": body} {
		for _, pending := range []int{202, 404} {
			t.Run(fmt.Sprintf("%s, %d", name, pending), func(t *testing.T) {
				eachWay(t, func(t *testing.T, e Engine, open bool) {
					step := bench.Step{Name: "s", Connections: 4, Duration: time.Hour, MaxRequests: 40}
					if open {
						step = bench.Step{Name: "s", Duration: time.Hour, Arrivals: &bench.Arrivals{Users: 20, Over: time.Millisecond, Requests: 2}}
					}
					j := newJobs(t, 4, pending)
					l := run(t, e, jobsPlan(j.URL, step, pending, repeat))
					done, polls := 0, 0
					for id, n := range j.polls {
						if polls += n; n == 4 {
							done++
						} else if n > 4 {
							t.Errorf("%d polls of job %d, want 4", n, id)
						}
					}
					least := 36 // at the end of the step each connection may wait with one
					if open {
						least = 40
					}
					if len(j.polls) != 40 || done < least || j.ended != done || l.Sent != int64(40+polls+done) || l.FailedTotal() != 0 {
						t.Errorf("%d jobs, %d results of %d, %d sent, failed %v", len(j.polls), j.ended, done, l.Sent, l.Examples)
					}
					if s := l.Sessions[0]; s.Begun != 40 || s.Completed != int64(done) || s.Rejected != 0 {
						t.Errorf("sessions %+v, want %d completed", s, done)
					}
					if want := map[int]int{202: 0, 404: polls - done}[pending]; l.Rejected.Total() != int64(want) {
						t.Errorf("%d rejected, want %d", l.Rejected.Total(), want)
					}
				})
			})
		}
	}
}

// After the last try the request has failed, with its reason.
func TestRepeatedInVain(t *testing.T) {
	for _, pending := range []int{202, 404} {
		eachOpenLoop(t, func(t *testing.T, e Engine) {
			j := newJobs(t, 100, pending)
			step := bench.Step{Name: "s", Duration: time.Hour, Arrivals: &bench.Arrivals{Users: 10, Over: time.Millisecond, Requests: 2}}
			l := run(t, e, jobsPlan(j.URL, step, pending, bench.Repeat{Status: []int{200}, Every: time.Millisecond, Most: 3}))
			for id, n := range j.polls {
				if n != 3 {
					t.Errorf("%d polls of job %d, want 3", n, id)
				}
			}
			s := l.Sessions[0]
			if l.Sent != 80 || l.Failed[bench.ErrRepeat] != 20 || s.Begun != 20 || s.Completed != 0 || s.Failed["wait"] != 20 {
				t.Errorf("%d sent, failed %v, sessions %+v", l.Sent, l.Failed, s)
			}
			want := fmt.Sprintf("session \"job\", step \"wait\": sent 3 times; not as `until` says, since expected status 200, got %d", pending)
			if got := l.Examples[bench.ErrRepeat]; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// What waits to be repeated at the end of a step is not sent any more, and has not failed.
func TestRepeatedAtTheEnd(t *testing.T) {
	eachWay(t, func(t *testing.T, e Engine, open bool) {
		step := bench.Step{Name: "s", Connections: 4, Duration: 50 * time.Millisecond}
		if open {
			step = bench.Step{Name: "s", Rate: 200, Duration: 50 * time.Millisecond, MaxConnections: 100}
		}
		j := newJobs(t, 1000, 202)
		l := run(t, e, jobsPlan(j.URL, step, 202, bench.Repeat{Status: []int{200}, Every: time.Hour, Most: 20}))
		for id, n := range j.polls {
			if n > 1 {
				t.Errorf("%d polls of job %d, want 1", n, id)
			}
		}
		if l.FailedTotal() != 0 || l.Sent == 0 || open && l.Scheduled != l.Sent+l.Dropped {
			t.Errorf("%d sent, %d scheduled, %d dropped, failed %v", l.Sent, l.Scheduled, l.Dropped, l.Failed)
		}
	})
}

// Once repeats a request, too, and waits in between.
func TestOnceRepeats(t *testing.T) {
	j := newJobs(t, 3, 202)
	p := jobsPlan(j.URL, bench.Step{Request: "job"}, 202, bench.Repeat{Status: []int{200}, Every: time.Millisecond, Most: 20})
	sent := 0
	if err := (Engine{}).Once(t.Context(), p, func(Asked) { sent++ }); err != nil || sent != 5 || j.polls[0] != 3 {
		t.Errorf("%d sent, polls %v, error %v", sent, j.polls, err)
	}
}
