package screens

import (
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
	testenv.Fails(t, testenv.Err(o.Start([]string{"run"})), "is in progress")
	first.Close()
	second, err := o.run([]string{"run"})
	testenv.Need(t, err == nil, "after the end of the first: %v", err)
	second.Close()
	testenv.Equal(t, len(o.started()), 2)
}
