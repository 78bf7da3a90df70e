package profile

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
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

func setDuration(c *change, text string) (err error) {
	for i := range c.p.Steps {
		err = c.refuse(text, strictyaml.SetText(&c.p.Steps[i], "duration", text))
	}
	return err
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

// Options returns all options of a run in the order in which Change applies them: connections
// before what affects every step, and needs before targets, which do without.
func Options() []Option { return options() }

var options = sync.OnceValue(func() []Option {
	return slices.Concat(loadOptions(), needOptions(), placeOptions())
})

func loadOptions() []Option {
	return []Option{
		{
			Name: "contenders", Key: "contenders", Type: Several, Label: "Contenders",
			Help: "The implementations to compare, and their variants. Each starts once per round, in shuffled order.",
			get:  contendersText, set: addContender,
		},
		{
			Name: "rounds", Key: "rounds", Type: "int", Group: OfRuns,
			Usage: "rounds per contender; 6 or more give a 95% CI, and interleaved ones take 8 for a verdict (default: " +
				"the profile's, else 8 interleaved, 6 not, 1 for one contender)",
			Label: "Rounds",
			Help: "Repetitions of each contender. 6 or more give a 95% confidence interval and a ranking; interleaved " +
				"ones take 8. Empty: as many as that takes.",
		},
		{
			Name: "targets", Key: "requests.targets", Type: "string", Group: OfRuns,
			Usage: "requests of vegeta's target `FILE` (HTTP or JSON format), in place of the profile's; " +
				"their hosts are not used",
			set: func(c *change, text string) error { // LoadWith has applied it
				if text == "" {
					return c.refuse(text, "write the path of a file")
				}
				return nil
			},
		},
		{
			Name: "cpus", Key: "limits.cpus", Type: "float64",
			Usage: "CPU quota per contender, such as 1.5",
			Label: "CPUs",
			Help:  "CPU quota per contender: 1.5 is 150 ms of CPU time every 100 ms. Above it the kernel throttles.",
		},
		{
			Name: "cpu-set", Key: "limits.cpu_set", Type: "int",
			Usage: "number of CPUs a contender may run on (at most all)",
			Label: "CPUs visible",
			Help:  "Number of CPUs a contender may run on. Many runtimes size their thread pools by it.",
		},
		{
			Name: "memory", Key: "limits.memory", Type: "string",
			Usage: "memory limit per contender, such as 512MiB",
			Label: "Memory",
			Help:  "Memory limit per contender, without swap. Units are powers of 1,024, as in compose files: 512M, 512MB and 512MiB are the same.",
		},
		{
			Name: "connections", Key: "steps", Type: "stringSlice", Group: OfRuns,
			Usage: "steps, as `numbers` of connections: '1,8,64' or '1 x5 warm-up,2..64 doubling'",
			Label: "Steps",
			Help:  "Steps as numbers of connections, such as 1,8,64. Also: 1 x5 warm-up, 2..2048 doubling, 64 for 30s.",
			get:   func(p *bench.Profile) string { return ShortSteps(p.Steps) }, set: setConnections,
		},
		{
			Name: "duration", Key: "step_duration", Type: "duration", Group: OfRuns,
			Usage: "length of each step",
			Label: "Duration",
			Help: "Length of each step, such as 10s. Short steps are for a first try; JITs and caches take longer " +
				"to warm up.",
			get: durations, set: setDuration,
		},
		{
			Name: "interleave", Key: "interleave", Type: "string", Group: OfRuns,
			Usage: "interleave the contenders of a round, so machine noise affects all alike: auto (slices from 500ms where " +
				"rounds, steps and memory allow it), off, or an `INTERVAL` such as 1s",
			Label: "Interleave",
			Help: "Interleaves the contenders of a round; machine noise then affects all alike. auto: in slices from 500ms on where " +
				"rounds, steps and memory allow it. off: one after the other. Or an interval such as 1s.",
			get: func(p *bench.Profile) string { return writeInterleave(p.Interleave) }, set: setInterleave,
		},
		{
			Name: "threshold", Key: "thresholds", Type: Several, Group: OfRuns,
			Usage: "`CONDITION` each step must meet, else exit code 4: 'p99<50ms,errors<0.1%' or " +
				"'errors<20% stop=trial'; added to the profile's; repeatable",
			set: addThreshold,
		},
		{
			Name: "runtime", Key: "runtime", Type: "string", Values: bench.Runtimes(),
			Usage: "docker, process, or auto (docker if available)",
			Label: "Runtime",
			Help: "Where contenders run: in Docker containers, or as processes on this machine. " +
				"auto uses Docker if available.",
		},
	}
}

func placeOptions() []Option {
	return []Option{
		{
			Name: "target", Type: Several,
			Usage: "load the running service at `[NAME=]URL`; name several to compare them. Without a profile or " +
				"contender, requests go to exactly this path and query",
			Label: "Target",
			Help: "URL of a running service, which gets the load in place of contenders; NAME=URL NAME=URL compares several. " +
				"Until a profile is chosen, requests go to exactly this path and query.",
			set: func(c *change, _ string) error {
				for _, limit := range []string{"cpus", "memory", "cpu-set"} {
					if c.given.Given(limit) {
						return console.Usagef("--%s: not with --target; locbench does not start that service", limit)
					}
				}
				*c.p = Without(*c.p)
				return nil
			},
		},
		{
			Name: "seed", Type: "uint64", Usage: "seed of the trial order and drawn ids (default random; recorded)",
			set: func(c *change, text string) error { // the run keeps it
				if _, err := strconv.ParseUint(text, 0, 64); err != nil {
					return c.refuse(text, "write a whole number from 0, such as 6")
				}
				return nil
			},
		},
		{
			Name: "http2", Key: "protocol", Type: "bool",
			Usage: "use HTTP/2: over TLS for an https target, else with prior knowledge (h2c); one request at a time " +
				"per connection",
			set: onOff(func(p *bench.Profile, on bool) {
				p.Protocol = bench.HTTP11
				if on {
					p.Protocol = bench.HTTP2
				}
			}),
		},
		{
			Name: "engine", Type: "string", Group: OfRuns, Values: bench.Engines(),
			Usage: "load `ENGINE`: fast (HTTP/1.1 without TLS, on Linux), vegeta (also HTTP/2 and TLS, on every system), or " +
				"auto: fast where it applies, else vegeta (default auto, or $LOCBENCH_ENGINE; recorded)",
			set: func(*change, string) error { return nil }, // the run keeps it
		},
		{
			Name: "no-checks", Key: "checks", Type: "bool", Usage: "skip lifecycle and HTTP checks",
			set: onOff(func(p *bench.Profile, on bool) {
				if on {
					p.Checks = bench.CheckSpec{}
				}
			}),
		},
	}
}
