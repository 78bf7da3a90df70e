package profile

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/needs/kinds"
	"github.com/locbench/locbench/internal/run/profile/targets"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// weigh converts shares to weights. All or no items have shares, which add up to 100%.
func (f *file) weigh(v strictyaml.Value) {
	var shares []float64
	var weights []*int
	for i := range f.keys.Requests.all {
		one := &f.keys.Requests.all[i]
		shares, weights = append(shares, one.Share), append(weights, &one.Weight)
	}
	for i := range f.keys.Sessions {
		one := &f.keys.Sessions[i]
		shares, weights = append(shares, one.Share), append(weights, &one.Weight)
	}
	given, sum, divisor := 0, 0, 0
	for i, s := range shares {
		if s == 0 {
			continue
		}
		given++
		*weights[i] = int(math.Round(s * 1e5))
		sum, divisor = sum+*weights[i], gcd(divisor, *weights[i])
	}
	switch {
	case given == 0:
		return
	case given < len(shares):
		v.At("requests").Mistake("only some requests have a share", "write one for each, or weights for all")
		return
	case sum < 99_990 || sum > 100_010:
		v.At("requests").Mistake("the shares add up to "+strictyaml.FormatShare(float64(sum)/1e5), "they must add up to 100%")
	}
	for _, w := range weights {
		*w /= divisor
	}
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// mix fills in the requests of the profile: single ones, then those of the sessions, each after its
// setup.
func (f *file) mix() {
	p := &f.Profile
	p.Setup, p.Teardown = f.requests(f.keys.Setup, "", true), f.requests(f.keys.Teardown, "", false)
	p.Requests = f.requests(f.keys.Requests.all, "", false)
	for _, s := range f.keys.Sessions {
		p.Sessions = append(p.Sessions, s.Session)
		p.Requests = append(p.Requests, f.requests(s.Setup, s.Name, true)...)
		p.Requests = append(p.Requests, f.requests(s.Requests, s.Name, false)...)
	}
}

// requests returns requests with what all of the file share, and with defaults; session is "" for
// single ones. Those of a setup lack a shared header until its variable is saved.
func (f *file) requests(all []request, session string, setup bool) (out []bench.Request) {
	for i, r := range all {
		if r.Session = session; session != "" {
			r.Weight, r.SetUp = 0, setup
		}
		r.Header = maps.Clone(r.Header)
		for name, value := range f.keys.Header {
			_, own := r.Header[name]
			if own || setup && slices.ContainsFunc(all[i:], func(later request) bool { return later.savesPlace(value) }) {
				continue
			}
			if r.Header == nil {
				r.Header = map[string]string{}
			}
			r.Header[name] = value
		}
		if many := cmp.Or(r.requestKeys.Follow, f.keys.Follow); many != nil {
			r.Request.Follow = int(*many)
		}
		if f.ofData(r, "id") {
			r.IDs.Distribution = cmp.Or(r.IDs.Distribution, uniform)
		}
		if f.ofData(r, "language") && r.Languages == nil {
			r.Languages = kinds.Provided(f.Needs).Languages
		}
		if r.Name == "" {
			path, _, _ := strings.Cut(r.Path, "?")
			if r.Name = r.Method + " " + path; session != "" {
				r.Name = session + ": " + r.Name
			}
			r.Name = r.Name[:min(len(r.Name), maxRequestName)]
		}
		out = append(out, r.Request)
	}
	return out
}

// ofData reports whether a path has a place for values of the data set, not for a variable of the file.
func (f *file) ofData(r request, name string) bool {
	saves := func(r request) bool {
		return slices.ContainsFunc(r.Save, func(s bench.Save) bool { return s.Name == name })
	}
	return bench.HasPlace(r.Path, name) && !slices.ContainsFunc(f.keys.Setup, saves) &&
		!slices.ContainsFunc(f.Variables, func(v bench.Variable) bool { return v.Name == name }) &&
		!slices.ContainsFunc(f.keys.Sessions, func(s session) bool {
			return s.Name == r.Session && (slices.ContainsFunc(s.Setup, saves) || slices.ContainsFunc(s.Requests, saves))
		})
}

// expandSteps fills in the steps of the profile: several for an item, and their durations.
func (f *file) expandSteps() {
	for i, item := range f.keys.Steps {
		for _, one := range item.steps(f.StepDuration) {
			f.Profile.Steps, f.items = append(f.Profile.Steps, one), append(f.items, i)
		}
		if len(f.items) > maxSteps {
			return // rules.steps reports it
		}
	}
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

// instead replaces the requests and sessions of a profile.
type instead struct {
	targets string   // vegeta's target file with the requests; "": nothing is replaced
	alone   bool     // the keys of onlyAlone are left out too
	allowed []string // folders with files that the profile and the target file may name
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
		ExpectStatus: statuses[0], MoreStatuses: append([]int(nil), statuses[1:]...),
	}
	for name, value := range t.Header {
		if r.Header == nil {
			r.Header = map[string]string{}
		}
		r.Header[name] = bench.Literal(value)
	}
	return r
}
