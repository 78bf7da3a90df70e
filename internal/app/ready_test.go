package app

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"locbench/internal/bench"
	"locbench/internal/contender/ready"
)

// placed is an instance of which it is known where it is asked and where it listens.
type placed struct {
	bench.Instance
	runtime bench.Runtime
	asked   string
	listens []netip.AddrPort
}

func (p *placed) BaseURL() string { return "http://" + p.asked }
func (p *placed) Info() bench.InstanceInfo {
	return bench.InstanceInfo{Runtime: p.runtime, Address: p.asked}
}
func (p *placed) Listens() []netip.AddrPort { return p.listens }

// movable is one that can be asked elsewhere.
type movable struct{ *placed }

func (m movable) Move(port int) { m.asked = fmt.Sprintf("127.0.0.1:%d", port) }

// refused stands for ready.Wait at an address that refuses connections, until the time is over or
// answers says that the address has become one that responses.
func refused(responses string) waiter {
	return func(_ context.Context, inst bench.Instance, q ready.Question, late func(string)) (bench.InstanceReady, error) {
		for end := time.Now().Add(q.Timeout); ; {
			time.Sleep(time.Second)
			if !time.Now().Before(end) {
				return bench.InstanceReady{}, errors.New("not ready")
			}
			late("connection refused")
			if inst.BaseURL() == responses {
				return bench.InstanceReady{StartUp: 5 * time.Millisecond}, nil
			}
		}
	}
}

// TestAwaitReady_SilentTarget: that a target does not respond is reported once, after a second.
func TestAwaitReady_SilentTarget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var progress, told []string
		_, err := awaitReady(t.Context(), refused(""), &placed{runtime: bench.RuntimeURL, asked: "127.0.0.1:1"}, ready.Question{Timeout: 10 * time.Second}, 0, func(level, text string) {
			if level == "" {
				progress = append(progress, text)
				return
			}
			told = append(told, fmt.Sprintf("%v %s: %s", time.Since(began), level, text))
		})
		want := []string{"1s info: not ready at http://127.0.0.1:1 yet: connection refused; it is asked for another 9s"}
		if err == nil || !slices.Equal(told, want) || len(progress) != 9 {
			t.Errorf("%v; reported %q, want %q; %d times on the way", err, told, want, len(progress))
		}
	})
}

// TestAwaitReady_ListensElsewhere: where a contender listens is said once, and it is asked there
// where that is its manifest's port and it can be.
func TestAwaitReady_ListensElsewhere(t *testing.T) {
	at := func(list ...string) (all []netip.AddrPort) {
		for _, a := range list {
			all = append(all, netip.MustParseAddrPort(a))
		}
		return all
	}
	for name, c := range map[string]struct {
		runtime   bench.Runtime
		listens   []netip.AddrPort
		fixed     bool
		responses string
		told      string // "": nothing
		err       string // "": it becomes ready
	}{
		"its manifest's port":   {runtime: bench.RuntimeProcess, listens: at("[::]:8080"), responses: "http://127.0.0.1:8080", told: "it listens on [::]:8080, its manifest's port"},
		"cannot be moved":       {runtime: bench.RuntimeProcess, listens: at("0.0.0.0:8080"), fixed: true, told: "no response at http://127.0.0.1:4000: it listens on 0.0.0.0:8080", err: "it listens on 0.0.0.0:8080"},
		"somewhere":             {runtime: bench.RuntimeProcess, listens: at("127.0.0.1:9"), told: "it listens on 127.0.0.1:9", err: "it listens on 127.0.0.1:9"},
		"where it is asked":     {runtime: bench.RuntimeProcess, listens: at("127.0.0.1:4000"), err: "not ready"},
		"nowhere":               {runtime: bench.RuntimeProcess, err: "not ready"},
		"loopback, container's": {runtime: bench.RuntimeDocker, listens: at("127.0.0.1:4000", "127.0.0.2:4000"), err: "not ready"},
		"inside its container":  {runtime: bench.RuntimeDocker, listens: at("127.0.0.2:4000"), told: "cannot be reached from outside its container: 0.0.0.0 can", err: "0.0.0.0 can"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &placed{runtime: c.runtime, asked: "127.0.0.1:4000", listens: c.listens}
				var inst bench.Instance = movable{p}
				if c.fixed {
					inst = p
				}
				var told []string
				up, err := awaitReady(t.Context(), refused(c.responses), inst, ready.Question{Timeout: 5 * time.Second}, 8080, func(level, text string) {
					if level == "warning" {
						told = append(told, text)
					}
				})
				if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
					t.Errorf("error %v, want %q", err, c.err)
				}
				if up.StartUp != 0 {
					t.Errorf("its start is said to have taken %v, though it was asked elsewhere before", up.StartUp)
				}
				if (len(told) == 0) != (c.told == "") || len(told) > 1 || len(told) == 1 && !strings.Contains(told[0], c.told) {
					t.Errorf("reported %q, want %q", told, c.told)
				}
			})
		})
	}
}

// TestQuestionOfATarget: only where nothing describes a service, any response below 500 will do.
func TestQuestionOfATarget(t *testing.T) {
	s := &site{plan: &bench.Run{}}
	for name, test := range map[string]struct {
		svc     bench.Service
		lenient bool
	}{
		"nothing describes it":     {bench.Service{URL: "http://127.0.0.1:1"}, true},
		"a manifest, short":        {bench.Service{URL: "http://127.0.0.1:1", Dir: "svc/orders"}, false},
		"one that locbench starts": {bench.Service{Dir: "svc/orders"}, false},
	} {
		if got := s.question(test.svc).Lenient; got != test.lenient {
			t.Errorf("%s: %v", name, got)
		}
	}
}
