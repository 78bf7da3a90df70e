// Package workload says what a step asks: which requests in which mix, when each is due, how many
// connections they take, and which answers are checked.
package workload

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"locbench/internal/bench"
	"locbench/internal/load/wire"
	"locbench/internal/text/secret"
)

// Spec is what the requests of a step are made of. See load.Plan for its fields.
type Spec struct {
	BaseURL    string
	Step       bench.Step
	Requests   []bench.Request
	IDs        []int64
	Seed       uint64
	Check      func(Answer) error
	CheckEvery int
}

// Mix draws requests: which one by weight, its {id} by distribution, its {language} in turn, all
// from one seed.
type Mix struct {
	mu       sync.Mutex
	rng      *rand.Rand
	requests []*Request
	total    int // sum of the weights
	checker  *checker
}

// Request is a bench.Request made ready to be drawn.
type Request struct {
	Index  int           // among those of the mix
	Asked  *http.Request // only its method is set: what net/http needs for reading the answer
	Status int           // wanted
	IsHead bool

	Repeatable bool // see wire.Repeatable

	name      string
	parts     []part // of the bytes on the wire
	weight    int
	languages []string // escaped
	language  int      // next one
	id        func() int64
}

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

// NewMix checks a spec, all its mistakes at once, and makes its requests ready.
func NewMix(s Spec) (*Mix, error) { return NewShardMix(s, 0, 1) }

// NewShardMix is the mix of one of several threads. Each draws from a seed of its own, and begins
// elsewhere in what is taken in turn.
func NewShardMix(plan Spec, shard, shards int) (*Mix, error) {
	var errs []error
	base, err := secret.ParseURL(plan.BaseURL)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Hostname() == "" {
		// Without what it is: it may hold a password, where a malformed one cannot be separated from the
		// rest.
		errs = append(errs, errors.New("base URL: it must be http://HOST:PORT or https://HOST:PORT"))
		plan.BaseURL = "http://stand-in"
	}
	errs = append(errs, plan.Step.Validate()...)
	// The second word of the seed only has to be fixed.
	m := &Mix{rng: rand.New(rand.NewPCG(plan.Seed, 0x6c6f6362656e6368+uint64(shard))), checker: newChecker(plan, shard)}
	for _, r := range plan.Requests {
		if only := plan.Step.Request; only != "" && r.Name != only {
			continue
		}
		made, err := m.newRequest(r, plan, float64(shard)/float64(shards))
		if err != nil {
			errs = append(errs, fmt.Errorf("request %q: %w", r.Name, err))
			continue
		}
		made.language = shard * len(made.languages) / shards
		made.Index = len(m.requests)
		m.requests = append(m.requests, made)
		m.total += made.weight
	}
	known := func(r bench.Request) bool { return r.Name == plan.Step.Request }
	if len(plan.Requests) == 0 {
		errs = append(errs, errors.New("no requests"))
	} else if only := plan.Step.Request; only != "" && !slices.ContainsFunc(plan.Requests, known) {
		errs = append(errs, fmt.Errorf("no request is called %q", only))
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return m, nil
}

func (m *Mix) newRequest(r bench.Request, plan Spec, from float64) (*Request, error) {
	made := &Request{
		name: r.Name, Status: cmp.Or(r.ExpectStatus, http.StatusOK), IsHead: r.Method == http.MethodHead,
		weight: r.Weight, Asked: &http.Request{Method: cmp.Or(r.Method, http.MethodGet)},
	}
	made.Repeatable = wire.Repeatable(made.Asked.Method)
	if made.weight == 0 && (len(plan.Requests) == 1 || plan.Step.Request != "") {
		made.weight = 1
	}
	if made.weight < 1 {
		return nil, fmt.Errorf("weight %d: it must be at least 1", r.Weight)
	}
	for _, l := range r.Languages {
		made.languages = append(made.languages, url.QueryEscape(l))
	}
	if !strings.HasPrefix(r.Path, "/") {
		return nil, fmt.Errorf("path %q: it must start with a slash", r.Path)
	}
	if strings.Contains(r.Path, "{language}") && len(made.languages) == 0 {
		return nil, fmt.Errorf("path %q: it asks for a language, but there are none", r.Path)
	}
	if strings.Contains(r.Path, "{id}") {
		var err error
		if made.id, err = m.ids(r.IDs, plan.IDs, from); err != nil {
			return nil, fmt.Errorf("path %q: %w", r.Path, err)
		}
	}
	raw, err := compose(strings.TrimSuffix(plan.BaseURL, "/"), r)
	if err != nil {
		return nil, err
	}
	line, rest, _ := strings.Cut(string(raw), "\r\n")
	// Braces in headers and the body are what they are: only those of the path are placeholders.
	made.parts = append(split(line), part{text: "\r\n" + rest})
	return made, nil
}

// compose has net/http write r once, so that only the placeholders are left to be filled in for
// each request.
func compose(base string, r bench.Request) ([]byte, error) {
	// Words that no escaping touches stand in for the placeholders, which it would change.
	const id, language = "xLocbenchPlaceForIDx", "xLocbenchPlaceForLanguagex"
	path := strings.NewReplacer("{id}", id, "{language}", language).Replace(r.Path)
	req, err := newHTTPRequest(base+path, r)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := req.Write(&b); err != nil {
		return nil, err
	}
	back := strings.NewReplacer(id, "{id}", language, "{language}")
	return []byte(back.Replace(b.String())), nil
}

// newHTTPRequest is r at an address, with its headers and the password of the address.
func newHTTPRequest(address string, r bench.Request) (*http.Request, error) {
	req, err := http.NewRequest(r.Method, address, strings.NewReader(r.Body))
	if err != nil {
		// The whole URL in a url.Error may hold a password.
		if whole, ok := errors.AsType[*url.Error](err); ok {
			err = fmt.Errorf("path %q: %w", r.Path, whole.Err)
		}
		return nil, err
	}
	req.Header.Set("User-Agent", "locbench")
	for k, v := range r.Header {
		req.Header.Set(k, v)
	}
	if host := req.Header.Get("Host"); host != "" {
		req.Host = host
	}
	if user := req.URL.User; user != nil && req.Header.Get("Authorization") == "" {
		password, _ := user.Password()
		req.SetBasicAuth(user.Username(), password)
	}
	return req, nil
}

// ids returns the function that draws the next id; those taken in turn from that share of the list
// on.
func (m *Mix) ids(spec bench.IDSpec, all []int64, from float64) (func() int64, error) {
	pool := spec.Fixed
	if len(pool) == 0 {
		pool = all
	}
	if len(pool) == 0 {
		return nil, errors.New("it asks for an id, but there are none")
	}
	switch spec.Distribution {
	case "fixed":
		next := int(from*float64(len(pool))) - 1
		return func() int64 {
			next = (next + 1) % len(pool)
			return pool[next]
		}, nil
	case "uniform", "":
		return func() int64 { return pool[m.rng.IntN(len(pool))] }, nil
	case "zipf":
		exponent := cmp.Or(spec.Exponent, 1.1)
		if !(exponent > 1) {
			return nil, fmt.Errorf("zipf exponent %g: it must be greater than 1", spec.Exponent)
		}
		zipf := rand.NewZipf(m.rng, exponent, 1, uint64(len(pool)-1))
		return func() int64 { return pool[zipf.Uint64()] }, nil
	}
	return nil, fmt.Errorf("unknown distribution %q: it must be fixed, uniform or zipf", spec.Distribution)
}

// Names are those of the requests.
func (m *Mix) Names() (names []string) {
	for _, r := range m.requests {
		names = append(names, r.name)
	}
	return names
}

// Next draws a request and appends its bytes to dst.
func (m *Mix) Next(dst []byte) (*Request, []byte, Drawn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.Take(dst)
}

// Take is Next without the lock, for a mix that only one goroutine uses.
func (m *Mix) Take(dst []byte) (*Request, []byte, Drawn) {
	r := m.draw()
	d := Drawn{Check: m.checker.wants()}
	dst = r.append(dst, &d)
	return r, dst, d
}

func (m *Mix) draw() *Request {
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

// append writes the request to the end of dst, with the next id and language, and notes them in d.
func (r *Request) append(dst []byte, d *Drawn) []byte {
	for i := range r.parts {
		switch p := &r.parts[i]; p.kind {
		case partText:
			dst = append(dst, p.text...)
		case partID:
			d.id = r.id()
			dst = strconv.AppendInt(dst, d.id, 10)
		case partLanguage:
			d.language = r.languages[r.language]
			dst = append(dst, d.language...)
			r.language = (r.language + 1) % len(r.languages)
		}
	}
	return dst
}

var placeholder = regexp.MustCompile(`\{(id|language)\}`)

func split(s string) []part {
	var parts []part
	from := 0
	for _, at := range placeholder.FindAllStringIndex(s, -1) {
		kind := partID
		if s[at[0]:at[1]] == "{language}" {
			kind = partLanguage
		}
		parts = append(parts, part{text: s[from:at[0]]}, part{kind: kind})
		from = at[1]
	}
	parts = append(parts, part{text: s[from:]})
	return slices.DeleteFunc(parts, func(p part) bool { return p == part{} })
}
