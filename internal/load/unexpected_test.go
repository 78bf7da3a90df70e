package load

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// mixer responds with the id of the request, but for one in 25 bodies while three or more
// requests are in flight, which have another one. It counts what it sent. The number is such that a
// sample of 300 without one of these is a chance of 1 in 200,000.
type mixer struct {
	rightly              bool // never mixes up
	crowd                *testenv.Crowd
	crowded, sent, mixed atomic.Int64
}

func (m *mixer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.sent.Add(1)
	body := r.URL.Query().Get("id")
	if m.crowd.Enter() && m.crowded.Add(1)%25 == 0 && !m.rightly {
		m.mixed.Add(1)
		body = "another"
	}
	fmt.Fprint(w, body)
}

// Requests of a bounded number: the two loops, one connection and sixteen, a wrong and a right
// server.
func TestAServerThatMixesUpBodiesIsExcluded(t *testing.T) {
	t.Parallel()
	eachLoop(t, func(t *testing.T, e Engine) {
		for _, rightly := range []bool{false, true} {
			server := &mixer{rightly: rightly, crowd: testenv.NewCrowd(10 * time.Millisecond)}
			at := httptest.NewServer(server)
			defer at.Close()
			trial := bench.TrialResult{Trial: bench.Trial{Round: 1}}
			requests := map[int]int64{1: 20, 16: 2500}
			for _, connections := range []int{1, 16} {
				sent, mixed := server.sent.Load(), server.mixed.Load()
				p := counted(at.URL, connections, requests[connections])
				p.CheckQuota, p.CheckEvery = 300, 100 // as in a run
				p.Requests[0].Path = "/?id={id}"
				p.Check = func(a Response) error {
					if string(a.Body) != fmt.Sprint(a.ID) {
						return errors.New("another body")
					}
					return nil
				}
				l := run(t, e, p)
				sent, mixed = server.sent.Load()-sent, server.mixed.Load()-mixed
				if want := min(requests[connections], 300); l.Checked < want-5 || l.Checked > want+100 {
					t.Errorf("%d connections: %d bodies compared, want %d", connections, l.Checked, want)
				}
				if right := rightly || connections == 1; right != (mixed == 0) {
					t.Fatalf("%d connections: the server mixed up %d: nothing is proved", connections, mixed)
				}
				truth, found := float64(mixed)/float64(sent), float64(l.Failed[bench.ErrWrong])
				// How near the two are is for 'make bench-truths': these bodies come in clusters.
				if share := found / float64(l.Checked); share > 4*truth || (found > 0) != (mixed > 0) {
					t.Errorf("%d connections: %g of %d unexpected, but it is %.2f%%", connections, found, l.Checked, 100*truth)
				}
				trial.Steps = append(trial.Steps, bench.StepResult{Step: bench.Step{Name: fmt.Sprint(connections), Connections: connections}, Load: l})
			}
			u := trial.Excluded(bench.DefaultMaxErrors, 0)
			switch {
			case rightly && u != nil:
				t.Errorf("a right server is excluded: %v", u)
			case !rightly && (u == nil || u.Unexpected.Connections != 16 || !strings.HasSuffix(u.String(), "first: another body")):
				t.Errorf("a server that mixed up %d bodies: %v", server.mixed.Load(), u)
			}
		}
	})
}
