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

	"locbench/internal/bench"
)

// ErrUnknown is returned for a response that cannot be judged.
var ErrUnknown = errors.New("no response is known")

// The indices of the locations service.
const (
	cityIndex   = "city"
	regionIndex = "region"
)

// most is the number of cities that are kept; of a larger data set every n-th.
const most = 50_000

// Responses are those to the requests of a profile. They may be used by several goroutines at a time.
type Responses struct {
	requests map[string]request
	cities   map[int64]*document
	regions  map[int64]*document
}

// request is what of a request's path decides about its response.
type request struct {
	empty    bool   // the body is
	id       int64  // where the path fixes it; 0: drawn
	language string // likewise; ""
}

// document is what of a city or region a response holds.
type document struct {
	CountryISO string `json:"countryIso"`
	RegionID   int64  `json:"regionId"` // of a city
	IsFeatured bool   `json:"isFeatured"`

	// A name that is not there is not known, an empty one is.
	CS *string `json:"name.cs"`
	DE *string `json:"name.de"`
	EN *string `json:"name.en"`
	PL *string `json:"name.pl"`
	SK *string `json:"name.sk"`
}

func (d *document) name(language string) *string {
	return map[string]*string{"cs": d.CS, "de": d.DE, "en": d.EN, "pl": d.PL, "sk": d.SK}[language]
}

// NewResponses reads what is needed for requests from set. With requests none of whose answers are known,
// which is not a mistake, it reads nothing and Any is false.
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
		return nil, fmt.Errorf("read the known responses: %w", err)
	}
	return a, nil
}

// Any reports whether any response is known.
func (a *Responses) Any() bool { return len(a.requests) > 0 }

func (a *Responses) read(set bench.DataSet) error {
	every := 0
	for _, index := range set.Indices() {
		if index.Name == cityIndex {
			every = int(index.Count)/most + 1
		}
	}
	if every == 0 {
		return nil // a dump of something else
	}
	var err error
	if a.cities, err = documents(set, cityIndex, every); err != nil {
		return err
	}
	a.regions, err = documents(set, regionIndex, 1)
	return err
}

// factual is a data set that can leave out geometries, which are the most of a document and of what
// it costs to make.
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
		if n++; n%every != 0 || err != nil { // by no number it cannot be asked for
			continue
		}
		d := &document{}
		if json.Unmarshal(doc.Source, d) == nil { // else it is not known: a dump may hold what it likes
			all[id] = d
		}
	}
	return all, nil
}

// answer is a city as it is reported. The pointers distinguish an absent key from an empty one.
type response struct {
	CountryISO *string `json:"countryIso"`
	ID         *int64  `json:"id"`
	IsFeatured *bool   `json:"isFeatured"`
	Name       *string `json:"name"`
	RegionName *string `json:"regionName"`
}

// Check compares body with the response that is known for a request: nil when they agree, an error
// that says in what they differ, or ErrUnknown. id and language are those that were drawn for it.
func (a *Responses) Check(name string, id int64, language string, body []byte) error {
	r, ok := a.requests[name]
	if !ok {
		return ErrUnknown
	}
	if r.empty {
		if len(body) > 0 {
			return fmt.Errorf("the body is %q, not empty", clip(string(body)))
		}
		return nil
	}
	id, language = cmp.Or(r.id, id), cmp.Or(r.language, language)
	c := a.cities[id]
	if c == nil {
		return ErrUnknown
	}
	region := a.regions[c.RegionID]
	if region == nil {
		return ErrUnknown
	}
	cityName, regionName := c.name(language), region.name(language)
	if cityName == nil || regionName == nil {
		return ErrUnknown
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
		return fmt.Errorf("city %d in %s: %s is %q, the data set has %q",
			id, language, key, clip(fmt.Sprint(*got)), clip(fmt.Sprint(want)))
	}
	return nil
}

// clip bounds a text from outside.
func clip(s string) string {
	const n = 80
	if len(s) > n {
		return s[:n] + "…"
	}
	return s
}
