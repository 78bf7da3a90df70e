package profile

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/run/profile/targets"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// instead replaces the requests and sessions of a profile.
type instead struct {
	targets string   // vegeta's target file with the requests; "": nothing is replaced
	alone   bool     // the keys of onlyAlone are left out too
	allowed []string // folders with files that the profile and the target file may name
}

// onlyAlone are keys of a profile that may be for its own requests.
var onlyAlone = []string{"needs", "checks", "compare_bodies"}

// replace replaces what with says by requests, and returns which keys the profile then has.
func (f *file) replace(with instead, requests requestList, has func(keys ...string) bool) func(keys ...string) bool {
	if with.targets == "" {
		return has
	}
	f.keys.Requests, f.keys.Sessions = requests, nil
	if !with.alone {
		return has
	}
	d := defaults()
	f.Needs, f.Checks, f.CompareBodies = d.Needs, d.Checks, d.CompareBodies
	return func(keys ...string) bool { return !slices.Contains(onlyAlone, keys[0]) && has(keys...) }
}

// requests returns those of the target file; the error is that of opening it, or a strictyaml.Mistakes.
func (with instead) requests() (l requestList, err error) {
	if with.targets == "" {
		return l, nil
	}
	err = l.read(with.targets, with.targets, with.allowed)
	if _, ok := errors.AsType[strictyaml.Mistakes](err); err != nil && !ok {
		err = fmt.Errorf("read target file: %w", err)
	}
	return l, err
}

// requestList are the single requests of a profile: a list, or those of a target file.
type requestList struct {
	all  []request
	from []targets.Target // of the target file
	name string           // of that file in mistakes
}

// targetFile is what `requests` may be in place of a list.
type targetFile struct {
	Targets string `yaml:"targets" strict:"required,path,min=1,max=1000" example:"targets.txt"`
}

// UnmarshalStrict reads a list, or the target file that a map names.
func (l *requestList) UnmarshalStrict(v strictyaml.Value) {
	if v.Kind() == strictyaml.Map {
		var of targetFile
		if !v.Decode(&of) {
			return
		}
		path := of.Targets
		err := l.read(path, fromHere(path), v.Allowed())
		if all, ok := errors.AsType[strictyaml.Mistakes](err); ok {
			v.MistakeIn(all[0].File, all[0].Line, all[0].What, all[0].Hint)
		} else if err != nil {
			v.At("targets").Mistake(err.Error(), "write the path of vegeta's target file, relative to the profile")
		}
		return
	}
	if v.Kind() != strictyaml.List {
		v.Wrong("write a list, or `{targets: FILE}`")
		return
	}
	const hint = "write from 1 to %d items"
	switch n := len(v.Items()); {
	case n == 0:
		v.Mistake("`requests` is empty", fmt.Sprintf(hint, targets.Most))
	case n > targets.Most:
		v.Mistake(fmt.Sprintf("`requests` has %d items", n), fmt.Sprintf(hint, targets.Most))
	default:
		v.Decode(&l.all)
	}
}

// fromHere returns a whole path, relative to the working folder if it is below that.
func fromHere(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	if short, err := filepath.Rel(here, path); err == nil && filepath.IsLocal(short) {
		return short
	}
	return path
}

// read reads a target file, which has a name in mistakes. The error is that of opening it, or a
// strictyaml.Mistakes.
func (l *requestList) read(path, name string, allowed []string) error {
	f, err := targets.Read(path, name, allowed...)
	l.from, l.name = f.Targets, name
	for _, t := range f.Targets {
		l.all = append(l.all, requestOfTarget(t))
	}
	return err
}

// requestOfTarget returns a target as a request. No text of it is a template.
func requestOfTarget(t targets.Target) (r request) {
	statuses := usualStatuses(t.Method)
	r.Request = bench.Request{
		Weight: t.Weight, Method: t.Method, Path: t.Path, BodyFile: t.BodyFile, Body: bench.Literal(t.Body),
		ExpectStatus: statuses[0], MoreStatuses: statuses[1:],
	}
	for name, value := range t.Header {
		if r.Header == nil {
			r.Header = map[string]string{}
		}
		r.Header[name] = bench.Literal(value)
	}
	return r
}

// nameTargets names the requests of a target file by method and path, with the query where another
// one has the same, and with a number if that is the same too.
func (f *file) nameTargets() {
	p := &f.Profile
	n := len(f.keys.Requests.from)
	used, count := map[string]bool{}, map[string]int{}
	for _, r := range slices.Concat(p.Setup, p.Teardown, p.Requests[n:]) {
		used[r.Name] = true
	}
	for _, s := range p.Sessions {
		used[s.Name] = true
	}
	for _, r := range p.Requests[:n] {
		count[r.Name]++
	}
	for i := range n {
		r := &p.Requests[i]
		name, whole := r.Name, r.Method+" "+r.Path
		if count[name] > 1 || used[name] {
			name = whole[:min(len(whole), maxRequestName)]
		}
		for n := 2; used[name]; n++ {
			end := fmt.Sprintf(" (%d)", n)
			name = whole[:min(len(whole), maxRequestName-len(end))] + end
		}
		used[name], r.Name = true, name
	}
}

var requestIndex = regexp.MustCompile(`^requests\[(\d+)\]\.?(.*)$`)

// ofTarget reports a mistake in a request of the target file at its line, and returns false for any other one.
func (f *file) ofTarget(v strictyaml.Value, m mistake) bool {
	l := f.keys.Requests
	at := requestIndex.FindStringSubmatch(m.path)
	if at == nil {
		return false
	}
	i, err := strconv.Atoi(at[1])
	if err != nil || i >= len(l.from) {
		return false
	}
	if name, ok := strings.CutPrefix(at[2], "header."); ok {
		if _, own := l.from[i].Header[name]; !own {
			return false // a header of all requests
		}
	}
	v.At("requests").MistakeIn(l.name, l.from[i].Line, cmp.Or(m.what, "`"+at[2]+"` is "+m.value), m.hint)
	return true
}
