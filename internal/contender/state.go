package contender

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/locbench/locbench/internal/bench"
)

// ImageRef returns the image that BuildImage would build or find for a resolved contender and an
// engine of that architecture. For a contender inside locbench the error is a NotStaticError if the
// running binary cannot be the image: BuildImage may then build another binary.
func ImageRef(svc bench.Service, arch string, o BuildOptions) (string, error) {
	switch {
	case svc.Builtin:
		self, err := o.self()
		if err == nil {
			err = checkStatic(self, arch)
		}
		if err != nil {
			return "", err
		}
		hash, err := builtinHash(self)
		return imageTag(svc, hash), err
	case svc.Docker == nil:
		return "", errors.New("its manifest has no `docker`")
	case svc.Docker.Image != "":
		return svc.Docker.Image, nil
	}
	_, hash, err := dockerfileContext(svc, arch, o)
	return imageTag(svc, hash), err
}

// ProcessState reports whether a resolved contender is built for the process runtime. An error says
// why it cannot be built: no `process`, or a missing tool.
func ProcessState(svc bench.Service, o BuildOptions) (built bool, err error) {
	if svc.Builtin {
		return true, nil
	}
	if svc.Process == nil {
		return false, errors.New("its manifest has no `process`")
	}
	b, err := newProcessBuild(svc, o)
	if err != nil {
		return false, err
	}
	built = b.made() != ""
	tools := [][]string{svc.Process.Command}
	if !built {
		tools = append(tools, svc.Process.Build...)
	}
	for _, argv := range tools {
		if len(argv) == 0 || strings.Contains(argv[0], "{{") || strings.ContainsRune(argv[0], filepath.Separator) {
			continue // a file of the build
		}
		if _, err := exec.LookPath(argv[0]); err != nil {
			return built, fmt.Errorf("%s is not installed", argv[0])
		}
	}
	return built, nil
}
