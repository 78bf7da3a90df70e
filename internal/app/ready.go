package app

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"locbench/internal/bench"
	"locbench/internal/contender/ready"
	"locbench/internal/text/contact"
)

// ready waits for the response of inst that says it is ready. It reports where a service listens that
// does not respond where it is asked, and asks a process at its manifest's port if that is where it
// listens; how long it took to start is not known then.
func (s *site) ready(
	ctx context.Context, inst bench.Instance, svc bench.Service, tell func(level, text string),
) (bench.InstanceReady, error) {
	return awaitReady(ctx, ready.Wait, inst, s.question(svc), svc.Port, tell)
}

// question returns what says that svc is ready. Of a service without a manifest nobody has said what it
// answers at "/".
func (s *site) question(svc bench.Service) ready.Question {
	return ready.Question{
		Path: svc.Ready.Path, Status: svc.Ready.Status, Timeout: svc.Ready.Timeout,
		Lenient: svc.URL != "" && svc.Dir == "", Way: s.way(),
	}
}

// way returns how contenders are spoken to: as the load does.
func (s *site) way() contact.Way {
	return contact.Way{HTTP2: s.plan.Profile.Protocol == bench.HTTP2, TLS: s.tls}
}

// waiter is ready.Wait.
type waiter func(
	ctx context.Context, inst bench.Instance, q ready.Question, late func(last string),
) (bench.InstanceReady, error)

func awaitReady(
	ctx context.Context, wait waiter, inst bench.Instance, q ready.Question, port int, tell func(level, text string),
) (bench.InstanceReady, error) {
	if q.Timeout <= 0 {
		q.Timeout = time.Minute
	}
	began := time.Now()
	foreign := inst.Info().Runtime.Traits().AlreadyRunning
	elsewhere, reported, known := "", false, !foreign
	up, err := wait(ctx, inst, q, func(last string) {
		silent := fmt.Sprintf("not ready at %s yet: %s", inst.BaseURL(), last)
		tell("", silent)
		if foreign {
			if left := q.Timeout - time.Since(began); !reported && left > 0 {
				reported = true
				tell("info", fmt.Sprintf("%s; waiting another %s", silent, left.Round(time.Second)))
			}
			return
		}
		where, move := listensElsewhere(inst, port)
		if where == "" || where == elsewhere {
			return
		}
		elsewhere = where
		if !move {
			tell("warning", fmt.Sprintf("no response at %s: %s", inst.BaseURL(), where))
			return
		}
		inst.(interface{ Move(port int) }).Move(port)
		known = false
		tell("warning", where+", its manifest's port, not {{.Port}}: using that port; start-up time unknown")
	})
	if err != nil && elsewhere != "" {
		err = fmt.Errorf("%w; %s", err, elsewhere)
	}
	if !known {
		up = bench.InstanceReady{}
	}
	return up, err
}

// listensElsewhere says where inst listens, if that is seen and not where it is asked; move means that it is
// a process that listens at port.
func listensElsewhere(inst bench.Instance, port int) (where string, move bool) {
	l, ok := inst.(interface{ Listens() []netip.AddrPort })
	if !ok {
		return "", false
	}
	asked, err := netip.ParseAddrPort(inst.Info().Address)
	if err != nil {
		return "", false // behind the engine of another machine
	}
	listens := l.Listens()
	at := func(port int) bool {
		return slices.ContainsFunc(listens, func(a netip.AddrPort) bool {
			return int(a.Port()) == port && (a.Addr().IsUnspecified() || a.Addr() == asked.Addr())
		})
	}
	if len(listens) == 0 || at(int(asked.Port())) {
		return "", false
	}
	var all []string
	onlyLoopback := inst.Info().Runtime.Traits().Container
	for _, a := range listens[:min(len(listens), 5)] {
		all = append(all, a.String())
		onlyLoopback = onlyLoopback && a.Port() == asked.Port() && a.Addr().IsLoopback()
	}
	where = "it listens on " + strings.Join(all, ", ")
	if onlyLoopback {
		return where + ", unreachable from outside its container; use 0.0.0.0", false
	}
	_, movable := inst.(interface{ Move(port int) })
	return where, movable && at(port)
}
