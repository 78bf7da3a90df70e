package dataset

import (
	"math"
	"math/rand/v2"
)

// shaper makes outlines with a fixed number of vertices. It computes its sines once; an outline
// then costs a few multiplications per vertex and allocates nothing.
type shaper struct {
	cos, sin []float64 // of 2πj/n, by j
}

func newShaper(vertices int) *shaper {
	s := &shaper{make([]float64, vertices), make([]float64, vertices)}
	for j := range vertices {
		s.sin[j], s.cos[j] = math.Sincos(2 * math.Pi * float64(j) / float64(vertices))
	}
	return s
}

// lobes are the waves along an outline. The radius stays within 0.58 to 1.42 of the mean.
var lobes = [...]struct {
	waves     int
	amplitude float64
}{{2, 0.16}, {3, 0.12}, {5, 0.08}, {9, 0.06}}

// kmPerDegree is the length of a degree of latitude.
const kmPerDegree = 111.2

// ring appends an outline around center, of about km kilometers radius, to dst, drawn from rng.
// Seen from the center the radius is a function of the angle and never small, so the line cannot
// cross itself. The outline contains the center and runs counter-clockwise, as GeoJSON requires.
func (s *shaper) ring(dst []Point, center Point, km float64, rng *rand.PCG) []Point {
	var c, d [len(lobes)]float64
	for i, l := range lobes {
		sin, cos := math.Sincos(2 * math.Pi * unit(rng))
		c[i], d[i] = l.amplitude*cos, l.amplitude*sin
	}
	n := len(s.cos)
	lat := km / kmPerDegree
	lon := lat / math.Cos(center.Lat*math.Pi/180)
	first := len(dst)
	for j := range n {
		r := 1.0
		for i, l := range lobes {
			k := l.waves * j % n
			// The conversions prevent fused operations: every machine must make the same outline.
			r += float64(c[i]*s.cos[k]) - float64(d[i]*s.sin[k])
		}
		dst = append(dst, Point{
			Lat: center.Lat + float64(lat*r*s.sin[j]),
			Lon: center.Lon + float64(lon*r*s.cos[j]),
		})
	}
	return append(dst, dst[first])
}

// radius returns the mean radius of a place in km: 0.6 for 1,000 people, 11.5 for a million.
func radius(population int64) float64 {
	return 0.6 * math.Pow(float64(max(population, 500))/1000, 0.43)
}

// unit returns a number in [0, 1).
func unit(rng *rand.PCG) float64 { return float64(rng.Uint64()>>11) / (1 << 53) }
