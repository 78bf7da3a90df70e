package verdict

import (
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
)

func TestRejectedRequestsAreAWarning(t *testing.T) {
	for _, test := range []struct {
		rejected int64
		want     string
	}{{9, ""}, {11, "rejected 1% of requests (429): they are expected"}, {4000, "rejected 80% of requests (429): they are expected"}} {
		l := bench.Load{Succeeded: 1000, Rejected: bench.Statuses{429: test.rejected}}
		got := Loop{}.Warnings(l)
		if got.Has(bench.WarnRejected) != (test.want != "") || !strings.HasPrefix(got.Join("|"), test.want) {
			t.Errorf("%d rejected: %q, want %q", test.rejected, got, test.want)
		}
	}
}
