package load

import (
	"errors"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/host/cgroup"
	"github.com/locbench/locbench/internal/host/limits"
	"github.com/locbench/locbench/internal/load/record"
	"github.com/locbench/locbench/internal/testenv"
)

func TestRunRefusesWhatTheMachineCannotOpen(t *testing.T) {
	ports, ok := limits.LocalPorts()
	if !ok || ports >= bench.MaxConnections {
		t.Skip("this system does not limit local ports, or does not report it")
	}
	_, err := Engine{}.Run(t.Context(), plan("http://127.0.0.1:1", bench.MaxConnections, time.Second), nil)
	var limit *limits.Error
	testenv.Check(t, errors.As(err, &limit) && limit.Connections == bench.MaxConnections, "error %v", err)
}

func TestClientWarnings(t *testing.T) {
	rec := &record.New(bench.Step{Connections: 1}, nil).Result
	l := bench.Load{Elapsed: time.Second, ClientCPU: time.Duration(0.9 * cgroup.OwnCPUs() * float64(time.Second)), ClientCPUs: cgroup.OwnCPUs()}
	got := clientWarnings(l, rec)
	testenv.Check(t, len(got) == 1 && got[0].Kind == bench.WarnClientMaybeBound, "%q", got)
	l.Wall = 2 * time.Second // the share is of the time in which it was measured
	testenv.Equal(t, len(clientWarnings(l, rec)), 0)
	rec.Saturation = .99
	got = clientWarnings(rec.Load(), rec)
	testenv.Check(t, len(got) == 1 && got[0].Kind == bench.WarnClientBound && got[0].Values["share"] == .99, "%q", got)
}
