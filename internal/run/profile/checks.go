package profile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender/check"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

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
