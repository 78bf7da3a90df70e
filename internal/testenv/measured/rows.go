package main

import (
	"fmt"
	"slices"
)

// What is measured of a client in a run. Each is a number; perRequest and delay are in µs, memory in MB.
const (
	rate       = "requests/s"
	perRequest = "CPU time per request, µs"
	perCPU     = "requests per CPU second"
	delay      = "p99 of the delay of sending, µs"
	share      = "CPU time, % of a CPU"
	wakeUps    = "wake-ups a second"
	memory     = "memory, MB"
)

// The clients other than tools: locbench, that of another commit, and locbench with the load of a row's twin.
const (
	ours = "locbench"
	base = "base"
	twin = "a fixed address"
)

// row is a load, who puts it on which server, and what has to come of it.
type row struct {
	name string
	on   string // "nginx", or "contender": locbench starts what it loads; "": the server of this program
	path string
	load // connections and rate
	// profile is what locbench runs in place of requests for the path, which are the load of the twin.
	profile string
	pairs   int
	bars    []bar
	once    []string // the clients of bars that run in the first pair only
}

type load struct{ connections, rate int }

// clients returns those that run in a pair, locbench first.
func (r row) clients(pair int) []string {
	all := []string{ours}
	for _, b := range r.bars {
		if b.client != "" && !slices.Contains(all, b.client) && (pair == 0 || !slices.Contains(r.once, b.client)) {
			all = append(all, b.client)
		}
	}
	return all
}

// bar is what a number of locbench has to reach: the median of the ratios to that of another client in
// the same pair or, without one, the number itself, in this share of the runs.
type bar struct {
	measure     string
	client      string
	least, most float64 // 0: none
	in          float64
}

// What locbench runs in place of one address.
const (
	sessions = `variables: {item: {from: 1, to: 10000}}
sessions:
  - name: user
    requests:
      - {name: login, get: /login, expect: {status: 200, present: [token]}, save: {token: token}}
      - {name: first, get: "/item/{item}", header: {Token: "{token}"}, expect: {present: [id]}}
      - {name: second, get: "/item/{item}", header: {Token: "{token}"}, expect: {present: [id]}}
      - {name: third, get: "/item/{item}", header: {Token: "{token}"}, expect: {present: [id]}}
`
	idle = `sessions:
  - name: user
    requests: [{get: /100B}, {get: /100B, think: 1h}]
`
)

// rows returns all rows.
func rows() (all []row) {
	for _, w := range []row{
		{name: "1 connection, responses after 600 µs", path: "/short", load: load{connections: 1}},
		{name: "32 connections, responses after 12 ms", path: "/wait", load: load{connections: 32}},
		{name: "256 connections, responses after 100 ms", path: "/long", load: load{connections: 256}},
	} {
		w.pairs, w.bars = 5, []bar{{measure: perRequest, client: "wrk", most: 1}}
		all = append(all, w)
	}
	peers := func(r *row, measure string) {
		r.once = []string{"oha", "bombardier", "h2load", "vegeta"}
		for _, name := range append(r.once, base) {
			r.bars = append(r.bars, bar{measure: measure, client: name})
		}
	}
	for _, size := range []string{"100B", "10kB"} {
		for _, n := range []int{64, 512, 2048} {
			r := row{name: fmt.Sprintf("nginx, %s, %d connections", size, n), on: "nginx", path: "/" + size, load: load{connections: n}, pairs: 5, bars: []bar{
				{measure: perCPU, client: "wrk", least: 1.2}, {measure: perCPU, client: "gcannon", least: 1.1}, {measure: rate, client: "wrk"},
			}}
			if size == "100B" && n == 64 {
				peers(&r, perCPU)
			}
			all = append(all, r)
		}
	}
	for _, o := range []load{{64, 2000}, {64, 20_000}} {
		r := row{name: fmt.Sprintf("%d requests/s, 64 connections", o.rate), path: "/100B", load: o, pairs: 10, bars: []bar{
			{measure: delay, most: 200, in: .9}, {measure: perRequest, client: "zrk", most: .8},
		}}
		if o.rate == 2000 {
			peers(&r, perRequest)
		}
		all = append(all, r)
	}
	return append(all,
		row{name: "sessions", path: "/100B", load: load{connections: 64}, profile: sessions, pairs: 5,
			bars: []bar{{measure: perCPU, client: twin, least: .85}, {measure: rate, client: twin}}},
		row{name: "the README's first command", on: "contender", load: load{connections: 64}, pairs: 5,
			bars: []bar{{measure: rate, client: base, least: .95}, {measure: perRequest, client: base, most: 1.05}}},
		row{name: "64 connections open, nothing to send", path: "/100B", load: load{connections: 64}, profile: idle, pairs: 1,
			bars: []bar{{measure: share, most: 1}, {measure: wakeUps, most: 300}}},
		row{name: "2048 connections", path: "/10kB", load: load{connections: 2048}, pairs: 1, bars: []bar{{measure: memory, most: 60}}},
	)
}
