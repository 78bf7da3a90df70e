package profile

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

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

func addThreshold(c *change, text string) error {
	t, err := ParseThreshold(text)
	if err != nil {
		return console.Usagef("--%w", err)
	}
	c.p.Thresholds = append(c.p.Thresholds, t)
	return nil
}

func protocolValue() value {
	v := onOff(func(p *bench.Profile, on bool) {
		p.Protocol = bench.HTTP11
		if on {
			p.Protocol = bench.HTTP2
		}
	})
	known := []string{string(bench.HTTP11), string(bench.HTTP2)}
	all := choice(func(p *bench.Profile) *bench.Protocol { return &p.Protocol }, known, nil)
	v.get, v.texts = all.get, append(all.texts, "")
	v.wrong = func(p *bench.Profile, given bool) string {
		if p.Protocol == "" {
			return ""
		}
		return all.wrong(p, given)
	}
	return v
}
