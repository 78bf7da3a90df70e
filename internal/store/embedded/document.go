package embedded

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// parsed is a document as sent, and the indexed parts of it.
type parsed struct {
	stored
	text     map[*field][]string // values of kindSuggest
	grams    []grams             // from text
	keywords []value[string]     // also booleans, as "true" and "false"
	longs    []value[int64]
	points   []value[place]
	shapes   []value[*shape]
}

type value[T any] struct {
	field *field
	of    T
}

// parseDocument reads source, which must be valid JSON. It keeps source, so do not change it later.
func (m *mapping) parseDocument(id string, source []byte) (*parsed, error) {
	start := skipSpace(source, 0)
	if start == len(source) || source[start] != '{' {
		return nil, errors.New("expected an object")
	}
	d := &parsed{stored: stored{id: id, source: source}}
	if err := m.object(d, "", start); err != nil {
		return nil, err
	}
	d.members = slices.Clone(d.members) // without spare capacity
	d.analyze()
	return d, nil
}

// grams are the terms of one field, in the order of the text.
type grams struct {
	name  string
	terms []string
}

// analyze fills in grams. Many fields have the same text, since a city has the same name in most
// languages: each text is split into words once.
func (d *parsed) analyze() {
	done := map[analyzed][]token{}
	for f, values := range d.text {
		var all [len(shingleSuffix)][]string
		for _, text := range values {
			tokens := f.analyzer.tokens(text, done)
			for n := 1; n < len(all); n++ {
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

func (m *mapping) object(d *parsed, prefix string, at int) error {
	for key, value := range members(d.source, at) {
		if prefix == "" {
			d.members = append(d.members, member{uint32(key.start - 1), uint32(value.end)})
		}
		path := prefix + keyText(key.of(d.source))
		var err error
		if f := m.fields[path]; f != nil {
			err = d.values(f, value)
		} else if d.source[value.start] == '{' {
			err = m.object(d, path+".", value.start)
		} else if m.dynamic == "strict" {
			err = fmt.Errorf("no field %s in the mapping, which is strict", shorten(path))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// keyText returns the text of a key. Nearly all keys need no decoding.
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

func (d *parsed) values(f *field, v span) error {
	if d.source[v.start] == '[' && f.kind != kindPoint {
		for _, e := range members(d.source, v.start) {
			if err := d.values(f, e); err != nil {
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
			return fmt.Errorf("field %s: %w", to.path, err)
		}
	}
	return nil
}

// index adds a value to a field and its sub-fields.
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
		lat, lon, err := parseLatLon(d.source, v)
		if err != nil {
			return err
		}
		p, err := encodePlace(lat, lon)
		if err != nil {
			return err
		}
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
		d.keywords = append(d.keywords, value[string]{f, s})
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

// textOf returns the text of a scalar: Elasticsearch also indexes numbers and booleans as text.
func textOf(b []byte, v span) (string, error) {
	switch b[v.start] {
	case '"':
		return keyText(b[v.start+1 : v.end-1]), nil
	case '{', '[':
		return "", errors.New("can't get text on an object or array")
	}
	return string(v.of(b)), nil
}

// integer reads a long as Elasticsearch's "coerce" does: it drops decimals and accepts quotes.
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

// parseLatLon reads {"lat":…,"lon":…} or [lon,lat].
func parseLatLon(b []byte, v span) (lat, lon float64, err error) {
	var object struct{ Lat, Lon *float64 }
	var list []float64
	switch raw := v.of(b); {
	case json.Unmarshal(raw, &object) == nil && object.Lat != nil && object.Lon != nil:
		return *object.Lat, *object.Lon, nil
	case json.Unmarshal(raw, &list) == nil && len(list) == 2:
		return list[1], list[0], nil
	}
	return 0, 0, errors.New(`the embedded store wants {"lat": …, "lon": …} or [lon, lat]`)
}
