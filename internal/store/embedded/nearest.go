package embedded

import (
	"math"
	"slices"
)

// vector is a point on the unit sphere. The square of the chord between two of them orders points
// as the distance does, for three products instead of two cosines; but only nearly, so it
// chooses candidates, and distanceKey decides.
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
	// chordError bounds the error of chord2 generously: rounding makes some 1e-16 of at most 4.
	chordError = 1e-13
	// nearMax is up to which number of wanted documents choosing candidates is worth it.
	nearMax = 100
)

// prepare computes the distances of the documents found. Only the wanted nearest ones are kept
// apart, the others are infinitely far away.
func (k *sortKey) prepare(s *searcher, m *matches, wanted int) {
	if !k.distance {
		return
	}
	k.distances = make([]float64, s.size)
	c := s.ix.columns[k.field]
	from := vectorOf(k.lat, k.lon)
	limit := math.Inf(1)
	if c != nil && wanted > 0 && wanted <= nearMax {
		limit = nearLimit(c, m, from, wanted)
	}
	m.each(func(ordinal uint32) {
		k.distances[ordinal] = math.Inf(1)
		if c.present(ordinal) && c.vectors[ordinal].chord2(from) <= limit {
			k.distances[ordinal] = distanceKey(k.lat, k.lon, c.places[ordinal])
		}
	})
}

// nearLimit returns a square of a chord which the wanted nearest documents certainly do not exceed.
func nearLimit(c *column, m *matches, from vector, wanted int) float64 {
	nearest := make([]float64, 0, wanted+1)
	m.each(func(ordinal uint32) {
		if !c.present(ordinal) {
			return
		}
		d := c.vectors[ordinal].chord2(from)
		if len(nearest) == wanted && d >= nearest[wanted-1] {
			return
		}
		at, _ := slices.BinarySearch(nearest, d)
		nearest = slices.Insert(nearest, at, d)
		nearest = nearest[:min(len(nearest), wanted)]
	})
	if len(nearest) < wanted {
		return math.Inf(1)
	}
	return nearest[wanted-1] + chordError
}
