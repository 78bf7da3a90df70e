// Package dataset holds the cities and regions that the store is filled with: the bundled real
// ones, generated ones for scale, and dumps that a user brings. It knows what a document looks like
// (AppendJSON) and how it is indexed (the mappings). It streams documents one at a time, so
// memory does not grow with their number.
//
// Facts of the bundled data (ids, names, coordinates, populations) are real; every geometry is made
// up, a plausible shape around the centroid. It is computed from the id, so it is the same on every
// machine and takes no room in the binary.
//
// Talking to Elasticsearch is left to package seed, serving the documents to package embedded.
package dataset

import (
	"fmt"
	"iter"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
)

// The indices of the locations service. Contenders use these names.
const (
	CityIndex   = "city"
	RegionIndex = "region"
)

// Languages are the languages of every name, in the order of Names.
var Languages = [...]string{"cs", "de", "en", "pl", "sk"}

// Names is one name in each of Languages.
type Names [len(Languages)]string

// Point is a place on the earth in degrees (WGS 84).
type Point struct {
	Lat, Lon float64
}

// Region is a document of the index region.
type Region struct {
	ID         int64
	CountryISO string // ISO 3166-1 alpha-2
	Centroid   Point
	Geometry   []Point // one ring, counter-clockwise, the last point equal to the first
	Name       Names
}

// City is a document of the index city. It has all that a region has.
type City struct {
	Region
	RegionID   int64
	IsFeatured bool
	Timezone   string // of the tz database
	Population int64
}

// What a data set is made of is shared vocabulary: seed and store need not know this package.
type (
	// Doc is a document.
	Doc = bench.Document
	// Index is an index with its documents.
	Index = bench.Index
	// Set is a data set.
	Set = bench.DataSet
)

// Spec chooses a data set: the bundled one, a generated one (Cities > 0) or a dump (Dir != "").
type Spec struct {
	Dir      string
	Cities   int
	Vertices int // per generated polygon
	Seed     uint64
}

// Open returns the set that spec names: a dump (Dir), a generated one (Cities), or the bundled one.
func Open(spec Spec) (Set, error) {
	switch {
	case spec.Dir != "" && spec.Cities != 0:
		return nil, fmt.Errorf("data set: both a dump (%s) and %d generated cities requested; choose one",
			spec.Dir, spec.Cities)
	case spec.Dir != "":
		return Dump(spec.Dir)
	case spec.Cities != 0:
		return Generated(spec.Cities, spec.Vertices, spec.Seed)
	}
	return Bundled()
}

// size describes a set: "14,945 cities, 63 regions".
func size(cities, regions int) string {
	return units.Count(int64(cities)) + " cities, " + units.Count(int64(regions)) + " regions"
}

func unknownIndex(name string) iter.Seq2[Doc, error] {
	return func(yield func(Doc, error) bool) {
		yield(Doc{}, fmt.Errorf("data set has no index %q", name))
	}
}
