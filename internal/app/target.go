package app

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/load"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/secret"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// namedTarget matches a target with a name.
var namedTarget = regexp.MustCompile(`^([a-z0-9][a-z0-9._-]{0,62}(?::[a-z0-9][a-z0-9._-]{0,62})?)=(.*)$`)

// splitTarget splits NAME=URL; name is "" for a URL alone.
func splitTarget(text string) (name, address string) {
	if m := namedTarget.FindStringSubmatch(text); m != nil {
		return m[1], m[2]
	}
	return "", text
}

// parseTargets reads the targets. Without a profile, a contender or a target file, request is the
// path and query of the address, which is then the only request.
func parseTargets(o RunOptions) (targets []bench.Target, request string, err error) {
	given := o.Changes["target"]
	if err := checkRequest(o); err != nil {
		return nil, "", err
	}
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
		t, path, err := parseTarget(name, address, o.profiled())
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

// profiled reports whether the requests are those of a profile or a target file.
func (o RunOptions) profiled() bool {
	return o.ProfileNamed || o.ProfileText != nil || len(o.Contenders) > 0 || o.Changes.Given("targets")
}

// checkRequest returns an error for the options of a single request where something else has the
// requests, or nothing can receive it.
func checkRequest(o RunOptions) error {
	given := strings.Join(o.Request.Given(), ", ")
	const way = "which has the requests: write it there, such as `- {post: /orders, json: {item: 7}}`"
	switch {
	case given == "":
		return nil
	case o.ProfileNamed || o.ProfileText != nil:
		return console.Usagef("%s: not with --profile, %s", given, way)
	case o.Changes.Given("targets"):
		return console.Usagef("%s: not with --targets, whose file has the requests with headers and bodies", given)
	case len(o.Contenders) > 0:
		return console.Usagef("%s: not with a contender, which gets the requests of a profile; "+
			"load a running service with --target URL, without %s", given, strings.Join(o.Contenders, " "))
	case !o.Changes.Given("target"):
		return console.Usagef("%s: add --target URL, such as --target http://127.0.0.1:8080/orders", given)
	}
	return nil
}

// parseTarget reads one address. With the requests of a profile its path is their prefix; otherwise
// it is the request.
func parseTarget(name, address string, profiled bool) (t bench.Target, request string, err error) {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	base, err := needs.ServiceURL(address)
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
	// EscapedPath alone would decode %2F where other letters are not encoded.
	request = cmp.Or(whole.RawPath, whole.EscapedPath(), "/")
	if whole.RawQuery != "" {
		request += "?" + whole.RawQuery
	}
	u.Path, u.RawPath, u.RawQuery = "", "", ""
	return bench.Target{Name: name, URL: u.String()}, request, nil
}

// aim makes p a plan for targets, which locbench cannot limit.
func aim(p *bench.Profile, o RunOptions, targets []bench.Target) (err error) {
	if len(o.Contenders) > 1 {
		return console.Usagef("--target is one service, but %d contenders were given", len(o.Contenders))
	}
	p.Runtime, p.Limits = bench.RuntimeURL, bench.Limits{}
	p.Contenders, err = selections(targets)
	return err
}

// selections returns the contenders that targets are.
func selections(targets []bench.Target) (all []bench.Selection, err error) {
	for _, t := range targets {
		sel, err := profile.ParseSelection(t.Name)
		if err != nil {
			return nil, console.Usagef("--target %s=…: use lower-case letters, digits, `-`, `_`, `.`", t.Name)
		}
		all = append(all, sel)
	}
	return all, nil
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
		base, err := needs.ServiceURL(address)
		if err != nil {
			return nil, err
		}
		targets[at].URL = base
	}
	return targets, nil
}

// trustOf returns the certificates that the options trust; nil for the system's.
func trustOf(o RunOptions, targets []bench.Target) (*bench.TLS, error) {
	given := map[bool]string{true: "--insecure", false: "--cacert"}[o.Insecure]
	switch {
	case o.CACert == "" && !o.Insecure:
		return nil, nil
	case o.CACert != "" && o.Insecure:
		return nil, console.Usagef(
			"use either --cacert or --insecure: with --insecure any certificate is accepted",
		)
	case !slices.ContainsFunc(targets, func(t bench.Target) bool { return strings.HasPrefix(t.URL, "https:") }):
		return nil, console.Usagef("%s needs --target https://…", given)
	case o.Insecure:
		return &bench.TLS{Insecure: true}, nil
	}
	file, err := filepath.Abs(o.CACert)
	if err != nil {
		return nil, err
	}
	trusts := &bench.TLS{CACert: file}
	_, err = tlsConfig(trusts)
	return trusts, err
}

const maxCACert = 16 << 20 // bytes; the bundle of a whole system has less than 1 MiB

// tlsConfig returns the TLS configuration of the client; nil for the defaults.
func tlsConfig(t *bench.TLS) (*tls.Config, error) {
	switch {
	case t == nil:
		return nil, nil
	case t.Insecure:
		return &tls.Config{InsecureSkipVerify: true}, nil
	}
	pem, err := safe.ReadFile(t.CACert, maxCACert)
	if err != nil {
		return nil, console.Usagef("--cacert: %v", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, console.Usagef("--cacert %s: no PEM certificate found (-----BEGIN CERTIFICATE-----)",
			t.CACert)
	}
	return &tls.Config{RootCAs: pool}, nil
}

// engineVariable selects the load engine of commands without --engine.
const engineVariable = "LOCBENCH_ENGINE"

// chosenEngine returns the load engine that the options or the environment select; "" for auto.
func chosenEngine(o RunOptions) (bench.Engine, error) {
	engine := o.Changes.Text("engine")
	if engine == "" && o.Getenv != nil {
		engine = o.Getenv(engineVariable)
		names := append(bench.Engines(), string(bench.EngineEpoll))
		if engine != "" && !slices.Contains(names, engine) {
			return "", console.Usagef("%s=%s: %s", engineVariable, safe.Line(engine, 60),
				strictyaml.Suggest(engine, "one of", names))
		}
	}
	if bench.Engine(engine) == bench.EngineAuto {
		return "", nil
	}
	return bench.Engine(engine), nil
}

// checkEngine returns an error about an engine of a run that does not apply to what it loads.
func checkEngine(run bench.Run) error {
	switch run.Engine {
	case "", bench.EngineAuto, bench.EngineVegeta:
		return nil
	case bench.EngineFast, bench.EngineEpoll:
	default:
		return console.Usagef("%q is not a load engine (use %s)", safe.Line(string(run.Engine), 60),
			strings.Join(bench.Engines(), ", "))
	}
	tls := slices.ContainsFunc(run.Targets, func(t bench.Target) bool { return strings.HasPrefix(t.URL, "https:") })
	if err := load.FastApplies(tls, run.Profile.Protocol == bench.HTTP2); err != nil {
		return console.Usagef("load engine %s does not apply to this run: %w; use %s, or %s", run.Engine, err,
			bench.EngineVegeta, bench.EngineAuto)
	}
	return nil
}
