package screens

import (
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
)

// TestOpener_OneRunAtATime: a second run begins only after the end of the first. The fake locbench
// only waits until its controls end.
func TestOpener_OneRunAtATime(t *testing.T) {
	o := newOpener(console.Env{})
	o.binary = script(t, "exec cat > /dev/null\n")
	first, err := o.run([]string{"run"})
	testenv.OK(t, err)
	defer first.Close()
	if _, err := o.Start([]string{"run"}); err == nil || !strings.Contains(err.Error(), "is in progress") {
		t.Errorf("a second run at the same time: error %v", err)
	}
	first.Close()
	second, err := o.run([]string{"run"})
	if err != nil {
		t.Fatalf("after the end of the first: %v", err)
	}
	second.Close()
	if n := len(o.started()); n != 2 {
		t.Errorf("%d runs were started, want 2", n)
	}
}
