package load

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// What a socket does not take at once is sent later, even after an early response.
func TestRunSendsLongRequests(t *testing.T) {
	t.Parallel()
	const size = 8 << 20
	send := func(t *testing.T, e Engine, response func(http.ResponseWriter, *http.Request) int) {
		server := newCounting(t, response)
		p := counted(server.URL, 2, 2)
		p.Requests[0].Method, p.Requests[0].Body = "POST", strings.Repeat("x", size)
		l := run(t, e, p)
		server.answered(t, 200, 2)
		if l.Succeeded != 2 {
			t.Errorf("%d succeeded, failed %v %v", l.Succeeded, l.Failed, l.Examples)
		}
	}
	t.Run("read", func(t *testing.T) {
		eachLoop(t, func(t *testing.T, e Engine) {
			send(t, e, func(w http.ResponseWriter, r *http.Request) int {
				if n, err := io.Copy(io.Discard, r.Body); n != size || err != nil {
					t.Errorf("%d bytes came, %v", n, err)
				}
				return hello(w, r)
			})
		})
	})
	t.Run("not read", func(t *testing.T) {
		eachLoop(t, func(t *testing.T, e Engine) { send(t, e, hello) })
	})
}
