package embedded

import (
	"math"
	"slices"
)

// vector is a point on the unit sphere. The squared chord between two vectors orders points almost
// like their distance does, with three products instead of two cosines. So chords choose the
// candidates, and distanceKey decides.
type vector [3]float64

func vectorOf(lat, lon float64) vector {
	const rad = math.Pi / 180
	sinLat, cosLat := math.Sincos(lat * rad)
	sinLon, cosLon := math.Sincos(lon * rad)
	return vector{cosLat * cosLon, cosLat * sinLon, sinLat}
}

func (v vector) chord2(w vector) float64 {
	dx, dy, dz := v[0]-w[0], v[1]-w[1], v[2]-w[2]
	return dx*dx + dy*dy + dz*dz
}

const (
	// chordError is a generous bound for the error of chord2: rounding makes about 1e-16 of at most 4.
	chordError = 1e-13
	// nearMax is the largest number of requested documents for which choosing candidates pays.
	nearMax = 100
)

// prepare computes the distances of the documents found, for the requested number of nearest ones.
// The other documents get an infinite distance.
func (k *sortKey) prepare(s *searcher, m *matches, count int) {
	if !k.distance {
		return
	}
	k.distances = make([]float64, s.size)
	c := s.ix.columns[k.field]
	from := vectorOf(k.lat, k.lon)
	limit := math.Inf(1)
	if c != nil && count > 0 && count <= nearMax {
		limit = nearLimit(c, m, from, count)
	}
	m.each(func(ordinal uint32) {
		k.distances[ordinal] = math.Inf(1)
		if c.present(ordinal) && c.vectors[ordinal].chord2(from) <= limit {
			k.distances[ordinal] = distanceKey(k.lat, k.lon, c.places[ordinal])
		}
	})
}

// nearLimit returns a squared chord that none of the requested nearest documents exceeds.
func nearLimit(c *column, m *matches, from vector, count int) float64 {
	nearest := make([]float64, 0, count+1)
	m.each(func(ordinal uint32) {
		if !c.present(ordinal) {
			return
		}
		d := c.vectors[ordinal].chord2(from)
		if len(nearest) == count && d >= nearest[count-1] {
			return
		}
		at, _ := slices.BinarySearch(nearest, d)
		nearest = slices.Insert(nearest, at, d)
		nearest = nearest[:min(len(nearest), count)]
	})
	if len(nearest) < count {
		return math.Inf(1)
	}
	return nearest[count-1] + chordError
}
