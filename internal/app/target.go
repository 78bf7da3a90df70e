package app

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	"locbench/internal/bench"
	"locbench/internal/run/profile"
	"locbench/internal/text/console"
	"locbench/internal/text/secret"
)

// named is how a target with a name begins.
var named = regexp.MustCompile(`^([a-z0-9][a-z0-9._-]{0,62}(?::[a-z0-9][a-z0-9._-]{0,62})?)=(.*)$`)

// splitTarget takes NAME=URL apart; name is "" for a URL alone.
func splitTarget(text string) (name, address string) {
	if m := named.FindStringSubmatch(text); m != nil {
		return m[1], m[2]
	}
	return "", text
}

// parseTargets reads the services that run already. asked is the path and query of the address
// where no profile says what to ask: exactly that is asked.
func parseTargets(o RunOptions) (targets []bench.Target, asked string, err error) {
	given := o.Changes["target"]
	for i, text := range given {
		name, address := splitTarget(text)
		switch {
		case name == "" && len(given) > 1:
			return nil, "", console.Usagef("name each target: --target NAME=URL, not --target %s",
				secret.Address(address))
		case name == "" && len(o.Contenders) == 1:
			name = o.Contenders[0]
		case name == "":
			name = bench.AnyTarget
		case len(o.Contenders) > 0:
			return nil, "", console.Usagef("--target %s=… already names the contender: omit %s",
				name, strings.Join(o.Contenders, " "))
		}
		if at := slices.IndexFunc(targets, func(t bench.Target) bool { return t.Name == name }); at >= 0 {
			return nil, "", console.Usagef("two targets are named %s: %s and %s; rename one",
				name, secret.Address(targets[at].URL), secret.Address(address))
		}
		t, path, err := parseTarget(name, address, o.ProfileNamed || len(o.Contenders) > 0)
		if err != nil {
			return nil, "", err
		}
		if i > 0 && path != asked {
			return nil, "", console.Usagef("targets have different paths, %s and %s: put requests in a profile and omit the paths here", asked, path)
		}
		targets, asked = append(targets, t), path
	}
	return targets, asked, nil
}

// parseTarget reads one address. Where the requests are a profile's, its path comes before theirs;
// otherwise it is what is asked.
func parseTarget(name, address string, profiled bool) (t bench.Target, asked string, err error) {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	base, err := profile.ServiceURL(address)
	if err != nil {
		return t, "", err
	}
	u, err := secret.ParseURL(base)
	if err != nil {
		return t, "", console.Usagef("--target: write it as http://127.0.0.1:8080")
	}
	switch {
	case u.Fragment != "":
		return t, "", console.Usagef("--target %s: remove the fragment (#…)", secret.Address(base))
	case profiled && u.RawQuery != "":
		return t, "", console.Usagef(
			"--target %s: remove the query; the profile sets the requests",
			secret.Address(base),
		)
	case profiled:
		return bench.Target{Name: name, URL: base}, "", nil
	}
	whole, _ := secret.ParseURL(address) // with the slash at its end
	if asked = whole.EscapedPath(); asked == "" {
		asked = "/"
	}
	if whole.RawQuery != "" {
		asked += "?" + whole.RawQuery
	}
	u.Path, u.RawPath, u.RawQuery = "", "", ""
	return bench.Target{Name: name, URL: u.String()}, asked, nil
}

// aim makes p a plan for services that run already: what limits them is not ours to say. Without a
// contender or a profile that was named, nothing is known of their responses: they are asked what the
// address says, and their responses are not compared with those of cities.
func aim(p *bench.Profile, o RunOptions, targets []bench.Target, asked string) error {
	for _, limit := range []string{"cpus", "memory", "cpu-set"} {
		if o.Changes.Given(limit) {
			return console.Usagef("--%s: not with --target; locbench does not start that service", limit)
		}
	}
	if len(o.Contenders) > 1 {
		return console.Usagef("--target is one service, but %d contenders were given", len(o.Contenders))
	}
	p.Contenders = nil
	for _, t := range targets {
		sel, err := profile.ParseSelection(t.Name)
		if err != nil {
			return console.Usagef("--target %s=…: use lower-case letters, digits, `-`, `_`, `.`", t.Name)
		}
		p.Contenders = append(p.Contenders, sel)
	}
	if asked != "" {
		p.Requests = []bench.Request{{
			Name: asked, Weight: 1, Method: http.MethodGet, Path: asked, IDs: bench.IDSpec{Distribution: "uniform"},
			ExpectStatus: http.StatusOK,
		}}
		p.CompareBodies, p.Checks = 0, bench.CheckSpec{}
	}
	p.Runtime, p.Limits = bench.RuntimeURL, bench.Limits{}
	return nil
}

// sameTargets returns those of a run that is resumed, at addresses that are given again.
func sameTargets(were []bench.Target, given []string) ([]bench.Target, error) {
	targets := slices.Clone(were)
	for _, text := range given {
		name, address := splitTarget(text)
		at := slices.IndexFunc(targets, func(t bench.Target) bool {
			return t.Name == name || name == "" && len(targets) == 1
		})
		if at < 0 {
			return nil, console.Usagef("--target %s=…: not a contender of this run", name)
		}
		base, err := profile.ServiceURL(address)
		if err != nil {
			return nil, err
		}
		targets[at].URL = base
	}
	return targets, nil
}
