package load

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/locbench/locbench/internal/bench"
)

func TestBodiesAreChecked(t *testing.T) {
	t.Parallel()
	eachLoop(t, func(t *testing.T, e Engine) {
		for _, chunked := range []bool{false, true} {
			var wrong atomic.Int64
			server := newCounting(t, func(w http.ResponseWriter, r *http.Request) int {
				id, language := r.URL.Query().Get("id"), r.URL.Query().Get("language")
				if id == "3" {
					wrong.Add(1)
					id = "4"
				}
				fmt.Fprintf(w, "city %s", id)
				if chunked {
					w.(http.Flusher).Flush()
				}
				fmt.Fprintf(w, " in %s", language)
				return 200
			})
			p := counted(server.URL, 4, 400)
			p.Requests[0].Path += "&language={language}"
			p.Requests[0].Languages = []string{"cs", "de"}
			p.CheckEvery = 1
			p.Check = func(a Response) error {
				if want := fmt.Sprintf("city %d in %s", a.ID, a.Language); string(a.Body) != want || a.Request != "get" {
					return fmt.Errorf("%s: %q, want %q", a.Request, a.Body, want)
				}
				return nil
			}
			l := run(t, e, p)
			if l.Checked != 400 || l.Failed[bench.ErrWrong] != wrong.Load() || wrong.Load() == 0 || l.Succeeded != 400-wrong.Load() {
				t.Errorf("%d checked, %d succeeded, failed %v, the server sent %d wrong ones", l.Checked, l.Succeeded, l.Failed, wrong.Load())
			}
			if got := l.Examples[bench.ErrWrong]; !strings.HasPrefix(got, `get: "city 4 in `) {
				t.Errorf("example %q", got)
			}
			p.CheckEvery = 0
			if l := run(t, e, p); l.Checked > 40 {
				t.Errorf("%d of 400 checked, want about 4", l.Checked)
			}
		}
	})
}
