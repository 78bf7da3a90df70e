package profile

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// Option is one setting of a run: its names on the command line, in a profile and on the setup
// screen, how it changes a profile, and its valid values.
type Option struct {
	Name    string   // flag without dashes
	Key     string   // key in a profile, such as "limits.cpus"; "": none
	Type    string   // type of the flag's value, in the terms of package pflag
	Usage   string   // text in --help; "": no flag
	Default string   // the flag's default; "": the profile's value
	Group   Group    // commands that have the flag
	Values  []string // values that a shell completes; nil: any
	With    string   // the option without which it may not be given; "": none
	Folder  bool     // its value is one
	Need    string   // the kind of need that it is of; "": none

	Label, Help string // field on the setup screen; "": none

	// get returns the value of a profile, "" for none; set is called with each text given. Without set
	// both are of the field of Key.
	get func(p *bench.Profile) string
	set func(c *change, text string) error
}

// Several is the type of a repeatable option.
const Several = "stringArray"

// Group says which commands have the flags of an option.
type Group int

// The groups of commands.
const (
	OfAll  Group = iota // all commands that run contenders: contenders, limits, runtime, needs, data
	OfRuns              // commands that load contenders in steps
)

// Get returns the value of p in the form of the command line; "" without one.
func (o Option) Get(p bench.Profile) string {
	switch {
	case o.get != nil:
		return o.get(&p)
	case o.set == nil:
		return strictyaml.TextOf(&p, o.Key)
	}
	return ""
}

// apply sets the option to a text.
func (o Option) apply(c *change, text string) error {
	switch {
	case o.Need == "" && o.Values != nil && !slices.Contains(o.Values, text):
		return c.refuse(text, strictyaml.Suggest(text, "one of", o.Values))
	case o.set == nil:
		return c.refuse(text, strictyaml.SetText(c.p, o.Key, text))
	}
	return o.set(c, text)
}

// ByName returns the option whose flag has that name.
func ByName(name string) (o Option) {
	all := Options()
	if i := slices.IndexFunc(all, func(o Option) bool { return o.Name == name }); i >= 0 {
		o = all[i]
	}
	return o
}

// Changes are the options given: the texts of each by its name.
type Changes map[string][]string

// Given reports whether the option was given.
func (c Changes) Given(name string) bool { return len(c[name]) > 0 }

// Text returns the last text given for the option; "" without one.
func (c Changes) Text(name string) string {
	if texts := c[name]; len(texts) > 0 {
		return texts[len(texts)-1]
	}
	return ""
}

// With returns a copy of c with texts for an option; without texts it returns c.
func (c Changes) With(name string, texts ...string) Changes {
	if len(texts) == 0 {
		return c
	}
	c = maps.Clone(c)
	if c == nil {
		c = Changes{}
	}
	c[name] = texts
	return c
}

// change applies options to a profile.
type change struct {
	p      *bench.Profile
	name   string // the current option
	first  bool   // set is called with its first text
	given  Changes
	getenv func(string) string
}

// refuse returns an error for the current option's wrong value text; nil if hint is "".
func (c *change) refuse(text, hint string) error {
	if hint == "" {
		return nil
	}
	return console.Usagef("--%s %s: %s", c.name, safe.Shell([]string{text}), hint)
}

// Change returns p with the given options applied, valid and complete; the error is one of usage.
// getenv resolves variables in URLs. It reads no file, so the setup screen may call it at each key.
func Change(p bench.Profile, given Changes, getenv func(string) string) (bench.Profile, error) {
	c := &change{p: &p, given: given, getenv: getenv}
	p.Steps, p.Thresholds = slices.Clone(p.Steps), slices.Clone(p.Thresholds)
	for _, o := range Options() {
		texts := given[o.Name]
		if n := len(texts); n > 1 && o.Type != Several {
			texts = texts[n-1:]
		}
		c.name, c.first = o.Name, true
		for _, text := range texts {
			if err := o.apply(c, text); err != nil {
				return p, err
			}
			c.first = false
		}
	}
	if len(p.Contenders) == 0 && !given.Given("target") {
		return p, console.Usagef("profile %s has no contenders: add `contenders`, name some here, or use --target URL",
			p.Name)
	}
	return p, console.WithCode(console.ExitUsage, Validate(p))
}

func contendersText(p *bench.Profile) string {
	names := make([]string, len(p.Contenders))
	for i, sel := range p.Contenders {
		names[i] = sel.String()
	}
	return strings.Join(names, " ")
}

// addContender replaces the profile's contenders by the first one given, and adds the others.
func addContender(c *change, text string) error {
	if c.first {
		c.p.Contenders = nil
	}
	sel, err := ParseSelection(text)
	c.p.Contenders = append(c.p.Contenders, sel)
	return console.WithCode(console.ExitUsage, err)
}

// setConnections replaces the steps. Without a duration, each takes that of the profile's last one.
func setConnections(c *change, text string) error {
	length := 10 * time.Second
	if n := len(c.p.Steps); n > 0 {
		length = c.p.Steps[n-1].Duration
	}
	steps, err := ParseSteps(strings.Split(text, ","), length)
	if err != nil {
		return console.Usagef("--connections: %w", err)
	}
	c.p.Steps = steps
	return nil
}

// durations returns the durations of the steps: "3s", or "2s to 3s" where they differ.
func durations(p *bench.Profile) string {
	if len(p.Steps) == 0 {
		return ""
	}
	byDuration := func(a, b bench.Step) int { return cmp.Compare(a.Duration, b.Duration) }
	least, most := slices.MinFunc(p.Steps, byDuration).Duration, slices.MaxFunc(p.Steps, byDuration).Duration
	if least == most {
		return units.Exact(least)
	}
	return units.Exact(least) + " to " + units.Exact(most)
}

func setDuration(c *change, text string) error {
	d, err := strictyaml.ParseDuration(text)
	if err == nil && !validDuration(d) {
		err = errors.New(durationHint)
	}
	if err != nil {
		return c.refuse(text, err.Error())
	}
	for i := range c.p.Steps {
		c.p.Steps[i].Duration = d
	}
	return nil
}

func setInterleave(c *change, text string) error {
	d, err := readInterleave(text)
	if err != nil {
		return c.refuse(text, err.Error())
	}
	c.p.Interleave = d
	return nil
}

func addThreshold(c *change, text string) error {
	t, err := ParseThreshold(text)
	if err != nil {
		return console.Usagef("--%w", err)
	}
	c.p.Thresholds = append(c.p.Thresholds, t)
	return nil
}

// onOff returns the set of a flag that is given without a value.
func onOff(set func(p *bench.Profile, on bool)) func(c *change, text string) error {
	return func(c *change, text string) error {
		on, err := strconv.ParseBool(text)
		if err != nil {
			return c.refuse(text, "write true or false")
		}
		set(c.p, on)
		return nil
	}
}
