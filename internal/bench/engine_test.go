package bench

import (
	"slices"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// The engine follows from the loop.
func TestEngineOfLoop(t *testing.T) {
	for loop, want := range map[string]Engine{
		"io_uring": "fast", "epoll": "fast", "vegeta": "vegeta", "": "", "x": "",
	} {
		if got := (Load{Loop: loop}).Engine(); got != want {
			t.Errorf("loop %q: engine %q, want %q", loop, got, want)
		}
	}
}

// loaded returns a trial whose steps ran with the loops.
func loaded(contender string, loops ...string) TrialResult {
	trial := TrialResult{Trial: Trial{Contender: contender}}
	for i, loop := range loops {
		s := Step{Connections: i + 1}
		s.Name = s.DefaultName()
		trial.Steps = append(trial.Steps, StepResult{Index: i, Step: s, Load: Load{Loop: loop}})
	}
	return trial
}

// One engine is named once; several with the contenders, and within one with the steps.
func TestEngineWords(t *testing.T) {
	many := slices.Repeat([]string{"vegeta"}, 11)
	many[0] = "epoll"
	for want, trials := range map[string][]TrialResult{
		"":                   {loaded("a", "", ""), {}},
		"fast":               {loaded("a", "io_uring", "epoll"), loaded("b", "epoll", "")},
		"vegeta":             {loaded("a", "vegeta")},
		"a: fast; b: vegeta": {loaded("b", "vegeta", "vegeta"), loaded("a", "io_uring")},
		"a: fast; b: fast; vegeta at 2 connections": {loaded("b", "epoll", "vegeta"), loaded("a", "epoll"), loaded("b", "epoll", "epoll"), loaded("b", "epoll", "vegeta")},
		"a: fast; vegeta at 2 connections, 3 connections, 4 connections, 5 connections, 6 connections, " +
			"7 connections, 8 connections, 9 connections and 2 more steps": {loaded("a", many...)},
	} {
		testenv.Equal(t, EngineWords(trials), want)
	}
}
