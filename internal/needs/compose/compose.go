package compose

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/mattn/go-shellwords"

	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// hints are the keys that compose's own reader reads, with what to write.
var hints = map[string]string{
	"command":     "write a text with its quotes closed, or a list of texts, such as `[postgres, -c, \"max_connections=200\"]`",
	"entrypoint":  "write a text with its quotes closed, or a list of texts",
	"environment": "write a map, such as `{POSTGRES_PASSWORD: \"${PGPASSWORD}\"}`, or a list of NAME=VALUE",
	"env_file":    "write a file or a list of files with lines NAME=VALUE",
	"healthcheck": "write it as compose has it, such as `{test: [CMD, pg_isready]}`, or `ready`",
	"volumes":     volumeHint,
}

const (
	volumeHint = "write `./FILE:/path/in/container:ro` for files that it reads, or only the path in the container for its data: " +
		"a run does not write to folders of this machine"
	placesHint = "write ${NAME} or ${NAME:-DEFAULT} for a variable of locbench, and $$ for a dollar"
)

// ofService is the place of a value in an error of compose: services.db.command.1, or
// services[db].environment[A].
var ofService = regexp.MustCompile(`services(?:\.db|\[db\])\.([^\s']+)'?:? +`)

// composed reads the keys of a service that are compose's. What compose would lose, or read as
// something else than is written, is a mistake in v. It opens no file.
func composed(v strictyaml.Value) (s types.ServiceConfig, ok bool) {
	mistakes, given := 0, map[string]any{"image": "x"}
	wrong := func(at strictyaml.Value, what, hint string) {
		mistakes++
		at.Mistake(what, hint)
	}
	for _, key := range slices.Sorted(maps.Keys(hints)) {
		at := v.At(key)
		if !v.Has(key) || at.Kind() == strictyaml.Null || at.Failed() {
			continue
		}
		given[key] = tree(at)
		switch {
		case key == "environment":
			for _, f := range at.Fields() {
				text := f.Value.Typed()
				if written, isText := f.Value.Plain(); isText && text != written {
					wrong(f.Value, fmt.Sprintf("`%s: %s` without quotes is %s in compose", clip(f.Key), clip(written), clip(text)),
						fmt.Sprintf("put it in quotes: \"%s\"", clip(written)))
				}
			}
		case (key == "command" || key == "entrypoint") && at.Kind() == strictyaml.Scalar:
			text, _ := at.Text()
			p := shellwords.NewParser()
			if _, err := p.Parse(text); err == nil && p.Position >= 0 {
				wrong(at, fmt.Sprintf("compose drops all of `%s` from %q on", key, clip(text[p.Position:])),
					fmt.Sprintf("a shell runs it: `%s: [sh, -c, %s]`; in a list, each text is one word", key, clip(fmt.Sprintf("%q", text))))
			}
		}
	}
	if mistakes > 0 {
		return s, false
	}
	config := types.ConfigDetails{ConfigFiles: []types.ConfigFile{{Filename: "F", Content: []byte{},
		Config: map[string]any{"services": map[string]any{"db": given}}}}}
	project, err := loader.LoadWithContext(context.Background(), config, func(o *loader.Options) {
		o.SetProjectName("p", true)
		o.SkipInterpolation, o.SkipNormalization, o.SkipExtends, o.SkipInclude = true, true, true, true
		o.SkipResolveEnvironment, o.SkipResolveLabels, o.SkipConsistencyCheck, o.ResolvePaths = true, true, true, false
	})
	if err == nil {
		return project.Services["db"], true
	}
	for _, line := range strings.Split(err.Error(), "\n") {
		if m := ofService.FindStringSubmatchIndex(line); m != nil {
			at := line[m[2]:m[3]]
			key := at[:min(len(at), max(0, strings.IndexAny(at+".", ".[")))]
			v.Find(at).Wrong(fmt.Sprintf("%s (compose: %s)", hints[key], clip(line[m[1]:])))
			mistakes++
		}
	}
	if mistakes == 0 { // an error without a place
		v.Mistake("compose cannot read it: "+safe.Line(err.Error(), 300), "")
	}
	return s, false
}

func clip(text string) string { return safe.Line(text, 100) }

// tree returns a value as compose's reader has it. The types of texts are those that are written.
func tree(v strictyaml.Value) any {
	switch v.Kind() {
	case strictyaml.Map:
		all := map[string]any{}
		for _, f := range v.Fields() {
			all[f.Key] = tree(f.Value)
		}
		return all
	case strictyaml.List:
		all := []any{}
		for _, item := range v.Items() {
			all = append(all, tree(item))
		}
		return all
	}
	if n, ok := v.Any().(int64); ok {
		return int(n) // the only type of a size
	}
	return v.Any()
}

// argv returns the words of a command.
func argv(v strictyaml.Value, key string, words []string) []string {
	if v.Has(key) && (len(words) == 0 || words[0] == "") {
		v.At(key).Wrong("write a program and its arguments, such as `[postgres, -c, max_connections=200]`")
		return nil
	}
	for i, word := range words {
		words[i] = places(v.At(key), word)
	}
	return words
}

// variables returns the environment of a service. A name without a value has that of locbench.
func variables(v strictyaml.Value, given types.MappingWithEquals) map[string]string {
	all := map[string]string{}
	for name, value := range given {
		at := v.Find("environment." + name)
		switch {
		case name == "" || strings.ContainsAny(name, " \t\n"):
			at.Mistake("a variable has a wrong name", hints["environment"])
		case value != nil:
			all[name] = places(at, *value)
		case !wholePlace.MatchString("${" + name + "}"):
			at.Mistake(fmt.Sprintf("variable %s has no value", clip(name)), "write NAME=VALUE")
		default:
			all[name] = "${" + name + "}"
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

// mounts returns the volumes of a service.
func mounts(v strictyaml.Value, given []types.ServiceVolumeConfig) (all []Volume) {
	items := v.At("volumes").Items()
	if len(given) != len(items) {
		v.At("volumes").Mistake("a path is mounted twice", "remove one of them")
		return nil
	}
	for i, m := range given {
		at, to := items[i], Volume{Target: path.Clean(m.Target)}
		plain := m.Bind == nil || m.Bind.SELinux+m.Bind.Propagation+m.Bind.Recursive == ""
		switch {
		case m.Type == types.VolumeTypeVolume && m.Source == "" && !m.ReadOnly && (m.Volume == nil || !m.Volume.NoCopy && m.Volume.Subpath == ""):
		case m.Type == types.VolumeTypeVolume && m.Source != "":
			at.Mistake(fmt.Sprintf("%s is a volume with a name", clip(m.Source)),
				"write only the path in the container, such as `/data`: its volume is of this run; a file of this folder begins with ./")
			continue
		case m.Type != types.VolumeTypeBind || !m.ReadOnly || !plain:
			at.Mistake(fmt.Sprintf("`%s` is mounted in a way that locbench does not do", clip(m.Target)), volumeHint)
			continue
		default:
			to.Source, _ = existing(at, m.Source)
		}
		if !path.IsAbs(m.Target) || to.Target == "/" || strings.Contains(m.Target, "$") {
			at.Mistake(fmt.Sprintf("`%s` is not a path in the container", clip(m.Target)), "write an absolute path, such as `/data`")
		}
		all = append(all, to)
	}
	return all
}

// existing returns the whole path of a file that v names; name "": v is its path.
func existing(v strictyaml.Value, name string) (file string, ok bool) {
	if name == "" {
		if name, ok = v.Text(); !ok {
			return "", false
		}
	}
	if name == "" || len(name) > 4096 {
		v.Wrong("write the path of a file, relative to this file")
		return "", false
	}
	file = v.ResolvePath(name)
	if _, err := os.Stat(file); err != nil {
		v.Mistake(fmt.Sprintf("`%.200s` does not exist", name), "write a path relative to the folder of this file")
		return "", false
	}
	return file, true
}

// envFiles returns the files with variables, which are read once to find their mistakes.
func envFiles(v strictyaml.Value, given []types.EnvFile) (all []string) {
	for i, f := range given {
		at := v.At("env_file")
		if items := at.Items(); i < len(items) {
			at = items[i]
		}
		if f.Format != "" {
			at.Mistake(fmt.Sprintf("locbench does not read env files of the format %s", clip(f.Format)), "remove `format`")
		}
		if _, err := os.Stat(at.ResolvePath(f.Path)); !f.Required && err != nil {
			continue
		}
		file, ok := existing(at, f.Path)
		if !ok {
			continue
		}
		if _, err := readVariables(file, func(string) (string, bool) { return "1", true }); err != nil {
			at.Mistake(err.Error(), "")
		}
		all = append(all, file)
	}
	return all
}

// rule returns when a service is ready by its health check: it must succeed before compose would
// give up.
func (r *ready) rule(v strictyaml.Value, h *types.HealthCheckConfig) {
	if h == nil {
		return
	}
	at := v.At("healthcheck")
	switch {
	case len(r.Rules()) > 0:
		at.Mistake("both `ready` and `healthcheck` given", "keep one of the two")
		return
	case h.Disable || len(h.Test) == 0:
		at.Mistake("`healthcheck` has no test", "write `ready: {command: […]}`, or remove it: health checks are off in a run")
		return
	}
	r.Command = argv(v, "healthcheck", checked(at, h.Test))
	duration := func(d *types.Duration, otherwise time.Duration) time.Duration {
		if d == nil {
			return otherwise
		}
		return time.Duration(*d)
	}
	retries := uint64(3)
	if h.Retries != nil {
		retries = min(*h.Retries, 1000)
	}
	patience := duration(h.StartPeriod, 0) + time.Duration(retries)*(duration(h.Interval, 30*time.Second)+duration(h.Timeout, 30*time.Second))
	if r.Timeout == 0 {
		r.Timeout = min(max(patience, ReadyTimeout), 30*time.Minute)
	}
}

// checked returns the command of a health check in the forms of compose.
func checked(at strictyaml.Value, words []string) []string {
	switch {
	case words[0] == "CMD-SHELL" && len(words) == 2:
		return []string{"sh", "-c", words[1]}
	case words[0] == "CMD-SHELL":
		at.Mistake("CMD-SHELL runs only the word after it", "write the command as a list without CMD-SHELL, or as one text")
	case words[0] == "CMD" && len(words) > 1:
		return words[1:]
	case words[0] == "CMD" || words[0] == "NONE":
		at.Wrong("write the program and its arguments, such as `[pg_isready, -h, db]`")
	default:
		return words
	}
	return nil
}

// shell is the command of a check or a seed. A text is for the shell of the container.
type shell []string

// UnmarshalStrict reads a text or a list of texts, also those of a health check in a compose file.
func (s *shell) UnmarshalStrict(v strictyaml.Value) {
	var words []string
	if v.Kind() == strictyaml.List {
		v.Decode(&words)
	} else if text, ok := v.Text(); ok {
		words = []string{"sh", "-c", text}
	}
	switch {
	case v.Failed():
		return
	case len(words) == 0 || words[0] == "":
		v.Wrong("write a program and its arguments, such as `[pg_isready, -h, db]`")
		return
	}
	for _, word := range checked(v, words) {
		*s = append(*s, places(v, word))
	}
}
