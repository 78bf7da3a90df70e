package profile

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strconv"
	"time"

	"locbench/internal/bench"
	"locbench/internal/bench/units"
	"locbench/internal/text/console"
	"locbench/internal/text/safe"
	"locbench/internal/text/strictyaml"
)

// Option is one thing that a run can be asked for: what it is called on the command line, in a profile and on the
// setup screen, what it does to a profile, and which of its values are right.
type Option struct {
	Name    string   // of the flag, without its dashes
	Key     string   // of a profile: "limits.cpus"; "": no profile says it
	Type    string   // of what the flag takes, as package pflag calls it
	Usage   string   // in --help; "": there is no flag
	Default string   // of the flag, where that is not what the profile says
	Group   Group    // which commands have the flag
	Values  []string // that a shell completes; nil: any

	Label, Help string // on the setup screen; "": it has no field there

	value
}

// Several is the type of an option that may be given several times.
const Several = "stringArray"

// Group says which commands have the flags of an option.
type Group int

const (
	OfAll  Group = iota // every command that runs contenders: what runs, where, and on which data
	OfRuns              // how a run loads them
)

// value is how an option's value is read, written and judged. get returns "" for none. set gets the text that was
// given, or each of them in turn where there may be several. wrong says what would be right in place of the value that
// a profile has, and "" where it is right; given is false where a zero value may only mean that nothing was said.
type value struct {
	get   func(p *bench.Profile) string
	set   func(c *change, text string) error
	wrong func(p *bench.Profile, given bool) string

	low, high string   // the bounds of a number, as they are written
	texts     []string // the only ones that a profile may say; nil: any
}

// Get returns the value that p has, as it is written on the command line; "" where it has none.
func (o Option) Get(p bench.Profile) string {
	if o.get == nil {
		return ""
	}
	return o.get(&p)
}

// ByName returns the option whose flag has that name.
func ByName(name string) (o Option) {
	if i := slices.IndexFunc(options, func(o Option) bool { return o.Name == name }); i >= 0 {
		o = options[i]
	}
	return o
}

// Changes are the options that were given: the texts of each by its name.
type Changes map[string][]string

// Given says whether the option was given.
func (c Changes) Given(name string) bool { return len(c[name]) > 0 }

// Text returns what was given last for the option; "" for nothing.
func (c Changes) Text(name string) string {
	if texts := c[name]; len(texts) > 0 {
		return texts[len(texts)-1]
	}
	return ""
}

// With returns c with an option given besides; without texts it is c.
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

// change is a profile while options change it.
type change struct {
	p      *bench.Profile
	name   string // of the option whose turn it is
	first  bool   // of the texts given for it
	given  Changes
	getenv func(string) string
}

// refuse returns the error of an option whose value text is wrong; nil where there is no hint what would be right.
func (c *change) refuse(text, hint string) error {
	if hint == "" {
		return nil
	}
	return console.Usagef("--%s %s: %s", c.name, safe.Shell([]string{text}), hint)
}

// Change returns p with what the options change of it, valid and complete; the error is one of usage. getenv resolves the
// variables in addresses. It reads no file, so the setup screen may ask at each key.
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
		return p, console.Usagef("profile %s has no contenders: add `contenders`, name some here, or use --target URL", p.Name)
	}
	return p, console.WithCode(console.ExitUsage, Validate(p))
}

// number is a value between two bounds.
type number[T cmp.Ordered] struct {
	at       func(*bench.Profile) *T
	min, max T
	zero     zero
	read     func(string) (T, error) // its error says what would be right
	write    func(T) string
	hint     string // what would be right; "": the bounds say it
}

// zero says what a zero value below the bounds is.
type zero int

const (
	wrong  zero = iota // no more right than any other
	absent             // right where nothing was given
	none               // right, and means that there is none
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

// choice returns one of a few texts: of all in a profile, of those offered on the command line.
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

// onOff returns what a flag without a value sets.
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

// FlagHint says what a flag of that type takes; "" where every text is right.
func FlagHint(kind string) string {
	switch kind {
	case "int":
		return "write a whole number, such as 6"
	case "uint64":
		return "write a whole number that is not negative, such as 6"
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

// hinted says what would be right in place of a parser's error.
func hinted(err error, kind string) error {
	if err != nil {
		return errors.New(FlagHint(kind))
	}
	return nil
}

func writeFloat(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
