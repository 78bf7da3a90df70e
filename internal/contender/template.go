package contender

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

const maxTemplate = 16 << 10 // bytes of a template, and of its result

// Fill returns the artifact and the environment for a LaunchSpec: it fills in the templates in the
// command and the environment of svc. If t has no Dir, it is the artifact's folder. A relative path
// of a program is relative to that.
func Fill(svc bench.Service, artifact bench.Artifact, t bench.Template) (bench.Artifact, map[string]string, error) {
	t.Dir = cmp.Or(t.Dir, artifact.Dir)
	env := make(map[string]string, len(svc.Env))
	for _, key := range slices.Sorted(maps.Keys(svc.Env)) {
		value, err := fill(svc.Env[key], t)
		if err != nil {
			return artifact, nil, fmt.Errorf("contender %s: environment %s: %w", svc.Name, key, err)
		}
		env[key] = value
	}
	argv, err := Command(artifact.Command, t)
	if err != nil {
		return artifact, nil, fmt.Errorf("contender %s: %w", svc.Name, err)
	}
	if len(argv) > 0 && artifact.Dir != "" && strings.ContainsAny(argv[0], `/\`) && !filepath.IsAbs(argv[0]) {
		argv[0] = filepath.Join(t.Dir, argv[0])
	}
	artifact.Command = argv
	return artifact, env, nil
}

// TakesPort reports whether the environment or the command of svc depends on the port. If not, svc
// listens on the port in its manifest.
func TakesPort(svc bench.Service, artifact bench.Artifact) bool {
	var filled [2]string
	for i := range filled {
		a, env, err := Fill(svc, artifact, bench.Template{Port: i + 1})
		if err != nil {
			return true // the launch will report the error
		}
		filled[i] = fmt.Sprintf("%q %q", a.Command, env) // keys in order
	}
	return filled[0] != filled[1]
}

// Command fills in the templates of a command.
func Command(args []string, t bench.Template) ([]string, error) {
	if args == nil {
		return nil, nil
	}
	out := make([]string, len(args))
	for i, arg := range args {
		var err error
		if out[i], err = fill(arg, t); err != nil {
			return nil, fmt.Errorf("command %q: %w", arg, err)
		}
	}
	return out, nil
}

// fill replaces each {{.Field}} of a text. Its error says what to write.
func fill(text string, t bench.Template) (string, error) {
	if len(text) > maxTemplate {
		return "", fmt.Errorf("write at most %s", strictyaml.FormatBytes(maxTemplate))
	}
	if strings.ContainsRune(text, 0) {
		return "", errors.New("write it without the character NUL")
	}
	fields := map[string]string{
		".Listen": t.Listen, ".Port": strconv.Itoa(t.Port), ".Name": t.Name, ".Dir": t.Dir, ".Self": t.Self,
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "{{")
		b.WriteString(before)
		if b.Len() > maxTemplate {
			return "", fmt.Errorf("the result is longer than %s", strictyaml.FormatBytes(maxTemplate))
		}
		if !found {
			return b.String(), nil
		}
		name, after, closed := strings.Cut(rest, "}}")
		name = strings.TrimSpace(name)
		value, known := fields[name]
		called := "NAME"
		if need, field, ok := needField(name); ok {
			if strings.HasPrefix(name, ".Needs.") {
				called = need
			}
			value, known = t.Address(need).Field(field)
			at, ofRun := t.Needs[need]
			switch {
			case slices.Contains(bench.Connections(), field) && !ofRun:
				value, known = t.Other.URL, true
			case slices.Contains(bench.Connections(), field):
				var err error
				if value, err = at.Connection(field); err != nil {
					return "", fmt.Errorf("`{{%s}}`: need %s: %w", clip(name), clip(need), err)
				}
				known = true
			case field == "URL" && ofRun && value == "":
				return "", fmt.Errorf("`{{%s}}`: no URL of need %s is known; use Host and Port", clip(name), clip(need))
			}
			if port, ofPorts := strings.CutPrefix(field, "Ports."); ofPorts && port != "" && !known {
				if ofRun && closed {
					there := strictyaml.Suggest(port, "it has", slices.Sorted(maps.Keys(at.Ports)))
					return "", fmt.Errorf("`{{%s}}`: %s has no port %q; %s", clip(name), clip(need), clip(port), cmp.Or(there, "name it in `ports`"))
				}
				value, known = t.Other.Port, true
			}
		}
		switch {
		case !closed:
			return "", errors.New("`{{` without `}}`; write a field such as `{{.Port}}`")
		case !known:
			for _, field := range bench.NeedFields() {
				fields[".Needs."+called+"."+field] = ""
			}
			for _, field := range []string{"URL", "Host", "Port"} {
				fields[".Elastic."+field] = ""
			}
			there := strictyaml.Suggest(name, "choose from", slices.Sorted(maps.Keys(fields)))
			return "", fmt.Errorf("unknown field `{{%s}}`; %s", clip(name), there)
		}
		b.WriteString(value)
		text = after
	}
}

// needField splits .Needs.NAME.FIELD, or .Elastic.FIELD, which is short for the need elasticsearch.
func needField(text string) (need, field string, ok bool) {
	if rest, found := strings.CutPrefix(text, ".Needs."); found {
		need, field, ok = strings.Cut(rest, ".")
		return need, field, ok && need != ""
	}
	field, ok = strings.CutPrefix(text, ".Elastic.")
	return "elasticsearch", field, ok
}

// Needs returns the needs in the templates of svc by their names, with one such template.
func Needs(svc bench.Service) map[string]string {
	found := map[string]string{}
	eachNeed(svc, func(need, _, template string) { found[need] = template })
	return found
}

// Uses returns the first template of svc with one of the fields of a need; "": there is none.
func Uses(svc bench.Service, need string, fields ...string) (found string) {
	eachNeed(svc, func(of, field, template string) {
		if found == "" && of == need && slices.Contains(fields, field) {
			found = template
		}
	})
	return found
}

// eachNeed calls use for each template of svc with a field of a need.
func eachNeed(svc bench.Service, use func(need, field, template string)) {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(svc.Env)) {
		all = append(all, svc.Env[key])
	}
	if svc.Docker != nil {
		all = append(all, svc.Docker.Command...)
	}
	if svc.Process != nil {
		all = append(all, svc.Process.Command...)
	}
	for _, text := range all {
		for _, part := range strings.Split(text, "{{")[1:] {
			place, _, _ := strings.Cut(part, "}}")
			if need, field, ok := needField(strings.TrimSpace(place)); ok {
				use(need, field, "{{"+place+"}}")
			}
		}
	}
}

func clip(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 200 {
		s = strings.ToValidUTF8(s[:200], "") + "…"
	}
	return s
}

// WithSettings returns a resolved contender with the settings of a profile applied.
func WithSettings(svc bench.Service, s bench.Settings) (bench.Service, error) {
	svc.Limits = s.Limits
	if s.Base != nil {
		built := svc.Variant
		svc.Variant, svc.BuiltAs = s.Variant, &built
	}
	svc.Env = merge(svc.Env, s.Env)
	if s.Image == "" {
		return svc, nil
	}
	if svc.Builtin {
		return svc, fmt.Errorf("contender %s runs inside locbench: remove `image` in the profile", s)
	}
	svc.Docker = applyDocker(svc.Docker, bench.Variant{Image: s.Image})
	svc.Process = nil // it is in the image only
	return svc, nil
}
