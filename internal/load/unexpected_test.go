package load

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"locbench/internal/bench"
)

// mixer responds with the id of the request, but for one in 50 bodies while three or more
// requests are in flight, which have another one. It counts what it sent.
type mixer struct {
	rightly             bool // never mixes up
	flying, sent, mixed atomic.Int64
	flights             atomic.Int64
}

func (m *mixer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	busy := m.flying.Add(1)
	defer m.flying.Add(-1)
	m.sent.Add(1)
	body := r.URL.Query().Get("id")
	if busy >= 3 && m.flights.Add(1)%50 == 0 && !m.rightly {
		m.mixed.Add(1)
		body = "another"
	}
	fmt.Fprint(w, body)
}

// wilson returns the 95% Wilson interval of the share k of n.
func wilson(k, n float64) (low, high float64) {
	const z = 1.959964
	p := k / n
	mid, half := p+z*z/(2*n), z*math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return (mid - half) / (1 + z*z/n), (mid + half) / (1 + z*z/n)
}

// Requests of a bounded number: the two loops, one connection and sixteen, a wrong and a right server.
func TestAServerThatMixesUpBodiesIsExcluded(t *testing.T) {
	eachLoop(t, func(t *testing.T, e Engine) {
		for _, rightly := range []bool{false, true} {
			server := &mixer{rightly: rightly}
			at := newCounting(t, func(w http.ResponseWriter, r *http.Request) int {
				server.ServeHTTP(w, r)
				return 200
			})
			trial := bench.TrialResult{Trial: bench.Trial{Round: 1}}
			for _, connections := range []int{1, 16} {
				sent, mixed := server.sent.Load(), server.mixed.Load()
				p := counted(at.URL, connections, 6000)
				p.CheckQuota, p.CheckEvery = 1000, 100
				p.Requests[0].Path = "/?id={id}"
				p.Check = func(a Response) error {
					if string(a.Body) != fmt.Sprint(a.ID) {
						return errors.New("another body")
					}
					return nil
				}
				l := run(t, e, p)
				sent, mixed = server.sent.Load()-sent, server.mixed.Load()-mixed
				if l.Checked < 990 {
					t.Errorf("%d connections: %d bodies compared, want 1000", connections, l.Checked)
				}
				if l.Failed[bench.ErrWrong] == 0 != (mixed == 0) && mixed > 100 {
					t.Errorf("%d connections: %d unexpected, the server mixed up %d", connections, l.Failed[bench.ErrWrong], mixed)
				}
				// A share drawn at random is outside of its 95% interval in one of 20 runs: a plain test uses one
				// that is three times as wide, which chance does not leave.
				truth, found := float64(mixed)/float64(sent), float64(l.Failed[bench.ErrWrong])
				low, high := wilson(found, float64(l.Checked))
				if wide := high - low; truth < low-wide || truth > high+wide {
					t.Errorf("%d connections: %g of %d unexpected: %.2f%% to %.2f%%, but it is %.2f%%", connections, found, l.Checked,
						100*low, 100*high, 100*truth)
				}
				trial.Steps = append(trial.Steps, bench.StepResult{Step: bench.Step{Name: fmt.Sprint(connections), Connections: connections}, Load: l})
			}
			u := trial.Excluded(bench.DefaultMaxErrors, 0)
			switch {
			case rightly && u != nil:
				t.Errorf("a right server is excluded: %v", u)
			case !rightly && server.mixed.Load() > 100 && (u == nil || u.Unexpected.Connections != 16 || !strings.HasSuffix(u.String(), "first: another body")):
				t.Errorf("a server that mixed up %d bodies: %v", server.mixed.Load(), u)
			}
		}
	})
}
