package docker

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/testenv/fakedocker"
)

// TestExit checks the reported exit of a container for what the engine knows of it. The engine is a
// fake, and the time is virtual.
func TestExit(t *testing.T) {
	for name, tt := range map[string]struct {
		happens func(f *fakedocker.Engine) // under its lock, a minute after the start
		want    bench.Exit                 // without its time
		log     string
		late    time.Duration // from what happens to the end
	}{
		"exit code":                {func(f *fakedocker.Engine) { f.End(3) }, bench.Exit{Code: 3}, "", 0},
		"its own signal":           {func(f *fakedocker.Engine) { f.End(143) }, bench.Exit{Code: 143, Signal: "SIGTERM"}, "", 0},
		"SIGKILL without a sender": {func(f *fakedocker.Engine) { f.End(137) }, bench.Exit{Code: 137, Signal: "SIGKILL"}, "", 0},
		"out of memory":            {func(f *fakedocker.Engine) { f.OOM = true; f.End(137) }, bench.Exit{Code: 137, Signal: "SIGKILL", OOMKilled: true}, "", 0},
		"out of memory, flag lost": {func(f *fakedocker.Engine) { f.Event(fakedocker.ID, "oom"); f.End(137) }, bench.Exit{Code: 137, Signal: "SIGKILL", OOMKilled: true}, "", 0},
		"out of memory, event is late": {func(f *fakedocker.Engine) {
			f.End(137)
			f.After(oomPatience/2, func() { f.Event(fakedocker.ID, "oom") })
		}, bench.Exit{Code: 137, Signal: "SIGKILL", OOMKilled: true}, "", 0},
		"killed externally": {func(f *fakedocker.Engine) { f.Event(fakedocker.ID, "kill", "signal", "9"); f.End(137) },
			bench.Exit{Code: 137, Signal: "SIGKILL"}, "", 0},
		"stopped externally": {func(f *fakedocker.Engine) { f.Event(fakedocker.ID, "kill", "signal", "15"); f.End(0) }, bench.Exit{}, "", 0},
		"out of memory, and killed": {func(f *fakedocker.Engine) {
			f.Event(fakedocker.ID, "oom")
			f.Event(fakedocker.ID, "kill", "signal", "9")
			f.End(137)
		}, bench.Exit{Code: 137, Signal: "SIGKILL", OOMKilled: true}, "", 0},
		"started again": {func(f *fakedocker.Engine) {
			f.End(143)
			f.After(time.Second, func() { f.Running, f.Starts = true, 2 })
		}, bench.Exit{Code: 143, Signal: "SIGTERM"}, "", 0},
		"started again before the next look": {func(f *fakedocker.Engine) {
			f.End(7)
			f.Running, f.Starts = true, 2
			f.Away = true
			f.After(1050*time.Millisecond, func() { f.Away = false })
		}, bench.Exit{Code: -1}, "the container was restarted", 1100 * time.Millisecond},
		"removed": {func(f *fakedocker.Engine) { f.Running, f.Gone = false, true }, bench.Exit{Code: -1}, "the container was removed", 0},
		"connections broke, and it ended later": {func(f *fakedocker.Engine) {
			f.Away = true
			f.After(lostAfter/2, func() { f.Away = false })
			f.After(time.Minute, func() { f.End(4) })
		}, bench.Exit{Code: 4, EngineLost: true}, "", time.Minute},
		"ended while the engine was away": {func(f *fakedocker.Engine) {
			f.Away = true
			f.End(5)
			f.After(lostAfter/2, func() { f.Away = false })
		}, bench.Exit{Code: 5, EngineLost: true}, "", 0},
		"ended by an engine that stops": {func(f *fakedocker.Engine) {
			f.End(143)
			f.After(engineEnds/2, func() { f.Away = true })
			f.After(time.Second, func() { f.Away = false })
		}, bench.Exit{Code: 143, Signal: "SIGTERM", EngineLost: true}, "", 0},
		"ended gracefully by an engine that stops": {func(f *fakedocker.Engine) {
			f.End(0)
			f.After(engineEnds/2, func() { f.Away = true })
			f.After(time.Second, func() { f.Away = false })
		}, bench.Exit{EngineLost: true}, "", 0},
		"ended, and removed": {func(f *fakedocker.Engine) {
			f.End(0)
			f.After(engineEnds/2, func() { f.Gone = true })
		}, bench.Exit{}, "", 0},
		"crashed before the engine stops": {func(f *fakedocker.Engine) {
			f.End(3)
			f.After(engineEnds/2, func() { f.Away = true })
			f.After(time.Second, func() { f.Away = false })
		}, bench.Exit{Code: 3}, "", 0},
		"the engine never comes back": {func(f *fakedocker.Engine) { f.Away = true }, bench.Exit{Code: -1, EngineLost: true}, "lost contact with the container", lostAfter + 100*time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := fakedocker.New()
				c := containerOf(t, f)
				f.After(time.Minute, func() { tt.happens(f) })
				exit := ends(t, c)
				testenv.Equal(t, exit.At.Sub(c.startedAt.Add(time.Minute)), tt.late)
				exit.At = time.Time{}
				testenv.Equal(t, exit, tt.want)
				if logs := c.Logs(); (len(logs) > 0) != (tt.log != "") || tt.log != "" && !strings.Contains(logs[0].Text, tt.log) {
					t.Errorf("%v, want %q", logs, tt.log)
				}
			})
		})
	}
}

// TestExit_BrokenWait: a broken connection is not an exit, however often it breaks, as long as the
// engine responds.
func TestExit_BrokenWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakedocker.New()
		c := containerOf(t, f)
		for i := range 10 {
			f.After(time.Duration(i)*time.Minute, func() { f.Away = true })
			f.After(time.Duration(i)*time.Minute+time.Millisecond, func() { f.Away = false })
		}
		go c.wait(t.Context())
		time.Sleep(11 * time.Minute)
		exit := c.Exit()
		testenv.Need(t, exit == nil, "a broken connection counts as an exit: %+v", exit)
		f.Change(func() { f.End(0) })
		<-c.Exited()
	})
}

// TestExit_KilledByLocbench: a container that locbench kills was not killed for lack of memory.
func TestExit_KilledByLocbench(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakedocker.New()
		c := containerOf(t, f)
		c.stopping.Store(true)
		f.After(time.Second, func() { f.Event(fakedocker.ID, "kill", "signal", "9"); f.End(137) })
		exit := ends(t, c)
		testenv.Check(t, !exit.OOMKilled && exit.Code == 137, "%+v", exit)
		testenv.Equal(t, len(f.Requests("GET /events")), 0)
	})
}

// TestStopSignal: a container gets the signal of its image, or of the manifest, which the engine has
// in its configuration.
func TestStopSignal(t *testing.T) {
	for config, want := range map[string]string{
		"": "SIGTERM", `"StopSignal":""`: "SIGTERM", `"StopSignal":"SIGQUIT"`: "SIGQUIT", `"StopSignal":"INT"`: "SIGINT", `"StopSignal":"15"`: "SIGTERM",
		`"StopSignal":"SIGRTMIN+3"`: "37", `"StopSignal":"x"`: "SIGTERM",
	} {
		synctest.Test(t, func(t *testing.T) {
			f := fakedocker.New()
			testenv.OK(t, json.Unmarshal([]byte("{"+config+"}"), &f.Config))
			f.OnKill = func(string) { f.End(0) }
			c, _, err := engineOf(t, f).run(t.Context(), ContainerSpec{Image: "img"})
			testenv.OK(t, err)
			r := testenv.Must(c.Stop(t.Context(), time.Second))(t)
			testenv.Equal(t, f.Signals(), []string{want}, config)
			testenv.Equal(t, r.SignalName(), want, config)
		})
	}
}

// TestStop checks which signals a container gets, and when.
func TestStop(t *testing.T) {
	const grace = 10 * time.Second
	for name, tt := range map[string]struct {
		obeys func(f *fakedocker.Engine, signal string) // under the lock
		force time.Duration                             // when the stop is forced; 0: never
		sent  []string
		want  bench.StopResult // without the times of its exit
	}{
		"graceful": {func(f *fakedocker.Engine, _ string) { f.After(3*time.Second, func() { f.End(0) }) }, 0,
			[]string{"SIGTERM"}, bench.StopResult{Graceful: true, Took: 3 * time.Second}},
		"with an error": {func(f *fakedocker.Engine, _ string) { f.End(1) }, 0,
			[]string{"SIGTERM"}, bench.StopResult{Exit: bench.Exit{Code: 1}}},
		"deaf": {func(f *fakedocker.Engine, signal string) {
			if signal == "SIGKILL" {
				f.End(137)
			}
		}, 0, []string{"SIGTERM", "SIGKILL"}, bench.StopResult{Killed: true, Took: grace, Exit: bench.Exit{Code: 137, Signal: "SIGKILL"}}},
		"forced": {func(f *fakedocker.Engine, signal string) {
			if signal == "SIGKILL" {
				f.End(137)
			}
		}, 2 * time.Second, []string{"SIGTERM", "SIGKILL"}, bench.StopResult{Killed: true, Forced: true, Took: 2 * time.Second, Exit: bench.Exit{Code: 137, Signal: "SIGKILL"}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := fakedocker.New()
				f.OnKill = func(signal string) { tt.obeys(f, signal) }
				c := containerOf(t, f)
				c.done.Go(func() { c.wait(t.Context()) })
				force := make(chan struct{})
				if tt.force > 0 {
					time.AfterFunc(tt.force, func() { close(force) })
				}
				ctx := bench.WithForce(t.Context(), force)
				r, err := c.Stop(ctx, grace)
				testenv.OK(t, err)
				again, err := c.Stop(ctx, 0)
				testenv.Check(t, err == nil && again == r, "again: %+v, %v", again, err)
				r.Exit.At = time.Time{}
				testenv.Check(t, r == tt.want && slices.Equal(f.Signals(), tt.sent),
					"%+v after %v, want %+v after %v", r, f.Signals(), tt.want, tt.sent)
				testenv.Check(t, f.Gone, "it was not removed")
			})
		})
	}
}

// TestStop_AlreadyExited: no signal is sent.
func TestStop_AlreadyExited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakedocker.New()
		f.End(3)
		c := containerOf(t, f)
		ends(t, c)
		if r, err := c.Stop(t.Context(), time.Second); err != nil || !r.ExitedBeforeStop || r.Exit.Code != 3 || len(f.Signals()) != 0 {
			t.Errorf("%+v, %v, sent %v", r, err, f.Signals())
		}
	})
}

// TestStop_NotRemoved: the error of the removal, and how it stopped.
func TestStop_NotRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakedocker.New()
		f.OnKill = func(string) { f.End(0) }
		f.Responses["DELETE "+ours] = reply(500, `{"message":"stuck"}`)
		c := containerOf(t, f)
		c.done.Go(func() { c.wait(t.Context()) })
		r, err := c.Stop(t.Context(), time.Second)
		if err == nil || err.Error() != "remove container 5f3c8a1e9d7b: Error response from daemon: stuck (\"locbench clean\" or --resume removes what is left)" || !r.Graceful {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

// TestStop_NeverExits: Stop gives up waiting for an engine that accepts SIGKILL and never reports
// the exit, and removes the container.
func TestStop_NeverExits(t *testing.T) {
	for away, took := range map[time.Duration]time.Duration{0: 11 * time.Second, 10100 * time.Millisecond: 21200 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			f := fakedocker.New()
			c := containerOf(t, f)
			follow, cancel := context.WithCancel(t.Context())
			c.cancel = cancel
			c.done.Go(func() { c.wait(follow) })
			began := time.Now()
			if away > 0 { // when it is to be removed
				f.After(10950*time.Millisecond, func() { f.Away = true })
				f.After(11*time.Second+away, func() { f.Away = false })
			}
			_, err := c.Stop(t.Context(), time.Second)
			if err == nil || !strings.Contains(err.Error(), "still running 10s after SIGKILL") || time.Since(began) != took || !f.Gone {
				t.Errorf("%v after %v, removed: %v", err, time.Since(began), f.Gone)
			}
			time.Sleep(time.Minute)
		})
	}
}

// TestSilence: each request to an engine that never responds is given up.
func TestSilence(t *testing.T) {
	for what, ask := range map[string]func(ctx context.Context, c *Container) error{
		"running": func(ctx context.Context, c *Container) error { _, err := c.engine.Running(ctx, ""); return err },
		"list":    func(ctx context.Context, c *Container) error { _, err := c.engine.List(ctx, "x"); return err },
		"inspect": func(ctx context.Context, c *Container) error { _, err := c.engine.ImageInspect(ctx, "x"); return err },
		"clean": func(ctx context.Context, c *Container) error {
			_, err := c.engine.Clean(ctx, "x", nil)
			return err
		},
		"clock": func(ctx context.Context, c *Container) error { _, err := c.engine.ClockOffset(ctx); return err },
		"usage": func(ctx context.Context, c *Container) error { _, err := c.Usage(ctx); return err },
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := fakedocker.New()
				f.Silent = true
				began := time.Now()
				err := ask(t.Context(), containerOf(t, f))
				if err == nil || !strings.Contains(err.Error(), "no response from the engine within 20s") || time.Since(began) != infoTimeout {
					t.Errorf("after %v: %v", time.Since(began), err)
				}
			})
		})
	}
}
