package profile

import (
	"cmp"
	"errors"
	"path/filepath"

	"github.com/locbench/locbench/internal/run/profile/targets"
)

// ofTargets returns the text of a draft whose requests are those of a target file, and the commands
// at its end.
func (d Draft) ofTargets(file string) (text []byte, next []string, err error) {
	if d.Get+d.Post+d.Login != "" {
		return nil, nil, errors.New("--targets has the requests: leave out --get, --post and --login")
	}
	if _, err := parse(file, []byte("steps: [1]\n"), instead{targets: d.Targets}); err != nil {
		return nil, nil, err
	}
	list, err := targets.Read(d.Targets, d.Targets)
	if err != nil {
		return nil, nil, err
	}
	path := d.Targets // as seen from the folder of the profile, if there is such a path
	if whole, err := filepath.Abs(path); err == nil {
		path = whole
	}
	if dir, err := filepath.Abs(filepath.Dir(file)); err == nil {
		if short, err := filepath.Rel(dir, path); err == nil {
			path = filepath.ToSlash(short)
		}
	}
	var t draftText
	t.head(nameOf(file))
	t.line("\n# The mix: one request for each different target of vegeta's file; its weight is how often the file has it.\nrequests:")
	t.pair("  ", "targets", path)
	t.steps(d.Connections)
	next = nextCommands(file, cmp.Or(list.Base, draftBase), false)
	t.next(next)
	if t.err != nil {
		return nil, nil, t.err
	}
	_, err = t.parse(file) // in which the file may be out of reach
	return t.Bytes(), next, err
}
