package profile

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strconv"
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

	value
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

// value reads, writes and checks an option's value. get returns "" for none. set is called with
// each text given. wrong returns a remedy for the profile's value, "" if it is valid; given is
// false if a zero value may mean that the option is absent.
type value struct {
	get   func(p *bench.Profile) string
	set   func(c *change, text string) error
	wrong func(p *bench.Profile, given bool) string

	low, high string   // the bounds of a number, as text
	texts     []string // all valid values in a profile; nil: any
}

// Get returns the value of p in the form of the command line; "" without one.
func (o Option) Get(p bench.Profile) string {
	if o.get == nil {
		return ""
	}
	return o.get(&p)
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
			if err := o.set(c, text); err != nil {
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

// number is a value between two bounds.
type number[T cmp.Ordered] struct {
	at       func(*bench.Profile) *T
	min, max T
	zero     zero
	read     func(string) (T, error) // its error is a remedy
	write    func(T) string
	hint     string // the remedy; "": the bounds
}

// zero says whether a zero value below the bounds is valid.
type zero int

const (
	wrong  zero = iota // never
	absent             // if the option was not given
	none               // always; it means "none"
)

func (n number[T]) hintFor(p *bench.Profile, given bool) string {
	v := *n.at(p)
	if v >= n.min && v <= n.max || v == *new(T) && (n.zero == none || n.zero == absent && !given) {
		return ""
	}
	return cmp.Or(n.hint, "write from "+n.write(n.min)+" to "+n.write(n.max))
}

func (n number[T]) value() value {
	low := n.min
	if n.zero == none {
		low = min(low, *new(T))
	}
	return value{
		low: n.write(low), high: n.write(n.max),
		get: func(p *bench.Profile) string {
			if v := *n.at(p); v != *new(T) {
				return n.write(v)
			}
			return ""
		},
		set: func(c *change, text string) error {
			v, err := n.read(text)
			if err != nil {
				return c.refuse(text, err.Error())
			}
			*n.at(c.p) = v
			return c.refuse(text, n.hintFor(c.p, true))
		},
		wrong: n.hintFor,
	}
}

func ints(at func(*bench.Profile) *int, low, high int, zero zero) value {
	return number[int]{at: at, min: low, max: high, zero: zero, read: readInt, write: strconv.Itoa}.value()
}

func floats(at func(*bench.Profile) *float64, low, high float64, zero zero) value {
	return number[float64]{at: at, min: low, max: high, zero: zero, read: readFloat, write: writeFloat}.value()
}

func times(at func(*bench.Profile) *time.Duration, low, high time.Duration, zero zero) value {
	read := strictyaml.ParseDuration
	return number[time.Duration]{at: at, min: low, max: high, zero: zero, read: read, write: units.Exact}.value()
}

// choice returns a value that is one of all in a profile, and one of offered on the command line.
func choice[T ~string](at func(*bench.Profile) *T, all, offered []string) value {
	hint := func(text string, among []string) string {
		if slices.Contains(among, text) {
			return ""
		}
		return strictyaml.Suggest(text, "one of", among)
	}
	return value{
		texts: all,
		get:   func(p *bench.Profile) string { return string(*at(p)) },
		set: func(c *change, text string) error {
			*at(c.p) = T(text)
			return c.refuse(text, hint(text, offered))
		},
		wrong: func(p *bench.Profile, _ bool) string { return hint(string(*at(p)), all) },
	}
}

// onOff returns the value of a flag that is given without one.
func onOff(set func(p *bench.Profile, on bool)) value {
	return value{set: func(c *change, text string) error {
		on, err := strconv.ParseBool(text)
		if err != nil {
			return c.refuse(text, "write true or false")
		}
		set(c.p, on)
		return nil
	}}
}

// FlagHint returns a remedy for a wrong value of a flag of this type; "" if any text is valid.
func FlagHint(kind string) string {
	switch kind {
	case "int":
		return "write a whole number, such as 6"
	case "uint64":
		return "write a whole number from 0, such as 6"
	case "float64":
		return "write a number, such as 1.5"
	case "duration":
		return "write a number with its unit, such as 10s"
	}
	return ""
}

func readInt(text string) (int, error) {
	n, err := strconv.ParseInt(text, 0, 0)
	return int(n), hinted(err, "int")
}

func readUint(text string) (uint64, error) {
	n, err := strconv.ParseUint(text, 0, 64)
	return n, hinted(err, "uint64")
}

func readFloat(text string) (float64, error) {
	x, err := strconv.ParseFloat(text, 64)
	return x, hinted(err, "float64")
}

// hinted replaces a parser's error by a remedy.
func hinted(err error, kind string) error {
	if err != nil {
		return errors.New(FlagHint(kind))
	}
	return nil
}

func writeFloat(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
