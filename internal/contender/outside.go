package contender

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/safe"
)

// CheckContext returns the links out of a contender's folder, which a build of it or of its variants
// refuses: an error for each of them.
func CheckContext(svc bench.Service) error {
	var errs []error
	seen := map[string]bool{}
	for _, one := range Resolved(svc) {
		var keep []string
		if one.Docker != nil && one.Docker.Dockerfile != "" {
			keep = []string{one.Docker.Dockerfile}
		} else if one.Process == nil {
			continue
		}
		list, _ := sources(one, keep...) // an unreadable folder is reported by the build
		for _, err := range outside(one, list) {
			if !seen[err.Error()] {
				seen[err.Error()], errs = true, append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

// outside returns the links that lead out of a contender's folder: an error for each of them. A build
// has a copy of the folder.
func outside(svc bench.Service, list []entry) (errs []error) {
	for _, e := range list {
		at := path.Join(path.Dir(e.name), filepath.ToSlash(e.link))
		if e.link == "" || path.IsAbs(e.link) || filepath.IsLocal(at) { // an absolute one is within an image
			continue
		}
		errs = append(errs, fmt.Errorf("%s: the link to %s leads out of the folder: put what it leads to into the contender's folder, "+
			"or exclude the link with a .dockerignore", safe.Line(path.Join(svc.Dir, e.name), 300), safe.Line(e.link, 300)))
	}
	return errs
}
