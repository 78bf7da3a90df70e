package profile

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// chosen is "rs-actix", "rs-actix:lto", or one of them with settings: {rs-actix: {cpus: 0.5, as:
// half}}.
type chosen bench.Settings

// settings are the keys of a contender in a profile. Limits instead of the profile's, the rest
// instead of the manifest's.
type settings struct {
	As     string            `yaml:"as" strict:"min=1,max=63"`
	CPUs   float64           `yaml:"cpus"`
	CPUSet int               `yaml:"cpu_set"`
	Memory strictyaml.Bytes  `yaml:"memory"`
	PIDs   int64             `yaml:"pids"`
	Env    map[string]string `yaml:"env" strict:"max=200"`
	Image  string            `yaml:"image" strict:"min=1,max=500"`
	Dir    string            `yaml:"dir" strict:"min=1,max=4096"`
}

var asPattern = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,62}$`)

const (
	contenderHint = "write a contender's name, with a colon and a variant if not the first: `rs-actix:lto`"
	settingsHint  = "write `NAME: {cpus: 0.5, as: half}`, one contender per item"
	asHint        = "write lower-case letters, digits, `-`, `_` and `.`, such as `as: half`"
)

// UnmarshalStrict reads a name and, after a colon, a variant; or a map from one such name to
// settings.
func (c *chosen) UnmarshalStrict(v strictyaml.Value) {
	if v.Kind() != strictyaml.Map {
		if text, ok := v.Text(); ok {
			c.name(v, text)
		}
		return
	}
	fields := v.Fields()
	if len(fields) != 1 {
		v.Mistake(fmt.Sprintf("an item of `contenders` has %d names", len(fields)), settingsHint)
		return
	}
	at := fields[0].Value
	if !c.name(at, fields[0].Key) {
		return
	}
	var s settings
	if !at.Decode(&s) {
		return
	}
	for _, m := range wrongLimits(s.limits(), func(key string) bool { return at.Has(key) }) {
		at.At(m.path).Wrong(m.hint + "; without the key, the profile's limit applies")
	}
	contender.CheckEnv(at.At("env"), s.Env)
	if s.Image != "" && !contender.ValidImage(s.Image) {
		at.At("image").Wrong("write the name of an image, such as `example.org/team/service:1.2`")
	}
	if s.Image != "" && s.Dir != "" {
		at.At("image").Mistake("`image` is not built, but `dir` has sources", "keep one of the two")
	}
	if s.Dir != "" {
		c.Dir = at.ResolveFolder(s.Dir)
	}
	c.Limits, c.Env, c.Image = s.limits(), s.Env, s.Image
	switch {
	case s.As == "":
	case !asPattern.MatchString(s.As):
		at.At("as").Wrong(asHint)
	default:
		base := c.Variant
		c.Base, c.Variant = &base, s.As
	}
}

// name reads the name of the contender; v is where it is in the file.
func (c *chosen) name(v strictyaml.Value, text string) bool {
	sel, err := ParseSelection(text)
	if err != nil && v.Kind() == strictyaml.Scalar {
		v.Wrong(contenderHint)
	} else if err != nil {
		v.Mistake(fmt.Sprintf("`%.60s` is not the name of a contender", text), contenderHint)
	}
	c.Selection = sel
	return err == nil
}

func (s settings) limits() bench.Limits {
	return bench.Limits{CPUs: s.CPUs, CPUSet: s.CPUSet, Memory: int64(s.Memory), PIDs: s.PIDs}
}

// wrongLimits returns the keys of limits that are out of bounds, with what to write. A limit of
// zero is wrong if it was given.
func wrongLimits(l bench.Limits, given func(key string) bool) (all []mistake) {
	p := &bench.Profile{Limits: l}
	for _, o := range Options() {
		if key, ok := strings.CutPrefix(o.Key, "limits."); ok && o.wrong != nil {
			if hint := o.wrong(p, given(key)); hint != "" {
				all = append(all, mistake{path: key, hint: hint})
			}
		}
	}
	return all
}

// set reports whether the settings change anything.
func (c chosen) set() bool {
	return !reflect.DeepEqual(c, chosen{Selection: c.Selection})
}

// settingsOf returns the settings that change anything.
func settingsOf(all []chosen) (out []bench.Settings) {
	for _, c := range all {
		if c.set() {
			out = append(out, bench.Settings(c))
		}
	}
	return out
}
