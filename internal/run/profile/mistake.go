package profile

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/locbench/locbench/internal/text/strictyaml"
)

// mistake is a broken rule: the key's path, what is wrong ("": the value), and a remedy.
type mistake struct {
	path, value, what, hint string
}

func (m mistake) Error() string {
	return strings.TrimSuffix(cmp.Or(m.what, "`"+m.path+"` is "+m.value)+"; "+m.hint, "; ")
}

// rules collects mistakes.
type rules []mistake

// wrong reports a wrong value.
func (r *rules) wrong(path string, value any, hint string) {
	text := fmt.Sprint(value)
	if _, err := strconv.ParseFloat(text, 64); err != nil {
		text = strconv.Quote(text)
	}
	*r = append(*r, mistake{path: path, value: text, hint: hint})
}

// when reports a mistake that the value alone does not show, if broken is true.
func (r *rules) when(broken bool, path, what, hint string) {
	if broken {
		*r = append(*r, mistake{path: path, what: what, hint: hint})
	}
}

// bounds reports the values in the struct at src that are out of the bounds of their tags.
func (r *rules) bounds(path string, src any) {
	strictyaml.CheckBounds(src, func(key, value, hint string) { r.wrong(path+key, value, hint) })
}

// between reports n if it is below low or above high.
func (r *rules) between(path string, n, low, high int) {
	if n < low || n > high {
		r.wrong(path, n, fmt.Sprintf("write from %d to %d", low, high))
	}
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

func count(v strictyaml.Value, keys ...string) (n int) {
	for _, key := range keys {
		if v.Has(key) {
			n++
		}
	}
	return n
}
