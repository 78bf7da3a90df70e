package bench

import (
	"cmp"
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locbench/locbench/internal/testenv"
)

func TestControl(t *testing.T) {
	changed := func(kinds ...ControlKind) (r TrialResult) {
		for _, k := range kinds {
			r.ManualChanges = append(r.ManualChanges, ManualChange{Control: Control{Kind: k}})
		}
		return r
	}
	check(t,
		fact{"words", ControlSkipStep.Words(), "skip step"}, fact{"skip", Control{Kind: ControlSkipStep}.Validate(), nil},
		fact{"unknown", Control{Kind: "x"}.Validate(), `unknown control "x"`},
		fact{"a rate", Control{Kind: "rate"}.Validate(), `unknown control "rate"`},
		fact{"by hand", changed(ControlPause).ChangedByHand(), true}, fact{"nothing", changed().ChangedByHand(), false},
	)
}

// The program is asked to stop, and killed after the grace period, or as soon as that makes sense.
func TestTerminate(t *testing.T) {
	const grace, sec = 5 * time.Second, time.Second
	refused := errors.New("refused")
	for name, test := range map[string]struct {
		exitAfter, code int           // s after SIGTERM; -1: only when killed
		reported        time.Duration // from the end until it is reported
		killedAfter     time.Duration // from SIGKILL to the end
		force           time.Duration
		ask, kill       error
		want            StopResult
		err             string
	}{
		"graceful":        {exitAfter: 2, want: StopResult{Took: 2 * sec, Graceful: true}},
		"at once":         {exitAfter: 0, reported: sec, want: StopResult{Took: sec, Graceful: true}},
		"by the signal":   {exitAfter: 2, code: 143, want: StopResult{Took: 2 * sec}},
		"reported late":   {exitAfter: 2, reported: sec, want: StopResult{Took: 2 * sec, Graceful: true}},
		"killed":          {exitAfter: -1, want: StopResult{Took: grace, Killed: true}},
		"killed slowly":   {exitAfter: -1, killedAfter: 9 * sec, want: StopResult{Took: 14 * sec, Killed: true}},
		"never ends":      {exitAfter: -1, killedAfter: time.Hour, want: StopResult{Killed: true}, err: "still running 10s after SIGKILL"},
		"forced":          {exitAfter: -1, force: 3 * sec, want: StopResult{Took: 3 * sec, Killed: true, Forced: true}},
		"has no signal":   {exitAfter: -1, ask: errors.ErrUnsupported, want: StopResult{Killed: true}},
		"refuses to ask":  {exitAfter: -1, ask: refused, err: "refused"},
		"refuses to kill": {exitAfter: -1, kill: refused, want: StopResult{Killed: true}, err: "refused"},
	} {
		t.Run(name, func(t *testing.T) {
			var got StopResult
			var err error
			synctest.Test(t, func(t *testing.T) {
				exited, force := make(chan struct{}), make(chan struct{})
				var exit Exit
				end := func(after time.Duration) {
					time.AfterFunc(after, func() {
						exit = Exit{At: time.Now(), Code: test.code}
						time.AfterFunc(test.reported, func() { close(exited) })
					})
				}
				ask := func() error {
					if test.exitAfter >= 0 {
						end(time.Duration(test.exitAfter) * sec)
					}
					return test.ask
				}
				kill := func() error {
					if test.kill == nil && test.killedAfter <= KillTimeout {
						end(test.killedAfter)
					}
					return test.kill
				}
				if test.force > 0 {
					time.AfterFunc(test.force, func() { close(force) })
				}
				ctx := context.WithoutCancel(WithForce(t.Context(), force))
				got, err = Stopping{exited, func() *Exit { return &exit }, ask, kill}.Terminate(ctx, grace)
				testenv.Check(t, err != nil || got.Exit == exit, "exit %+v, want %+v", got.Exit, exit)
			})
			got.Exit = Exit{}
			check(t, fact{"result", got, test.want}, fact{"error", err, cmp.Or(test.err, "<nil>")})
		})
	}
	ended := make(chan struct{})
	close(ended)
	got, err := Stopping{Exited: ended, Exit: func() *Exit { return &Exit{Code: 3} }}.Terminate(t.Context(), grace)
	check(t, fact{"ended before", got, StopResult{ExitedBeforeStop: true, Exit: Exit{Code: 3}}}, fact{"error", err, nil},
		fact{"never forced", Forced(t.Context()) == nil, true})
}
