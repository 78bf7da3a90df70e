package locations

import (
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// params reads the parameters of one request and collects what is wrong with them, so that all of it is told at once.
type params struct {
	query    string
	problems []string
}

func paramsOf(r *http.Request) params { return params{query: r.URL.RawQuery} }

// get returns the first value of a parameter. url.Values would make a map of all of them for every request.
func (p *params) get(name string) (value string, given bool) {
	for rest := p.query; rest != ""; {
		var pair string
		pair, rest, _ = strings.Cut(rest, "&")
		key, value, _ := strings.Cut(pair, "=")
		if key != name && (!strings.ContainsAny(key, "%+") || unescape(key) != name) {
			continue
		}
		if !strings.ContainsAny(value, "%+") {
			return value, true
		}
		v, err := url.QueryUnescape(value)
		if err != nil {
			p.wrong(name, "it is not escaped as a URL wants it")
		}
		return v, true
	}
	return "", false
}

func unescape(key string) string {
	s, err := url.QueryUnescape(key)
	if err != nil {
		return key
	}
	return s
}

func (p *params) wrong(name, format string, args ...any) {
	p.problems = append(p.problems, name+": "+fmt.Sprintf(format, args...))
}

// err is nil if nothing was wrong.
func (p *params) err() error {
	if len(p.problems) == 0 {
		return nil
	}
	return &problem{http.StatusBadRequest, strings.Join(p.problems, "; ")}
}

// id is the required parameter of that name.
func (p *params) id() int64 {
	s, given := p.get("id")
	if !given || s == "" {
		p.wrong("id", "missing; want a whole number")
		return 0
	}
	id, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		p.wrong("id", "%s is not a whole number", quoted(s))
	}
	return id
}

// language is the required parameter of that name.
func (p *params) language() language {
	s, given := p.get("language")
	if !given || s == "" {
		p.wrong("language", "missing; want one of cs, de, en, pl, sk")
		return 0
	}
	for l := range languages {
		if s == languages[l].code {
			return language(l)
		}
	}
	p.wrong("language", "%s is unknown; want one of cs, de, en, pl, sk", quoted(s))
	return 0
}

const (
	maxText = 200 // bytes of a search query
	// maxDelay keeps a delayed request well within the time that a stop leaves to it.
	maxDelay = 10 * time.Second
)

// text is the required parameter query.
func (p *params) text() string {
	s, _ := p.get("query")
	switch {
	case strings.TrimSpace(s) == "":
		p.wrong("query", "missing or empty")
	case len(s) > maxText:
		p.wrong("query", "longer than %d bytes", maxText)
	case !utf8.ValidString(s):
		p.wrong("query", "not UTF-8")
	}
	return s
}

// country is the optional parameter countryIso; an empty one counts as not given.
func (p *params) country() string {
	s, _ := p.get("countryIso")
	if s == "" {
		return ""
	}
	if len(s) != 2 || !letter(s[0]) || !letter(s[1]) {
		p.wrong("countryIso", "%s is not a country code of two letters", quoted(s))
	}
	return strings.ToUpper(s)
}

func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// delay is the optional parameter of that name, in milliseconds.
func (p *params) delay() time.Duration {
	s, given := p.get("delay")
	if !given {
		return 0
	}
	ms, err := strconv.ParseInt(s, 10, 64)
	if err != nil || ms < 0 || ms > maxDelay.Milliseconds() {
		p.wrong("delay", "%s is not a whole number of milliseconds from 0 to %d", quoted(s), maxDelay.Milliseconds())
		return 0
	}
	return time.Duration(ms) * time.Millisecond
}

// point is the pair of optional parameters lat and lon.
func (p *params) point() (at point, given bool) {
	lat, hasLat := p.get("lat")
	lon, hasLon := p.get("lon")
	switch {
	case !hasLat && !hasLon:
		return point{}, false
	case !hasLat:
		p.wrong("lat", "missing, although lon is given")
	case !hasLon:
		p.wrong("lon", "missing, although lat is given")
	default:
		at = point{Lat: p.degrees("lat", lat, 90), Lon: p.degrees("lon", lon, 180)}
	}
	return at, true
}

func (p *params) degrees(name, s string, limit float64) float64 {
	f, ok := degrees(s, limit)
	if !ok {
		p.wrong(name, "%s is not a number of degrees from -%g to %g", quoted(s), limit, limit)
	}
	return f
}

func degrees(s string, limit float64) (float64, bool) {
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil && math.Abs(f) <= limit // false for NaN
}

// quoted repeats what a client sent, bounded.
func quoted(s string) string {
	if len(s) > 60 {
		s = strings.ToValidUTF8(s[:60], "") + "…"
	}
	return strconv.Quote(s)
}
