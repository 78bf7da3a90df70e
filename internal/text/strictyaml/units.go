package strictyaml

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench/units"
)

// Bytes is a size, written with its unit: "512MiB", "1GB", "0B".
type Bytes int64

// MarshalYAML writes the size with its unit.
func (b Bytes) MarshalYAML() (any, error) { return FormatBytes(int64(b)), nil }

// String returns the size in the largest unit that makes it a whole number.
func (b Bytes) String() string { return FormatBytes(int64(b)) }

// Duration is a time.Duration that [Encode] writes in the short form: "1m", not "1m0s".
type Duration time.Duration

// MarshalYAML writes the duration with its units.
func (d Duration) MarshalYAML() (any, error) { return units.Exact(time.Duration(d)), nil }

const bytesHint = "write a number and its unit: B, kB, MB, GB, TB (powers of 1000) or KiB, MiB, GiB, TiB " +
	"(powers of 1024), such as `512MiB`"

// byteUnits is in the order in which suffixes are tried when reading and writing.
var byteUnits = []struct {
	name string
	size int64
}{
	{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10},
	{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"B", 1},
}

// ParseBytes reads a size such as "512MiB". The text of its error is a hint.
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
			return 0, errors.New("write less than 8EiB")
		}
		return int64(math.Round(f * float64(u.size))), nil
	}
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return 0, fmt.Errorf("add a unit: `%sMiB`, `%sGB`, `%sB`…", clip(s, 20), clip(s, 20), clip(s, 20))
	}
	return 0, errors.New(bytesHint)
}

// FormatBytes writes n in the largest unit that makes it a whole number, in the form of ParseBytes.
func FormatBytes(n int64) string {
	for _, u := range byteUnits {
		if n != 0 && n%u.size == 0 {
			return strconv.FormatInt(n/u.size, 10) + u.name
		}
	}
	return strconv.FormatInt(n, 10) + "B"
}

const durationHint = "write a number and its unit: ns, us, ms, s, m, h, such as `500ms` or `1m30s`"

// ParseDuration reads "10s", "1m30s", "0". The text of its error is a hint that says what to write.
func ParseDuration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err == nil {
		return d, nil
	}
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return 0, fmt.Errorf("add a unit: `%ss`, `%sms`…", clip(s, 20), clip(s, 20))
	}
	return 0, errors.New(durationHint)
}

// cutSuffixFold cuts a unit in any case ("512mib"): sizes are in bytes, so b cannot mean bits.
func cutSuffixFold(s, suffix string) (string, bool) {
	if len(s) < len(suffix) || !strings.EqualFold(s[len(s)-len(suffix):], suffix) {
		return s, false
	}
	return s[:len(s)-len(suffix)], true
}
