package profile

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// ofTargets returns the text of a draft whose requests are those of a target file, and the commands
// at its end.
func (d Draft) ofTargets(file string) (text []byte, next []string, err error) {
	if d.Get+d.Post+d.Login != "" {
		return nil, nil, errors.New("--targets has the requests: leave out --get, --post and --login, " +
			"and add more in the written file")
	}
	p, list, err := parse(file, []byte("steps: [1]\n"), instead{targets: d.Targets})
	if err != nil {
		return nil, nil, err
	}
	var t draftText
	t.head(nameOf(file))
	t.line(`
# The mix, from the target file %s. The share of a request is its weight / (sum of weights). A response
# with another status than "expect" is an error. Use {item} in a path, header or body for values of "variables".
requests:`, filepath.Base(d.Targets))
	for _, r := range p.Requests {
		t.request(r, file)
	}
	t.steps(d.Connections)
	next = nextCommands(file, cmp.Or(list.from.Base, draftBase), false)
	t.next(next)
	if t.err != nil {
		return nil, nil, t.err
	}
	again, err := t.parse(file)
	if err == nil && !reflect.DeepEqual(again.Requests, p.Requests) {
		err = fmt.Errorf("%s: a request cannot be written into a profile; write `requests: {targets: FILE}` in one",
			d.Targets)
	}
	return t.Bytes(), next, err
}

// request writes a request as an item of the list, with the path of its file relative to that of
// the profile.
func (t *draftText) request(r bench.Request, profile string) {
	one := requestOf(r)
	item := strictyaml.Entries{{Key: "method", Value: r.Method}, {Key: "path", Value: r.Path}}
	if slices.Contains(methods, r.Method) {
		item = strictyaml.Entries{{Key: strings.ToLower(r.Method), Value: r.Path}}
	}
	add := func(key string, value any) { item = append(item, strictyaml.Entry{Key: key, Value: value}) }
	if path, _, _ := strings.Cut(r.Path, "?"); r.Name != r.Method+" "+path {
		add("name", r.Name)
	}
	add("weight", r.Weight)
	if len(r.Header) > 0 {
		add("header", r.Header)
	}
	switch {
	case one.File != "":
		add("file", relativeTo(profile, one.File))
	case one.Body != "":
		add("body", one.Body)
	}
	statuses := append([]int{r.ExpectStatus}, r.MoreStatuses...)
	expected := strictyaml.JSON(statusesText(statuses))
	add("expect", strictyaml.Inline{V: strictyaml.Entries{{Key: "status", Value: expected}}})
	text, err := strictyaml.Encode([]strictyaml.Entries{item})
	if err != nil {
		t.fail("%s: %w", r.Name, err)
	}
	for line := range strings.Lines(string(text)) {
		if line != "\n" {
			line = "  " + line
		}
		t.WriteString(line)
	}
}

// statusesText returns statuses in the form of a profile: 200, or [200, 201].
func statusesText(all []int) string {
	names := bench.InFile(all)
	text := strings.ReplaceAll(fmt.Sprint(names), " ", ", ")
	if len(names) == 1 {
		text = strings.Trim(text, "[]")
	}
	return text
}

// relativeTo returns a whole path as seen from the folder of a file, if there is such a path.
func relativeTo(file, path string) string {
	whole, err := filepath.Abs(file)
	if err != nil {
		return path
	}
	short, err := filepath.Rel(filepath.Dir(whole), path)
	if err != nil {
		return path
	}
	return filepath.ToSlash(short)
}
