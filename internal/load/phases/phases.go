// Package phases times single requests phase by phase: look-up of the name, TCP handshake, TLS
// handshake, writing, first byte, last byte.
//
// It asks by itself, from one goroutine over a connection of its own, rather than through net/http
// with httptrace: there the writing and the reading belong to two more goroutines, whose waking up
// (tens of microseconds on a busy machine) would be in the phases. The answer is read by net/http's
// parser, with the moment of its first byte taken where the bytes come in. HTTP/1.1 only, no proxy,
// no redirects, nothing is tried again.
package phases

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"locbench/internal/bench"
	"locbench/internal/load/wire"
	"locbench/internal/load/workload"
)

// DefaultTimeout bounds a request where the plan does not.
const DefaultTimeout = 10 * time.Second

// Plan says what is asked and how often.
type Plan struct {
	BaseURL  string // of the contender, without a slash at the end; http or https
	Request  bench.Request
	IDs      []int64       // of the data set, for {id}
	Requests int           // after the first: so many on its connection, and so many on new ones
	Timeout  time.Duration // of one request with all its phases; 0 is DefaultTimeout
	Seed     uint64        // of the ids

	TLS     *tls.Config                                                          // for https; nil checks certificates against those of the system
	Resolve func(ctx context.Context, host string) ([]net.IP, error)             // looks names up; nil is the system's resolver
	Dial    func(ctx context.Context, network, address string) (net.Conn, error) // nil is a plain net.Dialer
}

// Measure asks the first request and those after it, one after the other. A request that fails is a
// result: its Err says why. The error is about the plan, or ctx's.
func Measure(ctx context.Context, plan Plan) (bench.Phases, error) {
	out := bench.Phases{Request: plan.Request.Name}
	a, err := newAsker(plan)
	if err != nil {
		return out, err
	}
	defer a.close()
	if out.First, err = a.ask(ctx); err != nil {
		return out, err
	}
	for _, all := range []*[]bench.RequestPhases{&out.Kept, &out.New} {
		for range plan.Requests {
			if all == &out.New {
				a.close()
			}
			r, err := a.ask(ctx)
			if err != nil {
				return out, err
			}
			*all = append(*all, r)
		}
	}
	return out, nil
}

// asker makes requests on one connection, and opens another when that is gone.
type asker struct {
	plan     Plan
	target   wire.Target
	rng      *rand.Rand
	language int
	line     *line
}

func newAsker(plan Plan) (*asker, error) {
	u, err := url.Parse(plan.BaseURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil, errors.New("base URL: it must be http://HOST:PORT or https://HOST:PORT")
	}
	if strings.Contains(plan.Request.Path, "{id}") && len(plan.pool()) == 0 {
		return nil, fmt.Errorf("request %q asks for an id, but there are none", plan.Request.Name)
	}
	if strings.Contains(plan.Request.Path, "{language}") && len(plan.Request.Languages) == 0 {
		return nil, fmt.Errorf("request %q asks for a language, but there are none", plan.Request.Name)
	}
	plan.Timeout = cmp.Or(max(plan.Timeout, 0), DefaultTimeout)
	if plan.Resolve == nil {
		plan.Resolve = func(ctx context.Context, host string) ([]net.IP, error) {
			return net.DefaultResolver.LookupIP(ctx, "ip", host)
		}
	}
	if plan.Dial == nil {
		plan.Dial = (&net.Dialer{}).DialContext
	}
	a := &asker{plan: plan, target: wire.NewTarget(plan.BaseURL, plan.TLS, false)}
	a.rng = rand.New(rand.NewPCG(plan.Seed, 0x706861736573))
	if _, err := a.request(); err != nil {
		return nil, err
	}
	a.language = 0
	return a, nil
}

func (p Plan) pool() []int64 {
	if len(p.Request.IDs.Fixed) > 0 {
		return p.Request.IDs.Fixed
	}
	return p.IDs
}

// request is the next one, with an id and a language filled in.
func (a *asker) request() (*http.Request, error) {
	r := a.plan.Request
	path := r.Path
	if pool := a.plan.pool(); len(pool) > 0 {
		path = strings.ReplaceAll(path, "{id}", strconv.FormatInt(pool[a.rng.IntN(len(pool))], 10))
	}
	if n := len(r.Languages); n > 0 {
		path = strings.ReplaceAll(path, "{language}", url.QueryEscape(r.Languages[a.language%n]))
		a.language++
	}
	req, err := workload.NewRequest(strings.TrimSuffix(a.plan.BaseURL, "/")+path, r)
	if err != nil {
		return nil, fmt.Errorf("request %q: %w", r.Name, err)
	}
	return req, nil
}

// close ends the connection; the next request opens another.
func (a *asker) close() {
	if a.line != nil {
		_ = a.line.conn.Close()
		a.line = nil
	}
}
