//go:build acceptance && terminal

package screens

import (
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
	testenv.Fails(t, testenv.Err(o.Start(args)), "is in progress")
}
