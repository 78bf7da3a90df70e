package setup

import (
	tea "charm.land/bubbletea/v2"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/testenv"
)

// TestPlanIsSettledWithTheMachinesMemory: the plan follows the machine's memory when it is read,
// and does not use it for an engine of another machine.
func TestPlanIsSettledWithTheMachinesMemory(t *testing.T) {
	base, err := profile.Parse("p.yaml", []byte("contenders: [a, b]\nruntime: docker\nlimits: {memory: 2GiB}\nrequests: [{get: /x}]\nsteps: [3]\n"))
	testenv.OK(t, err)
	s := &Screen{base: base, loaded: true, wrong: map[id]string{}}
	reason := func() bench.PlainReason {
		s.replan()
		if s.notInterleaved == nil {
			return ""
		}
		return s.notInterleaved.Reason
	}
	got := reason()
	testenv.Check(t, got == "" && s.planned, "before the machine was read: %q, %s", got, s.planErr)
	s.facts.machine, s.facts.machineOK = Machine{Available: 4 << 30, Engine: Engine{Local: true}}, true
	s.update(response(func() tea.Cmd { return nil }))
	testenv.Check(t, s.notInterleaved != nil && s.notInterleaved.Reason == bench.PlainMemory, "with 4 GiB free: %+v",
		s.notInterleaved)
	s.facts.machine.Engine.Local = false
	testenv.Equal(t, reason(), "", "an engine elsewhere")
}
