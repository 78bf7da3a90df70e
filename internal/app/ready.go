package app

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender/ready"
	"github.com/locbench/locbench/internal/text/safe"
)

// Ready waits until inst is ready. It reports when the service listens at an unexpected address. If
// a process listens at its manifest's port instead of {{.Port}}, Ready uses that port; the start-up
// time is unknown then.
func (l *launcher) Ready(
	ctx context.Context, inst bench.Instance, svc bench.Service, report func(level, text string),
) (bench.InstanceReady, error) {
	up, err := awaitReady(ctx, ready.Wait, inst, l.question(svc), svc.Port, report)
	if text := ownLoopback(inst.Info().Runtime, svc.Env); err != nil && ctx.Err() == nil && text != "" {
		report("warning", text)
	}
	return up, err
}

// ownLoopback returns a sentence about the variables of a container that name the loopback address;
// "" if there are none. It does not repeat their values, which may hold passwords.
func ownLoopback(runtime bench.Runtime, env map[string]string) string {
	if !runtime.Traits().Container {
		return ""
	}
	var names []string
	for name, value := range env {
		if strings.Contains(value, "127.0.0.1") || strings.Contains(value, "localhost") {
			names = append(names, safe.Line(name, 60))
		}
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	return strings.Join(names[:min(len(names), 5)], ", ") + ": 127.0.0.1 and localhost are the container itself; " +
		"name an address that it reaches"
}

// question returns the readiness check of svc. A target without a manifest may respond to "/" with
// any status.
func (l *launcher) question(svc bench.Service) ready.Question {
	q := ready.Question{
		Path: svc.Ready.Path, Port: svc.Ready.Port, Status: svc.Ready.Status, Timeout: svc.Ready.Timeout,
		Lenient: svc.URL != "" && svc.Dir == "", Way: l.way, Header: map[string]string{},
	}
	for name, value := range svc.Ready.Header {
		q.Header[name] = bench.FillEnv(value, l.env.Getenv)
	}
	return q
}

// waiter is the type of ready.Wait.
type waiter func(
	ctx context.Context, inst bench.Instance, q ready.Question, late func(last string),
) (bench.InstanceReady, error)

func awaitReady(
	ctx context.Context, wait waiter, inst bench.Instance, q ready.Question, port int, report func(level, text string),
) (bench.InstanceReady, error) {
	if q.Timeout <= 0 {
		q.Timeout = time.Minute
	}
	began := time.Now()
	target := inst.Info().Runtime.Traits().AlreadyRunning
	elsewhere, reported, known := "", false, !target
	up, err := wait(ctx, inst, q, func(last string) {
		silent := fmt.Sprintf("not ready at %s yet: %s", q.URL(inst), last)
		report("", silent)
		if target {
			if left := q.Timeout - time.Since(began); !reported && left > 0 {
				reported = true
				report("info", fmt.Sprintf("%s; waiting another %s", silent, left.Round(time.Second)))
			}
			return
		}
		where, move := listensElsewhere(inst, port)
		if where == "" || where == elsewhere {
			return
		}
		elsewhere = where
		if !move {
			report("warning", fmt.Sprintf("no response at %s: %s", q.URL(inst), where))
			return
		}
		inst.(interface{ Move(port int) }).Move(port)
		known = false
		report("warning", where+", its manifest's port, not {{.Port}}: using that port; start-up time unknown")
	})
	if err != nil && elsewhere != "" {
		err = fmt.Errorf("%w; %s", err, elsewhere)
	}
	if !known {
		up = bench.InstanceReady{}
	}
	return up, err
}

// listensElsewhere returns a phrase for where inst listens, if that is known and not its expected
// address. move is true if inst is a process that listens at port.
func listensElsewhere(inst bench.Instance, port int) (where string, move bool) {
	l, ok := inst.(interface{ Listens() []netip.AddrPort })
	if !ok {
		return "", false
	}
	expected, err := netip.ParseAddrPort(inst.Info().Address)
	if err != nil {
		return "", false // on the engine of another machine
	}
	listens := l.Listens()
	at := func(port int) bool {
		return slices.ContainsFunc(listens, func(a netip.AddrPort) bool {
			return int(a.Port()) == port && (a.Addr().IsUnspecified() || a.Addr() == expected.Addr())
		})
	}
	if len(listens) == 0 || at(int(expected.Port())) {
		return "", false
	}
	var all []string
	onlyLoopback := inst.Info().Runtime.Traits().Container
	for _, a := range listens[:min(len(listens), 5)] {
		all = append(all, a.String())
		onlyLoopback = onlyLoopback && a.Port() == expected.Port() && a.Addr().IsLoopback()
	}
	where = "it listens on " + strings.Join(all, ", ")
	if onlyLoopback {
		return where + ", unreachable from outside its container; use 0.0.0.0", false
	}
	if inst.Info().Runtime.Traits().Container {
		return fmt.Sprintf("%s; its manifest says `port: %d`", where, port), false
	}
	_, movable := inst.(interface{ Move(port int) })
	return where, movable && at(port)
}
