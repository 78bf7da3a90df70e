package chart

import (
	"strconv"

	"github.com/locbench/locbench/internal/bench/units"
)

// RateLabel returns a number of requests or errors per second as a label.
func RateLabel(v float64) string {
	if v >= 100 {
		return units.Number(v)
	}
	return PlainLabel(v)
}

// PlainLabel returns a number as a label.
func PlainLabel(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }

// LatencyLabel returns a time in seconds as a label.
func LatencyLabel(v float64) string {
	switch {
	case v < 0.9995e-6:
		return PlainLabel(v*1e9) + " ns"
	case v < 0.9995e-3:
		return PlainLabel(v*1e6) + " µs"
	case v < 0.9995:
		return PlainLabel(v*1e3) + " ms"
	}
	return PlainLabel(v) + " s"
}

// SizeLabel returns a number of bytes as a label.
func SizeLabel(v float64) string {
	unit := "B"
	for _, u := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if v < 1000 {
			break
		}
		v, unit = v/1024, u
	}
	return PlainLabel(v) + " " + unit
}
