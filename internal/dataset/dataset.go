// Package dataset holds the cities and regions that the store is filled with: the bundled real ones, generated ones for
// scale, and dumps that a user brings. It knows what a document looks like (AppendJSON) and how it is indexed (the mappings),
// and streams documents one at a time, so that memory does not grow with their number.
//
// Facts of the bundled data (ids, names, coordinates, populations) are real; every geometry is made up, a plausible shape
// around the centroid. It is computed from the id, so it is the same on every machine and takes no room in the binary.
//
// Talking to Elasticsearch is left to package seed, serving the documents to package store.
package dataset

import (
	"context"
	"fmt"
	"iter"

	"locbench/internal/bench"
)

// The indices of the locations service. Contenders ask for these names.
const (
	CityIndex   = "city"
	RegionIndex = "region"
)

// Languages are those that every name is given in, in the order of Names.
var Languages = [...]string{"cs", "de", "en", "pl", "sk"}

// Names is one name in each of Languages.
type Names [len(Languages)]string

// Point is a place on the earth in degrees (WGS 84).
type Point struct {
	Lat, Lon float64
}

// City is a document of the index city.
type City struct {
	ID         int64
	CountryISO string // ISO 3166-1 alpha-2
	Centroid   Point
	Geometry   []Point // one ring, counter-clockwise, the last point equal to the first
	Name       Names
	RegionID   int64
	IsFeatured bool
	Timezone   string // of the tz database
	Population int64
}

// Region is a document of the index region.
type Region struct {
	ID         int64
	CountryISO string
	Centroid   Point
	Geometry   []Point
	Name       Names
}

// Doc is one document as a bulk request takes it.
type Doc struct {
	ID      string
	Routing string // "" but for dumps that say otherwise
	Source  []byte // JSON on one line; valid only until the next document
}

// Index is one index of a Set.
type Index struct {
	Name    string // what contenders ask for: the alias
	Mapping []byte // JSON body of PUT /<index>: settings and mappings
	Count   int64  // documents
}

// Set is a data set. Its methods may be called by several goroutines at once.
type Set interface {
	// Info names the set. Its hash changes whenever a document or a mapping does.
	Info() bench.DataInfo
	// Indices lists the indices in the order in which they are to be filled.
	Indices() []Index
	// Documents streams the documents of one index, each time in the same order. An error ends it; an index that the set
	// does not have is one.
	Documents(index string) iter.Seq2[Doc, error]
	// IDs lists the ids of all cities in the order of Documents. Where the index has ids that are not integers (a
	// dump's may be anything) they are left out.
	IDs(ctx context.Context) ([]int64, error)
}

// Open returns the set that spec names: a dump (Dir), a generated one (Cities), else the bundled one.
func Open(spec bench.DataSpec) (Set, error) {
	switch {
	case spec.Dir != "" && spec.Cities != 0:
		return nil, fmt.Errorf("data set: both a dump (%s) and %d generated cities are asked for; choose one", spec.Dir, spec.Cities)
	case spec.Dir != "":
		return Dump(spec.Dir)
	case spec.Cities != 0:
		return Generated(spec.Cities, spec.Vertices, spec.Seed)
	}
	return Bundled()
}

func unknownIndex(name string) iter.Seq2[Doc, error] {
	return func(yield func(Doc, error) bool) {
		yield(Doc{}, fmt.Errorf("data set has no index %q", name))
	}
}
