package strictyaml

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	dockerunits "github.com/docker/go-units"
)

// Bytes is a size, written with its unit: "512MiB", "1G", "0B".
type Bytes int64

// String returns the size in the largest unit that makes it a whole number.
func (b Bytes) String() string { return FormatBytes(int64(b)) }

const bytesHint = "write a number and its unit: B, K, M, G, T or KiB, MiB, GiB, TiB (powers of 1024, as in compose files), such as `512M`"

// byteUnits is in the order in which they are tried when writing.
var byteUnits = []struct {
	name string
	size int64
}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}

// ParseBytes reads a size as compose files have it: 512m, 512M, 512MB and 512MiB are the same, and a
// number without a unit is in bytes. The text of its error is a hint.
func ParseBytes(s string) (int64, error) {
	if short, ok := strings.CutSuffix(s, "i"); ok { // 512Mi, as in Kubernetes
		if _, err := dockerunits.RAMInBytes(short); err == nil {
			return 0, fmt.Errorf("write `%sB`", clip(s, 20))
		}
	}
	n, err := dockerunits.RAMInBytes(s)
	if err != nil {
		return 0, errors.New(bytesHint)
	}
	if n < 0 || n == math.MaxInt64 {
		return 0, errors.New("write less than 8192PiB")
	}
	return n, nil
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
