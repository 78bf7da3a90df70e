//go:build acceptance && engine

package cli

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/locbench/locbench/internal/run/capacity"
	"github.com/locbench/locbench/internal/text/console"
)

// A service with errors at every rate meets no SLO.
func TestCapacityOfATargetThatFails(t *testing.T) {
	var n atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1)%3 == 0 {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	defer server.Close()
	code, r, stderr := capacityOf(t, server, filepath.Join(t.TempDir(), "out"), "--guess", "20", "--max-probes", "2")
	if code != console.ExitThreshold || r.Points[0].Result.Rate != 0 || !strings.Contains(stderr, "no rate meets p50<3s,errors<0.1%") {
		t.Errorf("exit code %d, %+v\n%s", code, r.Points[0], stderr)
	}
	if why := capacity.Reason(r.Points[0].Outcomes[0].Why); !strings.Contains(why, "errors is 3") {
		t.Errorf("%q", why)
	}
}
