package dataset

import (
	"math"
	"strconv"
	"unicode/utf8"
)

// AppendJSON appends the document to b, on one line and without a line feed.
func (c *City) AppendJSON(b []byte) []byte {
	b = c.appendPlace(b)
	b = strconv.AppendInt(append(b, `,"regionId":`...), c.RegionID, 10)
	b = strconv.AppendBool(append(b, `,"isFeatured":`...), c.IsFeatured)
	b = appendString(append(b, `,"timezone":`...), c.Timezone)
	b = strconv.AppendInt(append(b, `,"population":`...), c.Population, 10)
	return c.appendPolygon(b)
}

// AppendJSON appends the document to b, on one line and without a line feed.
func (r *Region) AppendJSON(b []byte) []byte { return r.appendPolygon(r.appendPlace(b)) }

// appendPlace appends what cities and regions share, up to and without the geometry.
func (r *Region) appendPlace(b []byte) []byte {
	b = strconv.AppendInt(append(b, `{"id":`...), r.ID, 10)
	b = appendString(append(b, `,"countryIso":`...), r.CountryISO)
	b = appendDegrees(append(b, `,"centroid":{"lat":`...), r.Centroid.Lat)
	b = appendDegrees(append(b, `,"lon":`...), r.Centroid.Lon)
	b = append(b, '}')
	for i, name := range r.Name {
		b = append(append(b, `,"name.`...), Languages[i]...)
		b = appendString(append(b, `":`...), name)
	}
	return b
}

// appendPolygon appends the geometry as a GeoJSON polygon, longitude first, and ends the document.
func (r *Region) appendPolygon(b []byte) []byte {
	b = append(b, `,"geometry":{"type":"Polygon","coordinates":[[`...)
	for i, p := range r.Geometry {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendDegrees(append(b, '['), p.Lon)
		b = appendDegrees(append(b, ','), p.Lat)
		b = append(b, ']')
	}
	return append(b, `]]}}`...)
}

// appendDegrees appends d rounded to six decimals (about 0.1 m) without trailing zeros. It is
// several times as fast as strconv.AppendFloat, and a document consists mostly of coordinates.
func appendDegrees(b []byte, d float64) []byte {
	micro := int64(math.Round(d * 1e6))
	if micro < 0 {
		b = append(b, '-')
		micro = -micro
	}
	b = strconv.AppendInt(b, micro/1e6, 10)
	frac := micro % 1e6
	if frac == 0 {
		return b
	}
	b = append(b, ".000000"...)
	for i := len(b) - 1; frac > 0; i-- {
		b[i] = byte('0' + frac%10)
		frac /= 10
	}
	for b[len(b)-1] == '0' {
		b = b[:len(b)-1]
	}
	return b
}

// appendString appends s as a JSON string; bytes that are not UTF-8 become U+FFFD.
func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r < 0x20 || r == 0x7f:
			b = append(b, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}
