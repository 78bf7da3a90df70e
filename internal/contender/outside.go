package contender

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/moby/buildkit/frontend/dockerfile/command"
	"github.com/moby/buildkit/frontend/dockerfile/parser"

	"github.com/locbench/locbench/internal/bench"
)

// CheckContext returns which files the Dockerfiles of a contender and its variants copy from outside
// its folder, which is the context of the build: an error for each of them, with the line and what
// to do. A link with an absolute path is one within the image.
func CheckContext(svc bench.Service) error {
	var errs []error
	var seen []string
	for _, one := range Resolved(svc) {
		for _, n := range outside(one) {
			text := fmt.Sprintf("%s: %s leads out of the contender's folder, which is all that a build gets: copy what it needs into the folder. %s",
				n.location(one), n.what, fix(one))
			if !slices.Contains(seen, text) {
				seen, errs = append(seen, text), append(errs, errors.New(text))
			}
		}
	}
	return errors.Join(errs...)
}

// outside returns the sources of COPY and ADD that lead out of a contender's folder.
func outside(svc bench.Service) (all []need) {
	file, _ := parsed(svc)
	if file == nil {
		return nil
	}
	var links []entry
	list, _ := sources(svc, svc.Docker.Dockerfile) // an unreadable folder is reported by the build
	for _, e := range list {
		if e.link != "" && !path.IsAbs(e.link) && leavesFolder(path.Join(path.Dir(e.name), e.link)) {
			links = append(links, e)
		}
	}
	for _, node := range file.AST.Children {
		word := strings.ToLower(node.Value)
		from := func(flag string) bool { return strings.HasPrefix(flag, "--from") }
		if word != command.Copy && word != command.Add || slices.ContainsFunc(node.Flags, from) {
			continue
		}
		for _, source := range copied(node) {
			what := strings.ToUpper(word) + " " + source
			if leavesFolder(source) {
				all = append(all, need{node.StartLine, what})
				continue
			}
			for _, l := range links {
				if within(l.name, source) || within(source, l.name) {
					all = append(all, need{node.StartLine, fmt.Sprintf("%s: the link %s to %s", what, l.name, l.link)})
				}
			}
		}
	}
	return all
}

// copied returns the paths in the context that COPY or ADD copies, without those that a variable or
// a pattern stands for.
func copied(node *parser.Node) (all []string) {
	for n := node.Next; n != nil && n.Next != nil; n = n.Next { // the last one is the destination
		if !strings.ContainsAny(n.Value, "$*?[") && !strings.Contains(n.Value, "://") && !strings.HasPrefix(n.Value, "<<") {
			all = append(all, path.Clean(strings.TrimLeft(n.Value, "/")))
		}
	}
	return all
}

// leavesFolder reports whether a path, from the folder, is not in it.
func leavesFolder(name string) bool {
	name = path.Clean(name)
	return name == ".." || strings.HasPrefix(name, "../")
}

// within reports whether a path is dir or below it.
func within(name, dir string) bool {
	return dir == "." || name == dir || strings.HasPrefix(name, dir+"/")
}
