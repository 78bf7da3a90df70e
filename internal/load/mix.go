package load

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"locbench/internal/bench"
)

// requestHeader carries the index of the request in the mix from the target to the transport, which takes it off again.
const requestHeader = "Locbench-Request"

// maxConnections is what one address can have at most.
const maxConnections = 65535

// mix draws requests: which one by weight, its {id} by distribution, its {language} in turn, all from one seed.
type mix struct {
	mu       sync.Mutex
	rng      *rand.Rand
	requests []*request
	total    int // sum of the weights
}

// request is a bench.Request made ready to be drawn.
type request struct {
	method string
	parts  []part // of the URL
	header http.Header
	body   []byte
	status int // wanted

	weight    int
	languages []string // escaped
	language  int      // next one
	id        func() int64
}

// part is a piece of a URL: text, or a placeholder.
type part struct {
	text string
	kind partKind
}

type partKind int

const (
	partText partKind = iota
	partID
	partLanguage
)

// newMix checks the plan, all its mistakes at once, and makes its requests ready.
func newMix(plan Plan) (*mix, error) {
	var errs []error
	base, err := url.Parse(plan.BaseURL)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Hostname() == "" {
		// Without what it is: it may hold a password, where a malformed one cannot be told from the rest.
		errs = append(errs, errors.New("base URL: it must be http://HOST:PORT or https://HOST:PORT"))
		plan.BaseURL = ""
	}
	if n := plan.Step.Connections; n < 1 || n > maxConnections {
		errs = append(errs, fmt.Errorf("%d connections: it must be 1 to %d", n, maxConnections))
	}
	if plan.Step.Duration <= 0 {
		errs = append(errs, fmt.Errorf("duration %s: it must be positive", plan.Step.Duration))
	}
	if plan.Step.MaxRequests < 0 {
		errs = append(errs, fmt.Errorf("at most %d requests: it must not be negative", plan.Step.MaxRequests))
	}
	// The second word of the seed only has to be fixed.
	m := &mix{rng: rand.New(rand.NewPCG(plan.Seed, 0x6c6f6362656e6368))}
	for i, r := range plan.Requests {
		made, err := m.newRequest(i, r, plan)
		if err != nil {
			errs = append(errs, fmt.Errorf("request %q: %w", r.Name, err))
			continue
		}
		m.requests = append(m.requests, made)
		m.total += made.weight
	}
	if len(plan.Requests) == 0 {
		errs = append(errs, errors.New("no requests"))
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return m, nil
}

func (m *mix) newRequest(i int, r bench.Request, plan Plan) (*request, error) {
	made := &request{
		method: r.Method, status: r.ExpectStatus, weight: r.Weight, body: []byte(r.Body),
		header: http.Header{"User-Agent": {"locbench"}},
		parts:  split(strings.TrimSuffix(plan.BaseURL, "/") + r.Path),
	}
	if made.method == "" {
		made.method = http.MethodGet
	}
	if made.status == 0 {
		made.status = http.StatusOK
	}
	if made.weight == 0 && len(plan.Requests) == 1 {
		made.weight = 1
	}
	if made.weight < 1 {
		return nil, fmt.Errorf("weight %d: it must be at least 1", r.Weight)
	}
	for k, v := range r.Header {
		made.header.Set(k, v)
	}
	made.header.Set(requestHeader, strconv.Itoa(i))
	for _, l := range r.Languages {
		made.languages = append(made.languages, url.QueryEscape(l))
	}
	if !strings.HasPrefix(r.Path, "/") {
		return nil, fmt.Errorf("path %q: it must start with a slash", r.Path)
	}
	if made.has(partLanguage) && len(made.languages) == 0 {
		return nil, fmt.Errorf("path %q: it asks for a language, but there are none", r.Path)
	}
	if made.has(partID) {
		id, err := m.ids(r.IDs, plan.IDs)
		if err != nil {
			return nil, fmt.Errorf("path %q: %w", r.Path, err)
		}
		made.id = id
	}
	// One trial tells whether every later request can be built.
	target := vegeta.Target{Method: made.method, URL: made.url(func() int64 { return 0 }), Header: made.header, Body: made.body}
	made.language = 0
	if _, err := target.Request(); err != nil {
		// The whole URL that url.Error tells may hold a password.
		if whole, ok := errors.AsType[*url.Error](err); ok {
			err = fmt.Errorf("path %q: %w", r.Path, whole.Err)
		}
		return nil, err
	}
	return made, nil
}

// ids returns the function that draws the next id.
func (m *mix) ids(spec bench.IDSpec, all []int64) (func() int64, error) {
	pool := all
	if len(spec.Fixed) > 0 {
		pool = spec.Fixed
	}
	if len(pool) == 0 {
		return nil, errors.New("it asks for an id, but there are none")
	}
	switch spec.Distribution {
	case "fixed":
		next := -1
		return func() int64 {
			next = (next + 1) % len(pool)
			return pool[next]
		}, nil
	case "uniform", "":
		return func() int64 { return pool[m.rng.IntN(len(pool))] }, nil
	case "zipf":
		exponent := spec.Exponent
		if exponent == 0 {
			exponent = 1.1
		}
		if !(exponent > 1) {
			return nil, fmt.Errorf("zipf exponent %g: it must be greater than 1", spec.Exponent)
		}
		zipf := rand.NewZipf(m.rng, exponent, 1, uint64(len(pool)-1))
		return func() int64 { return pool[zipf.Uint64()] }, nil
	}
	return nil, fmt.Errorf("unknown distribution %q: it must be fixed, uniform or zipf", spec.Distribution)
}

// target is the vegeta.Targeter of the mix.
func (m *mix) target(t *vegeta.Target) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.draw()
	*t = vegeta.Target{Method: r.method, URL: r.url(r.id), Header: r.header, Body: r.body}
	return nil
}

func (m *mix) draw() *request {
	if len(m.requests) == 1 {
		return m.requests[0]
	}
	x := m.rng.IntN(m.total)
	for _, r := range m.requests {
		if x -= r.weight; x < 0 {
			return r
		}
	}
	return m.requests[len(m.requests)-1]
}

// url fills the placeholders in, with an id from id and the next language.
func (r *request) url(id func() int64) string {
	if len(r.parts) == 1 {
		return r.parts[0].text
	}
	var b []byte
	for _, p := range r.parts {
		switch p.kind {
		case partText:
			b = append(b, p.text...)
		case partID:
			b = strconv.AppendInt(b, id(), 10)
		case partLanguage:
			b = append(b, r.languages[r.language]...)
			r.language = (r.language + 1) % len(r.languages)
		}
	}
	return string(b)
}

func (r *request) has(kind partKind) bool {
	for _, p := range r.parts {
		if p.kind == kind {
			return true
		}
	}
	return false
}

// split cuts a URL at its placeholders.
func split(s string) []part {
	var parts []part
	for s != "" {
		at, kind, length := len(s), partText, 0
		if i := strings.Index(s, "{id}"); i >= 0 {
			at, kind, length = i, partID, len("{id}")
		}
		if i := strings.Index(s, "{language}"); i >= 0 && i < at {
			at, kind, length = i, partLanguage, len("{language}")
		}
		if at > 0 {
			parts = append(parts, part{text: s[:at]})
		}
		if kind != partText {
			parts = append(parts, part{kind: kind})
		}
		s = s[at+length:]
	}
	return parts
}
