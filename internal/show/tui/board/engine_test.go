package board

import (
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/testenv"
)

// The details of each step name its load engine, where it is known.
func TestDetailNamesTheLoadEngine(t *testing.T) {
	s := published(t, "locations")
	trial := s.Trials[0]
	v := &view{b: New(), l: ui.NewLook(ui.LookOptions{}), s: s, trial: trial}
	for i, step := range trial.Steps {
		loop, want := "", ""
		switch i % 3 {
		case 1:
			loop, want = "io_uring", ", load engine fast"
		case 2:
			loop, want = "vegeta", ", load engine vegeta"
		}
		step.Result.Load.Loop = loop
		detail := strings.Join(strings.Fields(strings.Join(v.detail(step, 200), " ")), " ")
		testenv.Check(t, strings.Contains(detail, want) && (want != "" || !strings.Contains(detail, "load engine")),
			"loop %q: %q is not in\n%s", loop, want, detail)
	}
}
