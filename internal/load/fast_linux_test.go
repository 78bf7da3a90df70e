package load

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The bar: 64 MB of resident memory with 2,048 connections, all in all.
func TestMemoryOf2048Connections(t *testing.T) {
	if err := CheckLimits(2 * 2048); err != nil {
		t.Skip(err)
	}
	if slack > 1 {
		t.Skip("the race detector needs memory of its own")
	}
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), clientEnv+"=locbench "+benchServer(t, "")+"/10kB 2048")
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var rate float64
	var succeeded, failed, peak, allocations int64
	if _, err := fmt.Sscanf(string(out), "rate %f succeeded %d failed %d peak %d allocations %d", &rate, &succeeded, &failed, &peak, &allocations); err != nil {
		t.Fatalf("%v in %q", err, out)
	}
	t.Logf("%d answers, %d kB at most, %d allocations", succeeded, peak, allocations)
	if allocations > 2000 { // of windows, timers and the runtime
		t.Errorf("%d allocations for %d requests", allocations, succeeded)
	}
	if succeeded < 2048 || failed > 0 || peak <= 0 || peak > 64<<10 {
		t.Errorf("%d succeeded, %d failed, %d kB", succeeded, failed, peak)
	}
}

func TestShardsShareTheConnections(t *testing.T) {
	for _, shards := range []int{1, 2, 3, 5} {
		t.Run(strconv.Itoa(shards), func(t *testing.T) {
			server := newCounting(t, hello)
			l := run(t, Engine{Shards: shards, Window: 50 * time.Millisecond}, plan(server.URL, 7, 200*time.Millisecond))
			if l.AllSucceeded() != server.count(200) || server.connections.Load() != 7 {
				t.Errorf("%d succeeded, the server answered %d on %d connections", l.Succeeded, server.count(200), server.connections.Load())
			}
			p := plan(server.URL, 7, time.Minute)
			p.Step.MaxRequests = 1001
			before := server.count(200)
			if l := run(t, Engine{Shards: shards}, p); l.Succeeded != 1001 || server.count(200)-before != 1001 {
				t.Errorf("%d succeeded, the server answered %d", l.Succeeded, server.count(200)-before)
			}
		})
	}
}

// What a socket does not take at once is sent when it does.
func TestFastLoopSendsLongRequests(t *testing.T) {
	server := newCounting(t, hello)
	p := plan(server.URL, 2, time.Minute)
	p.Requests[0].Method, p.Requests[0].Body = "POST", strings.Repeat("x", 8<<20)
	p.Step.MaxRequests = 6
	l := run(t, Engine{}, p)
	if l.Succeeded != 6 || server.count(200) != 6 {
		t.Errorf("%d succeeded, the server answered %d, failed %v %v", l.Succeeded, server.count(200), l.Failed, l.Examples)
	}
}
