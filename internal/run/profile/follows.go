package profile

import (
	"regexp"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/text/strictyaml"
)

// cause is the mistakes in the keys and values of a file. What follows from one is not reported.
type cause []strictyaml.Reported

// ofOne matches what only the request itself depends on.
var ofOne = regexp.MustCompile(`^(?:(?:sessions\[\d+\]\.)?requests|setup|teardown)\[\d+\]\.` +
	`(?:expect|timeout|json|form|body|file|think|ids|languages|success|header)(?:[.\[]|$)`)

// naming matches the values that others refer to or are added up with.
var naming = regexp.MustCompile(`\.(?:save|share|weight|name)(?:\.|$)`)

// of reports whether a broken rule may follow from a mistake: it is about the relation of several
// values, of which one has an unknown key or was not read.
func (all cause) of(m mistake) bool {
	return slices.ContainsFunc(all, func(c strictyaml.Reported) bool {
		around := c.Path[:max(strings.LastIndexByte(c.Path, '.'), 0)]
		if c.Unknown && m.what != "" && (around != "" && within(m.path, around) || within(c.Path, m.path)) {
			return true
		}
		if m.needs == nil || ofOne.MatchString(c.Path) {
			return false
		}
		decides := c.Unknown || naming.MatchString(c.Path)
		return c.Far && around == "" || slices.ContainsFunc(m.needs, func(part string) bool {
			return c.Path == part || within(c.Path, part) && (decides || strings.Contains(part, "."))
		})
	})
}

// within reports whether a path is that of a value, or of a part of it.
func within(path, of string) bool {
	rest, ok := strings.CutPrefix(path, of)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}
