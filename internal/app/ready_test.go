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

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender/ready"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/contact"
)

// placed is an instance with an expected address and the addresses that it listens on.
type placed struct {
	bench.Instance
	runtime bench.Runtime
	address string
	listens []netip.AddrPort
}

func (p *placed) BaseURL() string { return "http://" + p.address }
func (p *placed) Info() bench.InstanceInfo {
	return bench.InstanceInfo{Runtime: p.runtime, Address: p.address}
}
func (p *placed) Listens() []netip.AddrPort { return p.listens }

// movable is a placed instance whose expected address can change.
type movable struct{ *placed }

func (m movable) Move(port int) { m.address = fmt.Sprintf("127.0.0.1:%d", port) }

// refused stands for ready.Wait at an address that refuses connections, until the timeout or until
// the base URL is responsive.
func refused(responsive string) waiter {
	return func(_ context.Context, inst bench.Instance, q ready.Question, late func(string)) (bench.InstanceReady, error) {
		for end := time.Now().Add(q.Timeout); ; {
			time.Sleep(time.Second)
			if !time.Now().Before(end) {
				return bench.InstanceReady{}, errors.New("not ready")
			}
			late("connection refused")
			if inst.BaseURL() == responsive {
				return bench.InstanceReady{StartUp: 5 * time.Millisecond}, nil
			}
		}
	}
}

// TestAwaitReady_SilentTarget: a target without a response is reported once, after a second.
func TestAwaitReady_SilentTarget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var progress, reported []string
		_, err := awaitReady(t.Context(), refused(""), &placed{runtime: bench.RuntimeURL, address: "127.0.0.1:1"}, ready.Question{Timeout: 10 * time.Second}, 0, func(level, text string) {
			if level == "" {
				progress = append(progress, text)
				return
			}
			reported = append(reported, fmt.Sprintf("%v %s: %s", time.Since(began), level, text))
		})
		want := []string{"1s info: not ready at http://127.0.0.1:1 yet: connection refused; waiting another 9s"}
		testenv.Check(t, err != nil && slices.Equal(reported, want) && len(progress) == 9,
			"%v; reported %q, want %q; %d times on the way", err, reported, want, len(progress))
	})
}

// TestAwaitReady_ListensElsewhere: an unexpected address is reported once; the manifest's port is
// used if the instance can be moved.
func TestAwaitReady_ListensElsewhere(t *testing.T) {
	at := func(list ...string) (all []netip.AddrPort) {
		for _, a := range list {
			all = append(all, netip.MustParseAddrPort(a))
		}
		return all
	}
	for name, c := range map[string]struct {
		runtime    bench.Runtime
		listens    []netip.AddrPort
		fixed      bool
		responsive string
		reported   string // "": nothing
		err        string // "": it becomes ready
	}{
		"its manifest's port":   {runtime: bench.RuntimeProcess, listens: at("[::]:8080"), responsive: "http://127.0.0.1:8080", reported: "it listens on [::]:8080, its manifest's port"},
		"cannot be moved":       {runtime: bench.RuntimeProcess, listens: at("0.0.0.0:8080"), fixed: true, reported: "no response at http://127.0.0.1:4000: it listens on 0.0.0.0:8080", err: "it listens on 0.0.0.0:8080"},
		"somewhere":             {runtime: bench.RuntimeProcess, listens: at("127.0.0.1:9"), reported: "it listens on 127.0.0.1:9", err: "it listens on 127.0.0.1:9"},
		"expected address":      {runtime: bench.RuntimeProcess, listens: at("127.0.0.1:4000"), err: "not ready"},
		"nowhere":               {runtime: bench.RuntimeProcess, err: "not ready"},
		"loopback, container's": {runtime: bench.RuntimeDocker, listens: at("127.0.0.1:4000", "127.0.0.2:4000"), err: "not ready"},
		"another port":          {runtime: bench.RuntimeDocker, fixed: true, listens: at("0.0.0.0:3000"), reported: "it listens on 0.0.0.0:3000; its manifest says `port: 8080`", err: "`port: 8080`"},
		"inside its container":  {runtime: bench.RuntimeDocker, listens: at("127.0.0.2:4000"), reported: "unreachable from outside its container; use 0.0.0.0", err: "use 0.0.0.0"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &placed{runtime: c.runtime, address: "127.0.0.1:4000", listens: c.listens}
				var inst bench.Instance = movable{p}
				if c.fixed {
					inst = p
				}
				var reported []string
				up, err := awaitReady(t.Context(), refused(c.responsive), inst, ready.Question{Timeout: 5 * time.Second}, 8080, func(level, text string) {
					if level == "warning" {
						reported = append(reported, text)
					}
				})
				testenv.Check(t, (err == nil) == (c.err == "") && (err == nil || strings.Contains(err.Error(), c.err)),
					"error %v, want %q", err, c.err)
				testenv.Equal(t, up.StartUp, 0, "a start-up, though another address was polled before")
				if (len(reported) == 0) != (c.reported == "") || len(reported) > 1 || len(reported) == 1 && !strings.Contains(reported[0], c.reported) {
					t.Errorf("reported %q, want %q", reported, c.reported)
				}
			})
		})
	}
}

// TestOwnLoopback: only in a container, by the names of the variables and without their values.
func TestOwnLoopback(t *testing.T) {
	env := map[string]string{"DATABASE_URL": "postgres://u:hunter2@127.0.0.1:5432/x", "CACHE": "localhost:6379", "PORT": "8080"}
	want := "CACHE, DATABASE_URL: 127.0.0.1 and localhost are the container itself; name an address that it reaches"
	testenv.Equal(t, ownLoopback(bench.RuntimeDocker, env), want)
	got := ownLoopback(bench.RuntimeProcess, env) + ownLoopback(bench.RuntimeDocker, map[string]string{"A": "10.0.0.1"})
	testenv.Check(t, got == "", "%q", got)
}

// TestQuestionOfATarget: any response below 500 will do only for a target without a manifest.
func TestQuestionOfATarget(t *testing.T) {
	s := &launcher{record: &record{env: noEnv}}
	for name, test := range map[string]struct {
		svc     bench.Service
		lenient bool
	}{
		"no manifest":              {bench.Service{URL: "http://127.0.0.1:1"}, true},
		"a manifest, short":        {bench.Service{URL: "http://127.0.0.1:1", Dir: "svc/orders"}, false},
		"one that locbench starts": {bench.Service{Dir: "svc/orders"}, false},
	} {
		testenv.Equal(t, s.question(test.svc).Lenient, test.lenient, name)
	}
}

// TestQuestion_Host: readiness sends the Host of the profile's requests, and the headers of the
// manifest with variables of the environment.
func TestQuestion_Host(t *testing.T) {
	env := console.Env{Getenv: func(name string) string { return "value of " + name }}
	for want, all := range map[string][]bench.Request{
		"":          {{Header: map[string]string{"Accept": "a"}}, {Header: map[string]string{"Host": "{tenant}.test"}}},
		"shop.test": {{}, {Header: map[string]string{"host": "shop.test"}}, {Header: map[string]string{"Host": "other.test"}}},
	} {
		testenv.Equal(t, (&traffic{record: &record{}, sends: sends{requests: all}}).way().Host, want)
	}
	q := (&launcher{record: &record{env: env}, way: contact.Way{Host: "shop.test"}}).question(bench.Service{Ready: bench.Ready{Port: 81, Header: map[string]string{"A": "${TOKEN}", "B": "b"}}})
	testenv.Equal(t, q.Header, map[string]string{"A": "value of TOKEN", "B": "b"})
	testenv.Equal(t, q.Port, 81)
	testenv.Equal(t, q.Way.Host, "shop.test")
}
