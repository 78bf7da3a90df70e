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

// named matches a target with a name.
var named = regexp.MustCompile(`^([a-z0-9][a-z0-9._-]{0,62}(?::[a-z0-9][a-z0-9._-]{0,62})?)=(.*)$`)

// splitTarget splits NAME=URL; name is "" for a URL alone.
func splitTarget(text string) (name, address string) {
	if m := named.FindStringSubmatch(text); m != nil {
		return m[1], m[2]
	}
	return "", text
}

// parseTargets reads the targets. Without a profile, a contender or a target file, request is the
// path and query of the address, which is then the only request.
func parseTargets(o RunOptions) (targets []bench.Target, request string, err error) {
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
		profiled := o.ProfileNamed || len(o.Contenders) > 0 || o.Changes.Given("targets")
		t, path, err := parseTarget(name, address, profiled)
		if err != nil {
			return nil, "", err
		}
		if i > 0 && path != request {
			return nil, "", console.Usagef("targets have different paths, %s and %s: put requests in a profile and "+
				"omit the paths here", request, path)
		}
		targets, request = append(targets, t), path
	}
	return targets, request, nil
}

// parseTarget reads one address. With the requests of a profile its path is their prefix; otherwise
// it is the request.
func parseTarget(name, address string, profiled bool) (t bench.Target, request string, err error) {
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
	if request = whole.EscapedPath(); request == "" {
		request = "/"
	}
	if whole.RawQuery != "" {
		request += "?" + whole.RawQuery
	}
	u.Path, u.RawPath, u.RawQuery = "", "", ""
	return bench.Target{Name: name, URL: u.String()}, request, nil
}

// aim makes p a plan for targets, which locbench cannot limit. request is the only request where
// the user named neither a profile nor a contender; its responses are not compared with the data
// set.
func aim(p *bench.Profile, o RunOptions, targets []bench.Target, request string) error {
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
	if request != "" {
		p.Requests = []bench.Request{{
			Name: request, Weight: 1, Method: http.MethodGet, Path: request, IDs: bench.IDSpec{Distribution: "uniform"},
			ExpectStatus: http.StatusOK,
		}}
		p.CompareBodies, p.CompareBounded, p.Checks = 0, false, bench.CheckSpec{}
	}
	p.Runtime, p.Limits = bench.RuntimeURL, bench.Limits{}
	return nil
}

// sameTargets returns the targets of a resumed run, with the addresses that are given again.
func sameTargets(recorded []bench.Target, given []string) ([]bench.Target, error) {
	targets := slices.Clone(recorded)
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
