package dataset

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"strconv"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/needs"
)

// maxCities is the number of cities that are kept; of a larger data set every n-th is.
const maxCities = 50_000

// Responses are the expected responses of a profile's requests. Safe for concurrent use.
type Responses struct {
	requests map[string]request
	cities   map[int64]*document
	regions  map[int64]*document
}

// request holds the parts of a request that decide its response.
type request struct {
	empty    bool   // the body is empty
	id       int64  // fixed by the path; 0: drawn
	language string // fixed by the path; "": drawn
}

// document holds the parts of a city or region that a response contains.
type document struct {
	CountryISO string `json:"countryIso"`
	RegionID   int64  `json:"regionId"` // cities only
	IsFeatured bool   `json:"isFeatured"`

	// A missing name is not known; an empty one is.
	CS *string `json:"name.cs"`
	DE *string `json:"name.de"`
	EN *string `json:"name.en"`
	PL *string `json:"name.pl"`
	SK *string `json:"name.sk"`
}

func (d *document) name(language string) *string {
	return map[string]*string{"cs": d.CS, "de": d.DE, "en": d.EN, "pl": d.PL, "sk": d.SK}[language]
}

// NewResponses reads from set what the responses to requests contain. If no response can be known,
// which is not an error, it reads nothing and Any reports false.
func NewResponses(set bench.DataSet, requests []bench.Request) (*Responses, error) {
	a := &Responses{requests: map[string]request{}}
	cities := false
	for _, r := range requests {
		if r.Method != "" && r.Method != "GET" || r.ExpectStatus != 0 && r.ExpectStatus != 200 {
			continue
		}
		path, query, _ := strings.Cut(r.Path, "?")
		values, err := url.ParseQuery(query)
		if err != nil {
			continue
		}
		switch path {
		case "/v1/benchmark":
			a.requests[r.Name] = request{empty: true}
		case "/city/v1/get":
			var one request
			if id := values.Get("id"); id != "{id}" {
				if one.id, err = strconv.ParseInt(id, 10, 64); err != nil {
					continue
				}
			}
			if language := values.Get("language"); language != "{language}" {
				one.language = language
			}
			a.requests[r.Name], cities = one, true
		}
	}
	if !cities {
		return a, nil
	}
	if err := a.read(set); err != nil {
		return nil, fmt.Errorf("read the expected responses: %w", err)
	}
	return a, nil
}

// Knows reports whether responses to a request, by its name, may be known.
func (a *Responses) Knows(name string) bool { _, ok := a.requests[name]; return ok }

// Any reports whether at least one expected response is known.
func (a *Responses) Any() bool { return len(a.requests) > 0 }

func (a *Responses) read(set bench.DataSet) error {
	every := 0
	for _, index := range set.Indices() {
		if index.Name == CityIndex {
			every = int(index.Count)/maxCities + 1
		}
	}
	if every == 0 {
		return nil // a dump of other data
	}
	var err error
	if a.cities, err = documents(set, CityIndex, every); err != nil {
		return err
	}
	a.regions, err = documents(set, RegionIndex, 1)
	return err
}

// factual is a data set that can leave out geometries, which are most of a document and its cost.
type factual interface {
	Facts(index string) iter.Seq2[bench.Document, error]
}

// documents reads every n-th document of an index.
func documents(set bench.DataSet, index string, every int) (map[int64]*document, error) {
	all := map[int64]*document{}
	n := 0
	docs := set.Documents
	if short, ok := set.(factual); ok {
		docs = short.Facts
	}
	for doc, err := range docs(index) {
		if err != nil {
			return nil, err
		}
		id, err := strconv.ParseInt(doc.ID, 10, 64)
		if n++; n%every != 0 || err != nil { // without a numeric id it cannot be requested
			continue
		}
		d := &document{}
		if json.Unmarshal(doc.Source, d) == nil { // else it is not known: a dump may hold anything
			all[id] = d
		}
	}
	return all, nil
}

// response is a city in a contender's form. Pointers distinguish missing keys from empty ones.
type response struct {
	CountryISO *string `json:"countryIso"`
	ID         *int64  `json:"id"`
	IsFeatured *bool   `json:"isFeatured"`
	Name       *string `json:"name"`
	RegionName *string `json:"regionName"`
}

// Check compares body with the expected response to a request. It returns nil if they agree, an
// error that names the difference, or needs.ErrUnknown. id and language were drawn for the request.
func (a *Responses) Check(name string, id int64, language string, body []byte) error {
	r, ok := a.requests[name]
	if !ok {
		return needs.ErrUnknown
	}
	if r.empty {
		if len(body) > 0 {
			return fmt.Errorf("body %q: expected an empty one", clip(string(body)))
		}
		return nil
	}
	id, language = cmp.Or(r.id, id), cmp.Or(r.language, language)
	c := a.cities[id]
	if c == nil {
		return needs.ErrUnknown
	}
	region := a.regions[c.RegionID]
	if region == nil {
		return needs.ErrUnknown
	}
	cityName, regionName := c.name(language), region.name(language)
	if cityName == nil || regionName == nil {
		return needs.ErrUnknown
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	var got response
	if err := d.Decode(&got); err != nil {
		return fmt.Errorf("city %d in %s: %w: %q", id, language, err, clip(string(body)))
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("city %d in %s: more than one object: %q", id, language, clip(string(body)))
	}
	return errors.Join(
		differs(id, language, "countryIso", got.CountryISO, c.CountryISO), differs(id, language, "id", got.ID, id),
		differs(id, language, "isFeatured", got.IsFeatured, c.IsFeatured), differs(id, language, "name", got.Name, *cityName),
		differs(id, language, "regionName", got.RegionName, *regionName))
}

func differs[T comparable](id int64, language, key string, got *T, want T) error {
	switch {
	case got == nil:
		return fmt.Errorf("city %d in %s: no %s", id, language, key)
	case *got != want:
		return fmt.Errorf("city %d in %s: %s is %q: expected %q",
			id, language, key, clip(fmt.Sprint(*got)), clip(fmt.Sprint(want)))
	}
	return nil
}

// clip shortens a text from outside.
func clip(s string) string {
	const n = 80
	if len(s) > n {
		return s[:n] + "…"
	}
	return s
}
