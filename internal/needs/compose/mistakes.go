package compose

import (
	"fmt"
	"os"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// notExternal are the keys that only a service has which locbench starts.
func notExternal(s Service) (keys []string) {
	v := reflect.ValueOf(s)
	for i := range v.NumField() {
		key, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
		if !v.Field(i).IsZero() && !slices.Contains([]string{"external", "-", "like", "ports", "after"}, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

var hostName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$`)

// Wrong returns the mistakes of what is fine by itself.
func Wrong(n bench.NeedSpec) (all []needs.Mistake) {
	s := specOf(n)
	external := n.From.Traits().ByURL
	s.Fill(n.Name, external)
	when := func(broken bool, path, what, hint string) {
		if broken {
			all = append(all, needs.Mistake{Path: path, What: what, Hint: hint})
		}
	}
	if s.Like != "" && !slices.Contains(presetNames(), s.Like) {
		all = append(all, needs.Mistake{Path: "like", Value: s.Like, Hint: strictyaml.Suggest(s.Like, "one of", presetNames())})
	}
	if external {
		if _, err := externalAddress(bench.FillEnv(n.URL, func(string) string { return "1" })); err != nil {
			when(true, "external", err.Error(),
				"write `external: 10.0.0.5:5432`, or a URL such as `postgres://${USER}:${PASSWORD}@10.0.0.5:5432/shop`")
		}
		for _, key := range notExternal(specOf(n)) {
			hint := "remove it, or start one with `image`"
			if key == "seed" {
				hint = "remove it, and give the service its data before the run: locbench does not write to an external one"
			}
			built := key == "image" || key == "dockerfile"
			when(!built, key, fmt.Sprintf("an external service has no `%s`", key), hint)
			when(built, key, fmt.Sprintf("both `%s` and `external` given", key), "keep one of the two")
		}
		return all
	}
	when(s.Image != "" && s.Dockerfile != "", "dockerfile", "both `image` and `dockerfile` given", "keep one of the two")
	when(strings.Contains(ImageName(s.Image), "$"), "image", "the name of an image cannot be a variable", "write it; its tag may be one: `postgres:${TAG:-17}`")
	when(s.Image == "" && s.Dockerfile == "", "image", "`image` is missing", "write `image: postgres:17`, or `external: 10.0.0.5:5432` for one that runs already")
	when(s.Hostname != "" && !hostName.MatchString(s.Hostname), "hostname", "`hostname` is not a host name",
		"write letters, digits, - and .")
	for i, name := range s.Aliases {
		when(!hostName.MatchString(name), fmt.Sprintf("aliases[%d]", i), fmt.Sprintf("%.100q is not a host name", name),
			"write letters, digits, -, _ and .")
		when(taken(name), fmt.Sprintf("aliases[%d]", i), fmt.Sprintf("%s leads elsewhere in a container", name), "write another name")
	}
	when(taken(s.Hostname), "hostname", fmt.Sprintf("%s leads elsewhere in a container", s.Hostname), "write another name")
	when(s.StopSignal != "" && bench.SignalNumber(s.StopSignal) == 0, "stop_signal", "`stop_signal` is not a signal",
		bench.SignalHint)
	when(s.Ready.HTTP != ReadyHTTP{} && !strings.HasPrefix(s.Ready.HTTP.Path, "/"), "ready.http.path",
		"a path begins with /", "write one such as `/health`")
	if what := s.InMemory(s.Environment); what != "" && s.Seed != nil && !s.Keep {
		when(true, "seed", Lost(what), LostHint)
	}
	all = append(all, wrongSeeds(n.Name, s)...)
	return append(append(all, wrongMounts(s)...), wrongFiles(s)...)
}

// taken reports whether a name is not looked up in the network of the run: it is the container itself
// or its host.
func taken(name string) bool {
	name = strings.ToLower(name)
	return name == "localhost" || strings.HasSuffix(name, ".localhost") || name == "host.docker.internal" || name == "gateway.docker.internal"
}

// title names the image of a service.
func (s Service) title() string {
	if s.Dockerfile != "" {
		return "the image of " + s.Dockerfile.Short()
	}
	return "image " + ImageName(s.Image)
}

// wrongSeeds returns the mistakes of seeds that their service could not run.
func wrongSeeds(name string, s Service) (all []needs.Mistake) {
	p, _ := PresetOf(s)
	after, started := false, false
	bases := map[string]bool{}
	for i, one := range s.Seed {
		at := fmt.Sprintf("seed[%d]", i)
		if one.File == "" {
			after = true
			if bool(one.Start) && started {
				all = append(all, needs.Mistake{Path: at, What: "a second `start`", Hint: "keep one: each contender is started once"})
			}
			if bool(one.Start) && s.Keep {
				all = append(all, needs.Mistake{Path: at, What: "`start` with `keep: true`", Hint: "remove `keep`: the state after the start is that of its contender"})
			}
			started = started || bool(one.Start)
			if err := one.wrongTemplates(name); one.Image != "" && err != nil {
				all = append(all, needs.Mistake{Path: at, What: err.Error(),
					Hint: fmt.Sprintf("write a value of this need, such as `{{.Needs.%s.URL}}`", name)})
			}
			continue
		}
		base := path.Base(one.File)
		switch {
		case p.Folder == "":
			all = append(all, needs.Mistake{Path: at, What: s.title() + " runs no files of a seed",
				Hint: fmt.Sprintf("write a command, such as `{command: [sh, -c, \"PROGRAM < /seed/%s\"]}`, or `like: postgres`", base)})
		case !p.runs(base):
			all = append(all, needs.Mistake{Path: at, What: fmt.Sprintf("%s does not run %s", s.title(), base),
				Hint: fmt.Sprintf("write a file with the ending %s, or a command that reads /seed/%s", strings.Join(p.Endings, ", "), base)})
		case after:
			all = append(all, needs.Mistake{Path: at, What: "a file comes after another step",
				Hint: "write files first: the image runs them when it starts"})
		case bases[base]:
			all = append(all, needs.Mistake{Path: at, What: fmt.Sprintf("two files have the name %s", base), Hint: "rename one of them"})
		}
		bases[base] = true
	}
	return all
}

// wrongMounts returns the mistakes of paths at which two things are mounted.
func wrongMounts(s Service) (all []needs.Mistake) {
	for i, t := range s.Tmpfs {
		at := Service{Volumes: s.Volumes, Tmpfs: s.Tmpfs[:i]}
		if at.mounted(t.Path()) {
			all = append(all, needs.Mistake{Path: fmt.Sprintf("tmpfs[%d]", i), What: fmt.Sprintf("%s is mounted twice", t.Path()),
				Hint: "remove one of them"})
		}
	}
	return all
}

// wrongFiles returns the mistakes of files at paths where the service would not find their copies.
func wrongFiles(s Service) (all []needs.Mistake) {
	check := func(s Service, at, source, target string) {
		if info, err := os.Stat(source); source == "" || err != nil || info.IsDir() {
			return // a folder is a volume
		}
		mount, memory, given := s.mountOf(path.Dir(target))
		switch {
		case memory:
			all = append(all, needs.Mistake{Path: at, What: fmt.Sprintf("%s is in memory, which hides the copy of a file at %s", mount, target),
				Hint: "write a path outside of it, or a folder"})
		case given:
			all = append(all, needs.Mistake{Path: at, What: fmt.Sprintf("%s is in %s, which is read-only", target, mount),
				Hint: "put the file into the folder that is mounted there, or write another path"})
		}
	}
	for i, v := range s.Volumes {
		check(s, fmt.Sprintf("volumes[%d]", i), v.Source, v.Target)
	}
	p, _ := PresetOf(s)
	for i, one := range s.Seed {
		at, of := fmt.Sprintf("seed[%d]", i), s
		if one.Image != "" {
			of = Service{Volumes: one.Volumes}
		}
		if p.Folder != "" {
			check(of, at, one.File, p.Place(i, one.File))
		}
		for _, v := range one.Volumes {
			check(of, at, v.Source, v.Target)
		}
	}
	return all
}
