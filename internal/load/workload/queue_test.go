package workload

import (
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

func TestMaxOpenConnections(t *testing.T) {
	for _, test := range []struct {
		step bench.Step
		want int
	}{
		{bench.Step{Connections: 3}, 3},
		{bench.Step{Rate: 5, MaxConnections: 3}, 3},
		{bench.Step{Rate: 5}, 256},
		{bench.Step{Rate: 700.5}, 701},
		{bench.Step{Rate: 700, RampTo: 900}, 900},
		{bench.Step{Rate: 700, Wave: &bench.Wave{Amplitude: 300}}, 1000},
		{bench.Step{Rate: 1e6}, 4096},
		{bench.Step{Arrivals: &bench.Arrivals{Users: 9}}, 9},
		{bench.Step{Arrivals: &bench.Arrivals{Users: 9999}}, 4096},
	} {
		testenv.Equal(t, MaxOpenConnections(test.step), test.want, test.step)
	}
}

func TestNewUsers(t *testing.T) {
	for _, test := range []struct {
		step              bench.Step
		connections, want int
	}{
		{bench.Step{Connections: 300}, 300, 300}, {bench.Step{Rate: 1}, 300, 256}, {bench.Step{Rate: 1}, 9, 9},
		{bench.Step{Rate: 1, MaxConnections: 300}, 300, 300}, {bench.Step{Arrivals: &bench.Arrivals{Users: 7}}, 300, 7},
		{bench.Step{Connections: 9, MaxRequests: 8}, 9, 8}, {bench.Step{Connections: 9, MaxRequests: 10}, 9, 9},
	} {
		testenv.Equal(t, NewUsers(test.step, test.connections).Count(), test.want, test.step)
	}
}

func TestQueueKeepsTheOrder(t *testing.T) {
	var q Queue
	in, out := 0, 0
	for round := range 500 {
		for range round % 7 {
			q.push(Job{Requests: in}, 1000)
			in++
		}
		for range round % 5 {
			if j, ok := q.Pop(); ok {
				testenv.Need(t, j.Requests == out, "%d came out, want %d", j.Requests, out)
				out++
			}
		}
	}
	testenv.Check(t, q.n == in-out && !q.push(Job{}, q.n),
		"%d in line, want %d, or it took more than it may", q.n, in-out)
}

// Only jobs that wait for a connection expire: one that is merely sent late, as the client was, is
// still sent.
func TestOnlyWaitingJobsExpire(t *testing.T) {
	var q Queue
	for _, j := range []Job{{At: 1, Requests: 1, Waited: true}, {At: 2, Requests: 2}, {At: 3, Requests: 4, Waited: true}} {
		q.Push(j)
	}
	n := q.Expire(10)
	testenv.Check(t, n == 1 && q.Len() == 2, "%d requests expired, %d jobs are left", n, q.Len())
	if _, ok := q.Pop(); !ok || q.Expire(3) != 0 || q.Expire(4) != 4 || q.Expire(4) != 0 {
		t.Error("the job that waits has not expired, or twice")
	}
}
