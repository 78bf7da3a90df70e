//go:build acceptance && timing && linux

package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/run/capacity"
	"github.com/locbench/locbench/internal/testenv"
)

// TestCapacityLast searches a service with 40 places that holds each for 100 ms: its capacity is 400
// requests per second. Nothing else limits it, its responses are not compared with data, and the
// results have every request of every probe.
func TestCapacityLast(t *testing.T) {
	testenv.Judge(t, 5, 25*time.Millisecond, func(t testing.TB) error {
		places := make(chan struct{}, 40)
		var answered, others atomic.Int64
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if answered.Add(1); r.URL.RequestURI() != "/" {
				others.Add(1)
			}
			places <- struct{}{}
			time.Sleep(100 * time.Millisecond)
			<-places
			w.Write([]byte("hello\n"))
		}))
		defer server.Close()
		dir := outOf(t)
		code, out, stderr := shell(nil).runs(t, "capacity", "--target", server.URL, "--slo", "p90<130ms,errors<0.1%", "--guess", "200",
			"--probe", "1s", "--warm-up", "200ms", "--confirm", "1/2", "--resolution", "10%", "--json", "-o", dir)
		var r capacity.Record
		err := json.Unmarshal([]byte(out), &r)
		testenv.Need(t, err == nil, "exit code %d, %v: %s%s", code, err, out, stderr)
		_, trials := readResults(t, dir)
		var sent int64
		for _, s := range trials[0].Steps {
			sent += s.Load.AllSucceeded() + s.Load.FailedTotal() + s.Load.Cut
		}
		rate := r.Points[0].Result.Rate
		// On any machine. No disturbance makes a service faster; a few requests are sent before the load.
		if before := answered.Load() - sent; rate > 420 || others.Load() > 0 || before < 1 || before > 3 {
			t.Errorf("%.0f/s of 400/s; %d requests before the load, %d for other paths", rate, before, others.Load())
		}
		if code != 0 || rate < 330 {
			return fmt.Errorf("exit code %d, %.0f/s of 400/s:\n%s", code, rate, stderr)
		}
		return nil
	})
}
