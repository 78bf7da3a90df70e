package strictyaml

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"locbench/internal/bench/units"
)

// Bytes is a size, written with its unit: "512MiB", "1GB", "0B".
type Bytes int64

// MarshalYAML writes the size with its unit.
func (b Bytes) MarshalYAML() (any, error) { return FormatBytes(int64(b)), nil }

// String returns the size with the largest unit that leaves it whole.
func (b Bytes) String() string { return FormatBytes(int64(b)) }

// Duration is a time.Duration that [Encode] writes as shortly as people do: "1m", not "1m0s".
type Duration time.Duration

// MarshalYAML writes the duration with its units.
func (d Duration) MarshalYAML() (any, error) { return units.Exact(time.Duration(d)), nil }

const bytesHint = "write a number and its unit: B, kB, MB, GB, TB (powers of 1000) or KiB, MiB, GiB, TiB " +
	"(powers of 1024), for example `512MiB`"

// byteUnits are in the order in which a suffix is tried and a size is written.
var byteUnits = []struct {
	name string
	size int64
}{
	{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10},
	{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"B", 1},
}

// ParseBytes reads "512MiB". The error's text is a hint of what would be right.
func ParseBytes(s string) (int64, error) {
	for _, u := range byteUnits {
		digits, ok := cutSuffixFold(s, u.name)
		if !ok {
			continue
		}
		f, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
		if err != nil || math.IsNaN(f) || f < 0 {
			break
		}
		if f*float64(u.size) >= math.MaxInt64 {
			return 0, errors.New("at most 8EiB fit")
		}
		return int64(math.Round(f * float64(u.size))), nil
	}
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return 0, fmt.Errorf("say the unit: `%sMiB`, `%sGB`, `%sB`…", clip(s, 20), clip(s, 20), clip(s, 20))
	}
	return 0, errors.New(bytesHint)
}

// FormatBytes writes n with the largest unit that leaves it whole, for ParseBytes to read.
func FormatBytes(n int64) string {
	for _, u := range byteUnits {
		if n != 0 && n%u.size == 0 {
			return strconv.FormatInt(n/u.size, 10) + u.name
		}
	}
	return strconv.FormatInt(n, 10) + "B"
}

const durationHint = "write a number and its unit: ns, us, ms, s, m, h, for example `500ms` or `1m30s`"

// ParseDuration reads "10s", "1m30s", "0". The error's text is a hint of what would be right.
func ParseDuration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err == nil {
		return d, nil
	}
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return 0, fmt.Errorf("say the unit: `%ss`, `%sms`…", clip(s, 20), clip(s, 20))
	}
	return 0, errors.New(durationHint)
}

// cutSuffixFold cuts a unit in any case ("512mib"): for sizes only B exists, never b for bits.
func cutSuffixFold(s, suffix string) (string, bool) {
	if len(s) < len(suffix) || !strings.EqualFold(s[len(s)-len(suffix):], suffix) {
		return s, false
	}
	return s[:len(s)-len(suffix)], true
}
