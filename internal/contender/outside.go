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

	"github.com/moby/buildkit/frontend/dockerfile/command"
	"github.com/moby/buildkit/frontend/dockerfile/parser"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/safe"
)

// CheckContext returns what a contender and its variants take from outside its folder (see
// outsideImage and outsideProcess).
func CheckContext(svc bench.Service) error {
	var errs []error
	seen := map[string]bool{}
	for _, one := range Resolved(svc) {
		var found []error
		if d := one.Docker; d != nil && d.Dockerfile != "" {
			list, _ := sources(one, d.Dockerfile) // an unreadable folder is reported by the build
			found = append(found, outsideImage(one, list)...)
		}
		if one.Process != nil {
			list, _ := sources(one)
			found = append(found, outsideProcess(one, list)...)
		}
		for _, err := range found {
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

// outsideProcess returns the links of a contender's folder that were not followed: an error for each
// of them. The build has a copy of the folder.
func outsideProcess(svc bench.Service, list []entry) (errs []error) {
	for _, e := range list {
		if e.out != "" {
			errs = append(errs, errors.New(safe.Line(path.Join(svc.Dir, e.name), 300)+e.leads()))
		}
	}
	return errs
}

// leads returns what is wrong with a link that was not followed.
func (e entry) leads() string {
	return fmt.Sprintf(": the link to %s %s: put what it leads to into the contender's folder, or exclude the link with a .dockerignore", safe.Line(e.link, 300), e.out)
}

// outsideImage returns what the Dockerfile of a contender copies from outside its folder, which is
// the context of the build, also through links that were not followed: an error for each of them,
// with the line and what to do. A link with an absolute path is one within the image.
func outsideImage(svc bench.Service, list []entry) (errs []error) {
	list = slices.DeleteFunc(slices.Clone(list), func(e entry) bool { return e.out == "" })
	for _, e := range list {
		if within(svc.Docker.Dockerfile, e.name) {
			return []error{errors.New(safe.Line(path.Join(svc.Dir, e.name), 300) + e.leads())}
		}
	}
	file, _ := parsed(svc)
	if file == nil {
		return nil
	}
	for _, node := range file.AST.Children {
		word := strings.ToLower(node.Value)
		from := func(flag string) bool { return strings.HasPrefix(flag, "--from") }
		if word != command.Copy && word != command.Add || slices.ContainsFunc(node.Flags, from) {
			continue
		}
		for _, source := range copied(node) {
			at := need{node.StartLine, strings.ToUpper(word) + " " + safe.Line(source, 300)}
			if leaves(source) {
				errs = append(errs, fmt.Errorf("%s: %s leads out of the contender's folder, which is all that a build gets: "+
					"put a link to it into the folder (ln -s %s), copy that, or build the image yourself. %s",
					at.location(svc), at.what, safe.Line(safe.Shell([]string{source}), 300), fix(svc)))
				continue
			}
			for _, l := range list {
				if matches(source, l.name) || within(source, l.name) {
					errs = append(errs, fmt.Errorf("%s: %s: %s%s", at.location(svc), at.what, safe.Line(l.name, 300), l.leads()))
				}
			}
		}
	}
	return errs
}

// copied returns the paths and patterns in the context that COPY or ADD copies, without those with a
// variable.
func copied(node *parser.Node) (all []string) {
	for n := node.Next; n != nil && n.Next != nil; n = n.Next { // the last one is the destination
		if !strings.Contains(n.Value, "$") && !strings.Contains(n.Value, "://") && !strings.HasPrefix(n.Value, "<<") {
			all = append(all, path.Clean(strings.TrimLeft(n.Value, "/")))
		}
	}
	return all
}

// matches reports whether a pattern of COPY has the file, or a folder above it.
func matches(pattern, name string) bool {
	for ; name != "."; name = path.Dir(name) {
		if ok, _ := path.Match(pattern, name); ok {
			return true
		}
	}
	return pattern == "."
}

// leads reports whether a link leads out of the folder top. An absolute one is within an image.
func leads(link, to, top string) bool {
	at := path.Join(path.Dir(link), filepath.ToSlash(to))
	return !path.IsAbs(to) && (leaves(at) || !within(at, top))
}

// leaves reports whether a path, from the folder, is not in it.
func leaves(name string) bool {
	name = path.Clean(name)
	return name == ".." || strings.HasPrefix(name, "../")
}

// within reports whether a path is dir or below it.
func within(name, dir string) bool {
	return dir == "." || name == dir || strings.HasPrefix(name, dir+"/")
}
