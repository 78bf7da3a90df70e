package profile

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
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

const maxRequestName = 100 // bytes

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
	f.Requests, f.Sessions = requests, nil
	if !with.alone {
		return has
	}
	d := defaults()
	f.Needs, f.Checks, f.CompareBodies = d.Needs, d.Checks, d.CompareBodies
	return func(keys ...string) bool { return !slices.Contains(onlyAlone, keys[0]) && has(keys...) }
}

// requestList are the single requests of a profile: a list, or those of a target file.
type requestList struct {
	all   []request
	from  *targets.File        // the target file; nil: a list, or a file with a mistake
	wrong strictyaml.Collector // mistakes in the target file: vegeta's, or what the rules of a profile find
}

// targetFile is what `requests` may be in place of a list.
type targetFile struct {
	Targets string `yaml:"targets" strict:"required,min=1,max=1000" example:"targets.txt"`
}

// UnmarshalStrict reads a list, or the target file that a map names.
func (l *requestList) UnmarshalStrict(v strictyaml.Value) {
	if v.Kind() == strictyaml.Map {
		var of targetFile
		if !v.Decode(&of) {
			return
		}
		path := v.At("targets").ResolvePath(of.Targets)
		if v.At("targets").Failed() {
			return
		}
		if err := l.read(path, fromHere(path), v.Allowed()); err != nil {
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

// read reads a target file, which has a name in mistakes. The error is that of opening it.
func (l *requestList) read(path, name string, allowed []string) error {
	f, err := targets.Read(path, name, allowed...)
	if all, ok := errors.AsType[strictyaml.Mistakes](err); ok {
		l.wrong.File = name
		l.wrong.Add(all[0].Line, all[0].What, all[0].Hint)
		return nil
	}
	if err != nil {
		return err
	}
	l.from, l.wrong.File = &f, name
	l.all = each(f.Targets, requestOfTarget)
	return nil
}

// requestOfTarget returns a target as a request. No text of it is a template.
func requestOfTarget(t targets.Target) request {
	r := request{Weight: t.Weight, Method: t.Method, Path: t.Path, File: t.BodyFile}
	r.Body = plainText(bench.Literal(t.Body))
	for name, value := range t.Header {
		if r.Header == nil {
			r.Header = map[string]string{}
		}
		r.Header[name] = bench.Literal(value)
	}
	if all := usualStatuses(t.Method); len(all) > 1 {
		r.Expect = expect{"status": each(all, func(n int) any { return json.Number(strconv.Itoa(n)) })}
	}
	return r
}

// usualStatuses returns the statuses that mean success for a method, where the user names none:
// what writes may create, accept, or return nothing.
func usualStatuses(method string) []int {
	if method == http.MethodGet || method == http.MethodHead {
		return []int{http.StatusOK}
	}
	all := []int{http.StatusOK, http.StatusCreated, http.StatusAccepted, http.StatusNoContent}
	if !slices.Contains(methods, method) {
		all = append(all, http.StatusMultiStatus) // PROPFIND and others of WebDAV
	}
	return all
}

// nameTargets names the requests of a target file by method and path, with the query where another
// one has the same, and with a number if that is the same too.
func (f *file) nameTargets() {
	if f.Requests.from == nil {
		return
	}
	used := map[string]bool{}
	for _, r := range slices.Concat(f.requests(f.Setup), f.requests(f.Teardown)) {
		used[r.Name] = true
	}
	for _, s := range f.Sessions {
		used[s.Name] = true
		for _, r := range slices.Concat(s.Setup, s.Requests) {
			used[f.request(r, s.Name).Name] = true
		}
	}
	short := func(r request) string { return f.request(r, "").Name }
	count := map[string]int{}
	for _, r := range f.Requests.all {
		count[short(r)]++
	}
	for i := range f.Requests.all {
		r := &f.Requests.all[i]
		name, whole := short(*r), r.Method+" "+r.Path
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

// report takes a mistake in a request of the target file, and returns false for any other one.
func (l *requestList) report(m mistake) bool {
	at := requestIndex.FindStringSubmatch(m.path)
	switch {
	case l.from == nil:
		return m.path == "requests" && l.wrong.File != "" // none was read
	case at == nil:
		return false
	}
	i, err := strconv.Atoi(at[1])
	if err != nil || i >= len(l.from.Targets) {
		return false
	}
	t := l.from.Targets[i]
	if name, ok := strings.CutPrefix(at[2], "header."); ok {
		if _, own := t.Header[name]; !own {
			return false // a header of all requests
		}
	}
	l.wrong.Add(t.Line, cmp.Or(m.what, "`"+at[2]+"` is "+m.value), m.hint)
	return true
}

// allMistakes returns the mistakes of several files as one error, or nil.
func allMistakes(errs ...error) error {
	var all strictyaml.Mistakes
	for _, err := range errs {
		more, _ := errors.AsType[strictyaml.Mistakes](err)
		all = append(all, more...)
	}
	if len(all) == 0 {
		return nil
	}
	return all
}
