package contender

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/safe"
)

// CheckContext returns the links out of a contender's folder that a build of it or of its variants
// would not follow: an error for each of them.
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

// follow returns where a link leads that leads out of a contender's folder, or why it is not
// followed. within has where those links lead in which it was found.
type follow func(link string, within []string) (at, why string)

// unfollowed is the follow of folders whose links are not followed.
func unfollowed(string, []string) (at, why string) { return "", "leads out of the folder" }

// followed returns the follow of a contender: to files and folders of its repository, which is the
// nearest folder with .git, or without one svc.Root.
func followed(svc bench.Service) follow {
	if svc.Root == "" {
		return unfollowed
	}
	return func(link string, within []string) (at, why string) {
		here, err := filepath.EvalSymlinks(svc.Dir)
		if err == nil {
			at, err = filepath.EvalSymlinks(filepath.Join(here, filepath.FromSlash(link)))
		}
		root := cmp.Or(repository(here), svc.Root)
		switch {
		case err != nil:
			return "", "leads nowhere"
		case !safe.Within(at, root), safe.Within(at, filepath.Join(root, ".git")):
			return "", "leads out of the repository"
		case slices.ContainsFunc(append(within, here), func(folder string) bool { return safe.Within(folder, at) }):
			return "", "leads to a folder that it is in"
		}
		return at, ""
	}
}

// repository returns the nearest folder with .git at dir or above it; "" without any.
func repository(dir string) string {
	full, err := filepath.Abs(dir)
	for ; err == nil; full = filepath.Dir(full) {
		if _, err := os.Lstat(filepath.Join(full, ".git")); err == nil {
			return full
		}
		if full == filepath.Dir(full) {
			break
		}
	}
	return ""
}

// outside returns the links of a contender's folder that were not followed: an error for each of
// them. A build has a copy of the folder.
func outside(svc bench.Service, list []entry) (errs []error) {
	for _, e := range list {
		if e.out != "" {
			errs = append(errs, fmt.Errorf("%s: the link to %s %s: put what it leads to into the contender's folder, "+
				"or exclude the link with a .dockerignore", safe.Line(path.Join(svc.Dir, e.name), 300), safe.Line(e.link, 300), e.out))
		}
	}
	return errs
}

// leads reports whether a link leads out of the folder top. An absolute one is within an image.
func leads(link, to, top string) bool {
	at := path.Join(path.Dir(link), filepath.ToSlash(to))
	return !path.IsAbs(to) && (!filepath.IsLocal(at) || top != "." && at != top && !strings.HasPrefix(at, top+"/"))
}
