package bench

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/locbench/locbench/internal/bench/units"
)

// Statuses are numbers of complete responses by HTTP status.
type Statuses map[int]int64

// Total returns the number of responses.
func (s Statuses) Total() (n int64) {
	for _, of := range s {
		n += of
	}
	return n
}

// Add adds the responses of another step; the zero value becomes a map.
func (s *Statuses) Add(o Statuses) { addTo(s, o) }

// maxNamed is how many statuses a text names.
const maxNamed = 6

// String returns "200: 1,449, 429: 5,798": the most frequent ones, by status.
func (s Statuses) String() string {
	return s.text(func(status int) string { return strconv.Itoa(status) + ": " + units.Count(s[status]) })
}

// Exact returns "200: 1449, 429: 5798": all of them, for programs.
func (s Statuses) Exact() string {
	var texts []string
	for _, status := range slices.Sorted(maps.Keys(s)) {
		texts = append(texts, fmt.Sprintf("%d: %d", status, s[status]))
	}
	return strings.Join(texts, ", ")
}

// Names returns "429" or "429, 503".
func (s Statuses) Names() string { return s.text(strconv.Itoa) }

func (s Statuses) text(of func(status int) string) string {
	all := slices.SortedFunc(maps.Keys(s), func(a, b int) int {
		return cmp.Or(cmp.Compare(s[b], s[a]), cmp.Compare(a, b))
	})
	named := slices.Sorted(slices.Values(all[:min(len(all), maxNamed)]))
	var texts []string
	for _, status := range named {
		texts = append(texts, of(status))
	}
	if more := len(all) - len(named); more > 0 {
		texts = append(texts, strconv.Itoa(more)+" more")
	}
	return strings.Join(texts, ", ")
}

// Any2xx is what a file has in place of all statuses of success.
const Any2xx = "2xx"

// All2xx returns these statuses.
func All2xx() (all []int) {
	for status := http.StatusOK; status < http.StatusMultipleChoices; status++ {
		all = append(all, status)
	}
	return all
}

// InFile returns statuses as files have them.
func InFile(statuses []int) (all []any) {
	whole := All2xx()
	if slices.ContainsFunc(whole, func(status int) bool { return !slices.Contains(statuses, status) }) {
		whole = nil
	} else {
		all = append(all, Any2xx)
	}
	for _, status := range statuses {
		if !slices.Contains(whole, status) {
			all = append(all, status)
		}
	}
	return all
}

// InWords returns statuses in words: "200 or 404".
func InWords(statuses []int) string {
	var words []string
	for _, status := range InFile(statuses) {
		words = append(words, fmt.Sprint(status))
	}
	return strings.Join(words, " or ")
}

// Expected returns the expected statuses of the request, the first of which is the usual one.
func (r Request) Expected() []int {
	return append([]int{cmp.Or(r.ExpectStatus, http.StatusOK)}, r.MoreStatuses...)
}

// Rejections returns the expected statuses that do not count as throughput: those that Success does
// not name or, without it, those from 400 on, unless all are.
func (r Request) Rejections() []int {
	all := r.Expected()
	rejected := slices.DeleteFunc(slices.Clone(all), func(status int) bool {
		if len(r.Success) > 0 {
			return slices.Contains(r.Success, status)
		}
		return status < http.StatusBadRequest
	})
	if len(rejected) == 0 || len(r.Success) == 0 && len(rejected) == len(all) {
		return nil
	}
	return rejected
}
