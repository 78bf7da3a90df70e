package profile

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender/check"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

var contenderPattern = regexp.MustCompile(`^([a-z0-9][a-z0-9._-]{0,62})(?::([a-z0-9][a-z0-9._-]{0,62}))?$`)

// ParseSelection reads a contender as profiles and options name it: "rs-actix" or "rs-actix:lto".
func ParseSelection(text string) (bench.Selection, error) {
	m := contenderPattern.FindStringSubmatch(text)
	if m == nil {
		return bench.Selection{}, fmt.Errorf("invalid contender %.200q: use NAME or NAME:VARIANT "+
			"(see 'locbench services list')", text)
	}
	return bench.Selection{Contender: m[1], Variant: m[2]}, nil
}

type checks struct {
	Lifecycle lifecycle `yaml:"lifecycle"`
	Suites    []suite   `yaml:"suites,flow" strict:"max=20"`
}

// suite is the name of a bundled suite, or the path of a file.
type suite string

// UnmarshalStrict reads a name, or a path relative to the profile.
func (s *suite) UnmarshalStrict(v strictyaml.Value) {
	text, _ := v.Text()
	if check.IsFile(text) {
		text = v.ResolvePath(text)
	}
	*s = suite(text)
}

type lifecycle []string

// UnmarshalStrict reads "all", "none" or a list of names.
func (l *lifecycle) UnmarshalStrict(v strictyaml.Value) {
	all := bench.LifecycleChecks()
	*l = nil
	if v.Kind() != strictyaml.List {
		switch text, ok := v.Text(); {
		case ok && text == "all":
			*l = all
		case ok && text != "none":
			v.Wrong("write `all`, `none` or a list of " + strings.Join(all, ", "))
		}
		return
	}
	for _, item := range v.Items() {
		name, _ := item.Enum(all...)
		*l = append(*l, name)
	}
}

// plainText is a body as text, which may have places for variables.
type plainText string
