package profile

import (
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

func TestSettle(t *testing.T) {
	const base = "requests: [{get: /x}]\n"
	for _, c := range []struct {
		name, text string
		available  int64
		runtime    bench.Runtime
		reason     bench.PlainReason
		rounds     int
		slice      time.Duration
	}{
		{"two", "contenders: [a, b]\nsteps: [3]\n", 8 << 30, "", "", 8, Slice},
		{"unknown memory", "contenders: [a, b]\nlimits: {memory: 9GiB}\nsteps: [3]\n", 0, "", "", 8, Slice},
		{"fits", "contenders: [a, b]\nlimits: {memory: 1GiB}\nsteps: [3]\n", 3 << 30, "", "", 8, Slice},
		{"a byte short", "contenders: [a, b]\nlimits: {memory: 1GiB}\nsteps: [3]\n", 3<<30 - 1, "", bench.PlainMemory, 6, 0},
		{"two quotas", "contenders: [a, {b: {cpus: 0.5}}]\nlimits: {cpus: 1}\nsteps: [3]\n", 8 << 30, "", "", 8, Slice},
		{"a quota and none", "contenders: [a, {b: {cpus: 0.5}}]\nsteps: [3]\n", 8 << 30, "", "", 8, Slice},
		{"the same own quota", "contenders: [a, {b: {cpus: 1}}]\nlimits: {cpus: 1}\nsteps: [3]\n", 8 << 30, "", "", 8, Slice},
		{"two quotas by choice", "contenders: [a, {b: {cpus: 0.5}}]\ninterleave: 1s\nsteps: [3]\n", 8 << 30, "", "", 8, time.Second},
		{"own limits fit", "contenders: [a, {b: {memory: 512MiB}}]\nlimits: {memory: 1GiB}\nsteps: [3]\n", 5 << 29, "", "", 8, Slice},
		{"own limits, a byte short", "contenders: [a, {b: {memory: 512MiB}}]\nlimits: {memory: 1GiB}\nsteps: [3]\n", 5<<29 - 1, "", bench.PlainMemory, 6, 0},
		{"own limit above that of all", "contenders: [a, {b: {memory: 2GiB}}]\nlimits: {memory: 1GiB}\nsteps: [3]\n", 4<<30 - 1, "", bench.PlainMemory, 6, 0},
		{"four without limit, one with", "contenders: [a, b, c, d, {e: {memory: 1GiB}}]\nsteps: [3]\n", 8 << 30, "", "", 8, Slice},
		{"five without limit, one with", "contenders: [a, b, c, d, e, {f: {memory: 1GiB}}]\nsteps: [3]\n", 8 << 30, "", bench.PlainContenders, 6, 0},
		{"four without limit", "contenders: [a, b, c, d]\nsteps: [3]\n", 1, "", "", 8, Slice},
		{"five without limit", "contenders: [a, b, c, d, e]\nsteps: [3]\n", 1, "", bench.PlainContenders, 6, 0},
		{"five targets", "contenders: [a, b, c, d, e]\nsteps: [3]\n", 1, bench.RuntimeURL, "", 8, Slice},
		{"two quotas of targets", "contenders: [a, {b: {cpus: 0.5}}]\nsteps: [3]\n", 1, bench.RuntimeURL, "", 8, Slice},
		{"one", "contenders: [a]\nsteps: [3]\n", 8 << 30, "", bench.PlainAlone, 1, 0},
		{"ramp", "contenders: [a, b]\nsteps: [{connections: {from: 1, to: 9}}]\n", 8 << 30, "", bench.PlainSteps, 6, 0},
		{"arrivals", "contenders: [a, b]\nsteps: [{arrivals: {users: 9, over: 1s, requests: 1}}]\n", 8 << 30, "", bench.PlainSteps, 6, 0},
		{"number of requests", "contenders: [a, b]\nsteps: [{connections: 3, max_requests: 9}]\n", 8 << 30, "", bench.PlainSteps, 6, 0},
		{"first requests", "contenders: [a, b]\nfirst_requests: {requests: 3}\nsteps: [3]\n", 8 << 30, "", bench.PlainFirstRequests, 6, 0},
		{"seven rounds", "contenders: [a, b]\nrounds: 7\nsteps: [3]\n", 8 << 30, "", bench.PlainRounds, 7, 0},
		{"eight rounds", "contenders: [a, b]\nrounds: 8\nsteps: [3]\n", 8 << 30, "", "", 8, Slice},
		{"off", "contenders: [a, b]\ninterleave: off\nsteps: [3]\n", 8 << 30, "", bench.PlainChosen, 6, 0},
		{"none, ten rounds", "contenders: [a, b]\ninterleave: none\nrounds: 10\nsteps: [3]\n", 8 << 30, "", bench.PlainChosen, 10, 0},
		{"by choice", "contenders: [a, b]\nrounds: 2\ninterleave: 250ms\nsteps: [3]\n", 1, "", "", 2, 250 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := Parse("p.yaml", []byte(base+c.text))
			testenv.OK(t, err)
			if c.runtime != "" {
				p.Runtime = c.runtime
			}
			got, why := Settle(p, c.available)
			var reason bench.PlainReason
			if why != nil {
				reason = why.Reason
			}
			testenv.Check(t, reason == c.reason && got.Rounds == c.rounds && got.Interleave == c.slice,
				"%+v, %d rounds, every %v", why, got.Rounds, got.Interleave)
			again, _ := Settle(got, 1)
			testenv.Check(t, again.Interleave == got.Interleave && again.Rounds == got.Rounds,
				"a recorded choice changed: %v, %d rounds", again.Interleave, again.Rounds)
		})
	}
}

func TestInterleaveBounds(t *testing.T) {
	for text, ok := range map[string]bool{"auto": true, "off": true, "none": true, "50ms": true, "1m": true, "49ms": false, "61s": false, "-1ns": false, "yes": false, "": false} {
		_, err := readInterleave(text)
		testenv.Check(t, (err == nil) == ok && (err == nil || strings.Contains(err.Error(), "write auto, off")),
			"%q: %v", text, err)
	}
}
