package setup

import (
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/show/tui/tuitest"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/testenv"
)

// TestOptionsHaveTheirFields: each option with a label in the table has a field on the screen.
func TestOptionsHaveTheirFields(t *testing.T) {
	two := []bench.Selection{{Contender: "go-nethttp"}, {Contender: "rs-actix"}}
	screens := ""
	for _, set := range []profile.Changes{{"elastic": {localElastic}, "cities": {"500"}}, {"data": {"./dump"}}} {
		o := open(t, everything(t), Choice{Contenders: two, Set: set})
		size := tuitest.Size{Width: 100, Height: 60}
		screens += strings.Join(tuitest.View(o.Screen, size, ui.NewLook(ui.LookOptions{NoColor: true}), noon), "\n")
	}
	for _, option := range profile.Options() {
		testenv.Check(t, option.Label == "" || strings.Contains(screens, " "+option.Label+" "),
			"--%s has no field %s:\n%s", option.Name, option.Label, screens)
	}
}
