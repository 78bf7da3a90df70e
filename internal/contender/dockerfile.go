package contender

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/moby/buildkit/frontend/dockerfile/command"
	"github.com/moby/buildkit/frontend/dockerfile/parser"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/docker"
)

// maxDockerfile bounds a Dockerfile, in bytes.
const maxDockerfile = 1 << 20

// need is something in a Dockerfile that only BuildKit can do, not Docker's classic builder.
type need struct {
	line int
	what string // "RUN --mount"
}

// parsed returns a contender's Dockerfile, and its text; nil for an unreadable one: the builder will
// report what is wrong.
func parsed(svc bench.Service) (*parser.Result, []byte) {
	d := svc.Docker
	if d == nil || d.Dockerfile == "" || svc.Files == nil {
		return nil, nil
	}
	f, err := svc.Files.Open(d.Dockerfile)
	if err != nil {
		return nil, nil
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxDockerfile))
	if err != nil {
		return nil, nil
	}
	file, err := parser.Parse(bytes.NewReader(text))
	if err != nil {
		return nil, nil
	}
	return file, text
}

// buildKitNeeds returns the needs of a contender's Dockerfile, in its order.
func buildKitNeeds(svc bench.Service) (all []need) {
	file, text := parsed(svc)
	if file == nil {
		return nil
	}
	if ref, _, at, ok := parser.DetectSyntax(text); ok && !dockerSyntax.MatchString(ref) {
		all = append(all, need{at[0].Start.Line, "# syntax=" + ref})
	}
	for _, node := range file.AST.Children {
		all = append(all, needsOf(node, svc.Docker.Args)...)
	}
	return all
}

// dockerSyntax matches Docker's own syntax images, for which a plain Dockerfile needs no BuildKit.
var dockerSyntax = regexp.MustCompile(`^(docker\.io/)?docker/dockerfile(-upstream)?([:@].*)?$`)

// classicFlags has the flags of each instruction that the classic builder knows.
var classicFlags = map[string][]string{
	command.From:        {"platform"},
	command.Copy:        {"from", "chown"},
	command.Add:         {"chown"},
	command.Healthcheck: {"interval", "timeout", "start-period", "start-interval", "retries"},
}

// platformWords matches the arguments that BuildKit defines itself.
var platformWords = regexp.MustCompile(`^(BUILD|TARGET)(PLATFORM|OS|ARCH|VARIANT)$`)

var platformVariable = regexp.MustCompile(`\$\{?(BUILD|TARGET)(PLATFORM|OS|ARCH|VARIANT)\b`)

// gitSource matches the sources that ADD treats as Git repositories.
var gitSource = regexp.MustCompile(`^(git@|git://|ssh://|https?://[^ ]*\.git(#|$))`)

func needsOf(node *parser.Node, given map[string]string) (all []need) {
	word := strings.ToLower(node.Value)
	add := func(what string) { all = append(all, need{node.StartLine, strings.ToUpper(word) + " " + what}) }
	for _, text := range node.Flags {
		flag, value, _ := strings.Cut(text, "=")
		known := slices.Contains(classicFlags[word], strings.TrimPrefix(flag, "--"))
		switch {
		case !known:
			add(flag)
		case flag == "--platform" && platformVariable.MatchString(value):
			add(text)
		}
	}
	if len(node.Heredocs) > 0 {
		add("<<" + node.Heredocs[0].Name)
	}
	switch word {
	case command.Arg:
		for n := node.Next; n != nil; n = n.Next {
			arg, _, _ := strings.Cut(n.Value, "=")
			if _, ok := given[arg]; !ok && platformWords.MatchString(arg) {
				add(arg)
			}
		}
	case command.Add:
		for n := node.Next; n != nil && n.Next != nil; n = n.Next { // the last one is the destination
			if gitSource.MatchString(n.Value) {
				add(n.Value)
			}
		}
	case command.Onbuild:
		for n := node.Next; n != nil; n = n.Next {
			for _, child := range n.Children {
				child.StartLine = cmp.Or(child.StartLine, node.StartLine)
				all = append(all, needsOf(child, given)...)
			}
		}
	}
	return all
}

// ErrBuildKit is wrapped by errors about Dockerfiles that need BuildKit, if the engine has none.
var ErrBuildKit = errors.New("the engine cannot build it")

// byBuildKit reports whether an engine has to build a resolved contender with its BuildKit. The
// error has the line that the engine cannot build, and what to do.
func byBuildKit(svc bench.Service, info docker.Info) (bool, error) {
	all := buildKitNeeds(svc)
	switch {
	case len(all) == 0 || info.Builder == docker.BuilderBuildah:
		return false, nil
	case info.Builder == docker.BuilderClassic:
		return false, fmt.Errorf("%s: %w: %s needs BuildKit, missing in this engine (%s, %s). %s",
			all[0].location(svc), ErrBuildKit, all[0].what, info.Version, info.OS, fix(svc))
	}
	return true, nil
}

// location returns the Dockerfile and the line: "DIR/Dockerfile:3".
func (n need) location(svc bench.Service) string {
	return path.Join(svc.Dir, svc.Docker.Dockerfile) + ":" + strconv.Itoa(n.line)
}

// fix returns what to do about a Dockerfile that the engine cannot build for locbench.
func fix(svc bench.Service) string {
	return fmt.Sprintf("Build it yourself (docker build -t %s .) and write `image: %[1]s` in place of its Dockerfile", svc.Name)
}

// CheckBuilder returns why an engine cannot build the Dockerfiles of a contender and its variants:
// an error for each of them, with the line and what to do.
func CheckBuilder(svc bench.Service, info docker.Info) error {
	var errs []error
	seen := map[string]bool{}
	for _, one := range Resolved(svc) {
		if _, err := byBuildKit(one, info); err != nil && !seen[err.Error()] {
			seen[err.Error()] = true
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// NeedsBuildKit returns the first line in the Dockerfiles of a contender and its variants that
// needs BuildKit, such as "DIR/Dockerfile:3: RUN --mount"; "" if none does.
func NeedsBuildKit(svc bench.Service) string {
	for _, one := range Resolved(svc) {
		if all := buildKitNeeds(one); len(all) > 0 {
			return all[0].location(one) + ": " + all[0].what
		}
	}
	return ""
}
