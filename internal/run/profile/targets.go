package profile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

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
