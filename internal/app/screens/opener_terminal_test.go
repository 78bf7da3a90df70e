//go:build acceptance && terminal

package screens

import (
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
)

// TestOneRunAtATime: a start key that is pressed twice starts one run.
func TestOneRunAtATime(t *testing.T) {
	o := newOpener(console.Env{})
	o.binary = testenv.Locbench(t)
	args, _ := testenv.SmallRun(t, "[1]")
	s, err := o.run(args)
	testenv.OK(t, err)
	defer s.Close()
	if _, err := o.Start(args); err == nil || !strings.Contains(err.Error(), "is in progress") {
		t.Errorf("a second run at the same time: error %v", err)
	}
}
