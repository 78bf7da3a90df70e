package profile

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results/event"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
)

// TestDraftTakesFourMinutes: at most, the comparison of two contenders that `profiles new` writes.
func TestDraftTakesFourMinutes(t *testing.T) {
	text, _, err := Draft{Get: "/items/{item}"}.text("p.yaml")
	testenv.OK(t, err)
	p, err := Parse("p.yaml", text)
	testenv.OK(t, err)
	p.Contenders = []bench.Selection{{Contender: "a"}, {Contender: "a", Variant: "b"}}
	p, why := Settle(p, 0)
	testenv.Check(t, why == nil && p.Rounds == InterleavedRounds, "%d rounds, not interleaved: %+v", p.Rounds, why)
	for runtime, most := range map[bench.Runtime]time.Duration{
		bench.RuntimeURL: 210 * time.Second, bench.RuntimeProcess: 210 * time.Second, bench.RuntimeDocker: 4 * time.Minute,
	} {
		p.Runtime = runtime
		if total := event.Total(p); total > most || total < 2*time.Minute {
			t.Errorf("%s: %v, want at most %v", runtime, total, most)
		}
	}
}

// TestNewSaysHowLongAComparisonTakes: the time that `profiles new` prints is the estimate of the
// written profile, for two contenders in containers.
func TestNewSaysHowLongAComparisonTakes(t *testing.T) {
	for connections, want := range map[string]string{
		"64": "Two versions take about 3m32s, without builds: 8 interleaved rounds.",
		"2":  "Two versions take about 2m21s, without builds: 8 interleaved rounds.",
	} {
		t.Chdir(t.TempDir())
		var talk bytes.Buffer
		env := console.Env{Stdout: io.Discard, Stderr: &talk}
		testenv.OK(t, New(env, "", Draft{Get: "/", Connections: connections}))
		testenv.Check(t, strings.Contains(talk.String(), want), "%s connections: %s", connections, talk.String())
	}
}
