package profile

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/contender/check"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

var (
	contenderPattern = regexp.MustCompile(`^([a-z0-9][a-z0-9._-]{0,62})(?::([a-z0-9][a-z0-9._-]{0,62}))?$`)
	asPattern        = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,62}$`)
)

const (
	contenderHint = "write a contender's name, with a colon and a variant if not the first: `rs-actix:lto`"
	settingsHint  = "write `NAME: {cpus: 0.5, as: half}`, one contender per item"
	asHint        = "write lower-case letters, digits, `-`, `_` and `.`, such as `as: half`"
)

// ParseSelection reads a contender as profiles and options name it: "rs-actix" or "rs-actix:lto".
func ParseSelection(text string) (bench.Selection, error) {
	m := contenderPattern.FindStringSubmatch(text)
	if m == nil {
		return bench.Selection{}, fmt.Errorf("invalid contender %.200q: use NAME or NAME:VARIANT "+
			"(see 'locbench services list')", text)
	}
	return bench.Selection{Contender: m[1], Variant: m[2]}, nil
}

// readSettings reads a name and, after a colon, a variant; or a map from one such name to limits
// instead of the profile's, and what replaces the manifest's: {rs-actix: {cpus: 0.5, as: half}}.
func readSettings(v strictyaml.Value, s *bench.Settings) {
	if v.Kind() != strictyaml.Map {
		if text, ok := v.Text(); ok {
			readContender(v, text, s)
		}
		return
	}
	fields := v.Fields()
	if len(fields) != 1 {
		v.Mistake(fmt.Sprintf("an item of `contenders` has %d names", len(fields)), settingsHint)
		return
	}
	var name struct {
		As string `yaml:"as" strict:"min=1,max=63"`
	}
	at := fields[0].Value
	if !readContender(at, fields[0].Key, s) || !at.Struct(&name, &s.Limits, s) {
		return
	}
	contender.CheckEnv(at.At("env"), s.Env)
	if s.Image != "" && !contender.ValidImage(s.Image) {
		at.At("image").Wrong("write the name of an image, such as `example.org/team/service:1.2`")
	}
	if s.Image != "" && s.Dir != "" {
		at.At("image").Mistake("`image` is not built, but `dir` has sources", "keep one of the two")
	}
	if s.Dir != "" {
		s.Dir = at.ResolveFolder(s.Dir)
	}
	switch {
	case name.As == "":
	case !asPattern.MatchString(name.As):
		at.At("as").Wrong(asHint)
	default:
		base := s.Variant
		s.Base, s.Variant = &base, name.As
	}
}

// readContender reads the name of a contender; v is where it is in the file.
func readContender(v strictyaml.Value, text string, s *bench.Settings) bool {
	sel, err := ParseSelection(text)
	if err != nil && v.Kind() == strictyaml.Scalar {
		v.Wrong(contenderHint)
	} else if err != nil {
		v.Mistake(fmt.Sprintf("`%.60s` is not the name of a contender", text), contenderHint)
	}
	s.Selection = sel
	return err == nil
}

// changes reports whether the settings change anything.
func changes(s bench.Settings) bool {
	return !reflect.DeepEqual(s, bench.Settings{Selection: s.Selection})
}

// contenderFolder is the folder with the contenders.
type contenderFolder string

// UnmarshalStrict reads the path of a folder.
func (f *contenderFolder) UnmarshalStrict(v strictyaml.Value) {
	if v.Kind() == strictyaml.Map {
		v.Wrong("write the folder with the contenders; services that they need, such as a database, are in `needs`")
		return
	}
	(*strictyaml.Folder)(f).UnmarshalStrict(v)
}

func (r *rules) contenders(p *bench.Profile) {
	for i, c := range p.Contenders {
		at := fmt.Sprintf("contenders[%d]", i)
		r.when(slices.Contains(p.Contenders[:i], c), at, fmt.Sprintf("duplicate contender %q", c),
			"list each once: `rounds` repeats them; with other settings give each a name: `as: half`")
		limits := p.SettingsOf(c).Limits
		strictyaml.CheckBounds(&limits, func(key, _, hint string) {
			r.when(true, at, fmt.Sprintf("`%s` of contender %q is out of bounds", key, c), hint)
		})
	}
}

func readChecks(v strictyaml.Value, c *bench.CheckSpec) {
	form := struct {
		Lifecycle lifecycle `yaml:"lifecycle"`
		Suites    []suite   `yaml:"suites" strict:"max=20"`
	}{Lifecycle: c.Lifecycle}
	v.Struct(&form)
	c.Lifecycle = form.Lifecycle
	for _, s := range form.Suites {
		c.Suites = append(c.Suites, string(s))
	}
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

func (r *rules) checks(c bench.CheckSpec) {
	for i, name := range c.Lifecycle {
		r.when(slices.Contains(c.Lifecycle[:i], name), fmt.Sprintf("checks.lifecycle[%d]", i),
			fmt.Sprintf("duplicate check %q", name), "list each once")
	}
	for i, suite := range c.Suites {
		r.when(strings.TrimSpace(suite) == "", fmt.Sprintf("checks.suites[%d]", i), "empty name of a suite",
			"write the name of a bundled suite or the path of a YAML file")
	}
}
