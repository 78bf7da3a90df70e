package embedded

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
)

// document is one document as sent, and the fields of it that queries read.
type document struct {
	id     string
	source []byte
	short  []byte // source without geometry and population

	country    string // noCountry if it has none
	featured   bool
	population int64 // math.MinInt64 if it has none
	weight     float64
	located    bool
	centroid   vector
	shape      *shape // nil if it has none

	// Until the document is indexed.
	names  []name
	unread error // why queries cannot read the fields; nil if they can
}

// noCountry comes after all countries, as a document without a value does.
const noCountry = "\xff"

// name is the name in a language.
type name struct {
	language string
	terms    *terms
}

// noPopulation is what the query by name takes if the population is missing.
const noPopulation = 500

// body returns the source, or the source without geometry and population.
func (d *document) body(short bool) []byte {
	if short {
		return d.short
	}
	return d.source
}

// read fills in the fields from a source that is valid JSON.
func (d *document) read() {
	d.country, d.population = noCountry, math.MinInt64
	d.short = make([]byte, 1, 512)
	d.short[0] = '{'
	known := map[string]*terms{} // a city has the same name in most languages
	for key, value := range members(d.source) {
		field := string(key[1 : len(key)-1])
		if field != "geometry" && field != "population" {
			if len(d.short) > 1 {
				d.short = append(d.short, ',')
			}
			d.short = append(append(append(d.short, key...), ':'), value...)
		}
		if string(value) == "null" {
			continue
		}
		var err error
		if language, ok := strings.CutPrefix(field, "name."); ok {
			var text string
			if err = json.Unmarshal(value, &text); known[text] == nil {
				known[text], _ = termsOf(text)
			}
			d.names = append(d.names, name{language, known[text]})
		} else {
			err = d.field(field, value)
		}
		if err != nil && d.unread == nil {
			d.unread = fmt.Errorf("document %s: %s: %w", shorten(d.id), shorten(field), err)
		}
	}
	d.short = append(make([]byte, 0, len(d.short)+1), append(d.short, '}')...)
	people := d.population
	if people == math.MinInt64 {
		people = noPopulation
	}
	d.weight = math.Log1p(float64(people) + 1)
}

func (d *document) field(key string, value []byte) (err error) {
	switch key {
	case "countryIso":
		return json.Unmarshal(value, &d.country)
	case "isFeatured":
		return json.Unmarshal(value, &d.featured)
	case "population":
		if err := json.Unmarshal(value, &d.population); err != nil || d.population < 0 {
			d.population = math.MinInt64
			return errors.New("expected an integer of 0 or more")
		}
	case "centroid":
		var at struct{ Lat, Lon *float64 }
		if err := json.Unmarshal(value, &at); err != nil || at.Lat == nil || at.Lon == nil {
			return errors.New(`expected {"lat": …, "lon": …}`)
		}
		p := point{*at.Lon, *at.Lat}
		d.centroid, d.located = vectorOf(p), true
		return p.check()
	case "geometry":
		d.shape, err = parseShape(value)
	case "name":
		return errors.New("expected a key for each language, such as name.cs")
	}
	return err
}
