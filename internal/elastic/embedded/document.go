package embedded

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// parsed is a document as it was sent, and what of it is indexed.
type parsed struct {
	stored
	text     map[*field][]string // values of kindSuggest
	grams    []grams             // of text
	keywords []value[string]     // also booleans, as "true" and "false"
	longs    []value[int64]
	points   []value[place]
	shapes   []value[*shape]
}

type value[T any] struct {
	field *field
	of    T
}

const maxDocDepth = 20 // as Elasticsearch's index.mapping.depth.limit

// parseDocument reads a source. It keeps source, which must not change afterwards.
func (m *mapping) parseDocument(id string, source []byte) (*parsed, error) {
	if !json.Valid(source) {
		return nil, badRequest("mapper_parsing_exception", "failed to parse: the document is no valid JSON")
	}
	start := skipSpace(source, 0)
	if source[start] != '{' {
		return nil, badRequest("mapper_parsing_exception", "failed to parse: the document must be an object")
	}
	d := &parsed{stored: stored{id: id, source: source}}
	if err := m.object(d, "", start, 0); err != nil {
		return nil, err
	}
	d.members = slices.Clone(d.members) // without room for more
	d.analyze()
	return d, nil
}

// grams are the terms of one field, in the order of the text.
type grams struct {
	name  string
	terms []string
}

// analyze makes grams. The same text stands in many fields, since a city is called the same in most
// languages: one analysis serves them all.
func (d *parsed) analyze() {
	type key struct {
		analyzer *analyzer
		text     string
	}
	done := map[key][]token{}
	for f, values := range d.text {
		var all [len(shingleSuffix)][]string
		for _, text := range values {
			k := key{f.analyzer, text}
			tokens, ok := done[k]
			if !ok {
				tokens = f.analyzer.tokens(text)
				done[k] = tokens
			}
			for n := 1; n <= f.shingles; n++ {
				for _, t := range shingle(tokens, n) {
					all[n] = append(all[n], t.term)
				}
			}
		}
		for n, terms := range all {
			if len(terms) > 0 {
				d.grams = append(d.grams, grams{f.path + shingleSuffix[n], terms})
			}
		}
	}
	d.text = nil
}

var errTooDeep = badRequest("mapper_parsing_exception", "failed to parse: the document is nested too deeply")

func (m *mapping) object(d *parsed, prefix string, at, depth int) error {
	if depth > maxDocDepth {
		return errTooDeep
	}
	for key, value := range members(d.source, at) {
		if depth == 0 {
			d.members = append(d.members, member{uint32(key.start - 1), uint32(value.end)})
		}
		path := prefix + keyText(key.of(d.source))
		var err error
		if f := m.fields[path]; f != nil {
			err = d.values(f, value, depth)
		} else if d.source[value.start] == '{' {
			err = m.object(d, path+".", value.start, depth+1)
		} else if m.dynamic == "strict" {
			parent, name, ok := cutLast(path)
			if !ok {
				parent, name = "_doc", path
			}
			err = badRequest("strict_dynamic_mapping_exception",
				"mapping set to strict, dynamic introduction of [%s] within [%s] is not allowed", shorten(name), shorten(parent))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// keyText is the text of a key, of which nearly all need no decoding.
func keyText(raw []byte) string {
	if strings.IndexByte(string(raw), '\\') < 0 && utf8.Valid(raw) {
		return string(raw)
	}
	var s string
	if json.Unmarshal([]byte(`"`+string(raw)+`"`), &s) != nil {
		return string(raw)
	}
	return s
}

func (d *parsed) values(f *field, v span, depth int) error {
	if d.source[v.start] == '[' && (f.kind != kindPoint || !isNumberPair(d.source, v)) {
		if depth > maxDocDepth {
			return errTooDeep
		}
		for _, e := range members(d.source, v.start) {
			if err := d.values(f, e, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	if string(v.of(d.source)) == "null" {
		return nil
	}
	for _, to := range f.into {
		if err := d.index(to, v); err != nil {
			return badRequest("mapper_parsing_exception",
				"failed to parse field [%s] in document with id '%s': %v", to.path, shorten(d.id), err)
		}
	}
	return nil
}

// isNumberPair tells a geo_point [lon, lat] from a list of points.
func isNumberPair(b []byte, v span) bool {
	i := skipSpace(b, v.start+1)
	return i < len(b) && (b[i] == '-' || ('0' <= b[i] && b[i] <= '9'))
}

// index puts a value into a field and its sub-fields.
func (d *parsed) index(f *field, v span) (err error) {
	switch f.kind {
	case kindText, kindSuggest, kindKeyword:
		s, err := textOf(d.source, v)
		if err == nil {
			d.indexText(f, s)
		}
		return err
	case kindBoolean:
		switch string(v.of(d.source)) {
		case "true", `"true"`:
			d.keywords = append(d.keywords, value[string]{f, "true"})
		case "false", `"false"`, `""`:
			d.keywords = append(d.keywords, value[string]{f, "false"})
		default:
			err = errors.New("only [true] or [false] are allowed")
		}
	case kindLong:
		var n int64
		n, err = integer(string(v.of(d.source)))
		d.longs = append(d.longs, value[int64]{f, n})
	case kindPoint:
		var p place
		p, err = parseGeoPoint(d.source, v)
		d.points = append(d.points, value[place]{f, p})
	case kindShape:
		var s *shape
		s, err = parseShape(d.source, v)
		d.shapes = append(d.shapes, value[*shape]{f, s})
	}
	for i := 0; i < len(f.subs) && err == nil; i++ {
		err = d.index(f.subs[i], v)
	}
	return err
}

func (d *parsed) indexText(f *field, s string) {
	switch f.kind {
	case kindKeyword:
		if f.ignoreAbove <= 0 || utf8.RuneCountInString(s) <= f.ignoreAbove {
			d.keywords = append(d.keywords, value[string]{f, s})
		}
	case kindSuggest:
		if d.text == nil {
			d.text = map[*field][]string{}
		}
		d.text[f] = append(d.text[f], s)
	}
	for _, sub := range f.subs {
		d.indexText(sub, s)
	}
}

// textOf is the text of a scalar, as Elasticsearch indexes numbers and booleans as text too.
func textOf(b []byte, v span) (string, error) {
	switch b[v.start] {
	case '"':
		return keyText(b[v.start+1 : v.end-1]), nil
	case '{', '[':
		return "", errors.New("can't get text on an object or array")
	}
	return string(v.of(b)), nil
}

// integer reads a long as Elasticsearch's "coerce" does: decimals are cut off, quotes accepted.
func integer(raw string) (int64, error) {
	s := strings.Trim(raw, `"`)
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f < -(1<<63) || f >= 1<<63 || f != f {
		return 0, errors.New("not a long: " + shorten(raw))
	}
	return int64(f), nil
}

func parseGeoPoint(b []byte, v span) (place, error) {
	lat, lon, err := parseLatLon(b, v)
	if err != nil {
		return place{}, err
	}
	return encodePlace(lat, lon)
}

// parseLatLon reads {"lat":…,"lon":…}, [lon,lat] or "lat,lon".
func parseLatLon(b []byte, v span) (lat, lon float64, err error) {
	var hasLat, hasLon bool
	switch b[v.start] {
	case '{':
		for key, value := range members(b, v.start) {
			f, err := strconv.ParseFloat(strings.Trim(string(value.of(b)), `"`), 64)
			switch string(key.of(b)) {
			case "lat":
				lat, hasLat = f, true
			case "lon":
				lon, hasLon = f, true
			default:
				err = errors.New("field must be either [lat], [lon] or [geohash]")
			}
			if err != nil {
				return 0, 0, err
			}
		}
	case '[':
		for _, e := range members(b, v.start) {
			f, err := number(b, e)
			switch {
			case hasLat:
				err = errors.New("only two values are allowed in a geo_point array")
			case hasLon:
				lat, hasLat = f, true
			default:
				lon, hasLon = f, true
			}
			if err != nil {
				return 0, 0, err
			}
		}
	case '"':
		first, second, ok := strings.Cut(string(b[v.start+1:v.end-1]), ",")
		if !ok {
			return 0, 0, errors.New("geohashes are not supported by the embedded store")
		}
		var errLat, errLon error
		lat, errLat = strconv.ParseFloat(strings.TrimSpace(first), 64)
		lon, errLon = strconv.ParseFloat(strings.TrimSpace(second), 64)
		return lat, lon, errOr(errLat, errLon)
	}
	if !hasLat || !hasLon {
		return 0, 0, errors.New("field must have lat and lon")
	}
	return lat, lon, nil
}
