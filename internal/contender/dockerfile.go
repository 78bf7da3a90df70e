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

	"locbench/internal/bench"
	"locbench/internal/contender/docker"
)

// maxDockerfile bounds a Dockerfile, in bytes.
const maxDockerfile = 1 << 20

// need is something in a Dockerfile that Docker's classic builder cannot do, and BuildKit can.
type need struct {
	line  int
	what  string // "RUN --mount"
	since int    // the first Docker whose own BuildKit can; 0: any
}

// needs are those of a contender's Dockerfile, in its order; none where it cannot be read as one,
// since whoever builds it says best what is wrong. fetched says that the Dockerfile names the
// version of its language by "# syntax=", which BuildKit then fetches: what the engine's own can
// does not matter.
func needs(svc bench.Service) (all []need, fetched bool) {
	d := svc.Docker
	if d == nil || d.Dockerfile == "" || svc.Files == nil {
		return nil, false
	}
	f, err := svc.Files.Open(d.Dockerfile)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxDockerfile))
	if err != nil {
		return nil, false
	}
	file, err := parser.Parse(bytes.NewReader(text))
	if err != nil {
		return nil, false
	}
	if ref, _, at, ok := parser.DetectSyntax(text); ok {
		fetched = true
		if !dockersOwn.MatchString(ref) {
			all = append(all, need{line: at[0].Start.Line, what: "# syntax=" + ref})
		}
	}
	for _, node := range file.AST.Children {
		all = append(all, needsOf(node, d.Args)...)
	}
	return all, fetched
}

// dockersOwn are the names of the Dockerfile's own language, of which a plain one needs no BuildKit.
var dockersOwn = regexp.MustCompile(`^(docker\.io/)?docker/dockerfile(-upstream)?([:@].*)?$`)

// classicFlags are those that the classic builder knows.
var classicFlags = map[string][]string{
	command.From:        {"platform"},
	command.Copy:        {"from", "chown"},
	command.Add:         {"chown"},
	command.Healthcheck: {"interval", "timeout", "start-period", "start-interval", "retries"},
}

// newer are the flags and their like that came to BuildKit in a later version of Docker.
var newer = map[string]int{"--mount": 20, "--network": 20, "--chmod": 20, "--link": 23, "--checksum": 25}

const hereDocuments = 23 // the first Docker with them

// platformWords are the arguments that BuildKit defines by itself.
var platformWords = regexp.MustCompile(`^(BUILD|TARGET)(PLATFORM|OS|ARCH|VARIANT)$`)

var platformVariable = regexp.MustCompile(`\$\{?(BUILD|TARGET)(PLATFORM|OS|ARCH|VARIANT)\b`)

// gitSource is what ADD takes for a repository.
var gitSource = regexp.MustCompile(`^(git@|git://|ssh://|https?://[^ ]*\.git(#|$))`)

func needsOf(node *parser.Node, given map[string]string) (all []need) {
	word := strings.ToLower(node.Value)
	add := func(what string, since int) {
		all = append(all, need{node.StartLine, strings.ToUpper(word) + " " + what, since})
	}
	for _, text := range node.Flags {
		flag, value, _ := strings.Cut(text, "=")
		known := slices.Contains(classicFlags[word], strings.TrimPrefix(flag, "--"))
		switch {
		case !known:
			add(flag, newer[flag])
		case flag == "--platform" && platformVariable.MatchString(value):
			add(text, 0)
		}
	}
	if len(node.Heredocs) > 0 {
		add("<<"+node.Heredocs[0].Name, hereDocuments)
	}
	switch word {
	case command.Arg:
		for n := node.Next; n != nil; n = n.Next {
			arg, _, _ := strings.Cut(n.Value, "=")
			if _, ok := given[arg]; !ok && platformWords.MatchString(arg) {
				add(arg, 0)
			}
		}
	case command.Add:
		for n := node.Next; n != nil && n.Next != nil; n = n.Next { // the last one is where it goes
			if gitSource.MatchString(n.Value) {
				add(n.Value, 25)
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

// ErrBuildKit is wrapped by the errors about Dockerfiles that an engine cannot build, since they
// need a BuildKit that it does not have.
var ErrBuildKit = errors.New("the engine cannot build it")

// byBuildKit reports whether an engine is to build a resolved contender with its BuildKit. The error
// names the line that it cannot build at all, and what to do.
func byBuildKit(svc bench.Service, info docker.Info) (bool, error) {
	all, fetched := needs(svc)
	if len(all) == 0 || info.Builder == docker.BuilderBuildah {
		return false, nil
	}
	if info.Builder == docker.BuilderClassic {
		lacks := fmt.Sprintf("BuildKit, which this engine (%s, %s) does not have", info.Version, info.OS)
		return false, cannotBuild(svc, all[0], lacks)
	}
	for _, n := range all {
		if major := majorOf(info.Version); !fetched && 0 < major && major < n.since {
			lacks := fmt.Sprintf("Docker %d or later; this engine is %s", n.since, info.Version)
			return false, cannotBuild(svc, n, lacks)
		}
	}
	return true, nil
}

func cannotBuild(svc bench.Service, n need, wants string) error {
	return fmt.Errorf("%s: %w: %s needs %s. %s", n.where(svc), ErrBuildKit, n.what, wants, wayOut(svc))
}

// where is the file and line.
func (n need) where(svc bench.Service) string {
	return path.Join(svc.Dir, svc.Docker.Dockerfile) + ":" + strconv.Itoa(n.line)
}

// wayOut is what to do about a Dockerfile that the engine does not build for locbench.
func wayOut(svc bench.Service) string {
	return fmt.Sprintf("Build it yourself (docker build -t %s .) and name the image in %s: docker: {image: %[1]s}",
		svc.Name, ManifestName)
}

func majorOf(version string) int {
	digits, _, _ := strings.Cut(version, ".")
	n, _ := strconv.Atoi(digits) // another product's: what it can is not known
	return n
}

// CheckBuilder returns why an engine cannot build the Dockerfiles of a contender and its variants:
// all of them, each with its line and what to do.
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

// NeedsBuildKit names the first line in the Dockerfiles of a contender and its variants that takes
// BuildKit, as "DIR/Dockerfile:3: RUN --mount"; "" where none does.
func NeedsBuildKit(svc bench.Service) string {
	for _, one := range Resolved(svc) {
		if all, _ := needs(one); len(all) > 0 {
			return all[0].where(one) + ": " + all[0].what
		}
	}
	return ""
}
