package contender

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// NotStaticError says why the locbench binary cannot run in an empty image, and what to build.
type NotStaticError struct {
	Path string // path of the binary
	Why  string // "it is linked to shared libraries (…)"
	Arch string // of the engine's containers, in Go's names
}

// Error returns the reason, and the command that builds another binary.
func (e *NotStaticError) Error() string {
	return fmt.Sprintf("the locbench binary %s cannot run in its own container: %s; "+
		"build another with: CGO_ENABLED=0 GOOS=linux GOARCH=%s go build ./cmd/locbench", e.Path, e.Why, e.Arch)
}

// staticBinary returns a locbench binary that runs in an empty Linux container of the architecture:
// the running one, or a new build if Go and the sources are available.
func staticBinary(ctx context.Context, o BuildOptions, arch string) (string, error) {
	self, err := o.self()
	if err != nil {
		return "", err
	}
	err = checkStatic(self, arch)
	var not *NotStaticError
	if err == nil || !errors.As(err, &not) {
		return self, err
	}
	find := exec.CommandContext(ctx, "go", "list", "-f", "{{.Module.Dir}}", "github.com/locbench/locbench/cmd/locbench")
	find.Dir = o.Sources
	found, findErr := find.Output()
	if findErr != nil {
		return "", err // no Go, or not in the sources
	}
	sources := strings.TrimSpace(string(found))
	fmt.Fprintf(o.out(), "the running locbench cannot run in a container (%s): building another from %s\n",
		not.Why, sources)
	dir, cacheErr := o.cache()
	if cacheErr == nil {
		cacheErr = makePrivate(dir)
	}
	if cacheErr != nil {
		return "", errors.Join(err, cacheErr)
	}
	out := filepath.Join(dir, "locbench-linux-"+arch)
	flags := []string{"-race=false", "-trimpath", "-buildvcs=false", "-ldflags=-s -w"}
	argv := slices.Concat([]string{"go", "build"}, flags, []string{"-o", out, "./cmd/locbench"})
	if runErr := run(ctx, o, sources, argv, "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch); runErr != nil {
		return "", fmt.Errorf("%w (that command failed: %w)", err, runErr)
	}
	return out, checkStatic(out, arch)
}

// checkStatic returns a NotStaticError unless path is a static Linux binary of the architecture.
func checkStatic(path, arch string) error {
	f, err := elf.Open(path)
	var format *elf.FormatError
	if errors.As(err, &format) {
		return &NotStaticError{Path: path, Why: "it is not a Linux binary", Arch: arch}
	}
	if err != nil {
		return fmt.Errorf("inspect the locbench binary: %w", err)
	}
	defer f.Close()
	if want, known := machines[arch]; known && f.Machine != want {
		return &NotStaticError{Path: path, Why: fmt.Sprintf("it is for another processor (%s)", f.Machine), Arch: arch}
	}
	for _, p := range f.Progs {
		if p.Type != elf.PT_INTERP {
			continue
		}
		why := "it is linked to shared libraries"
		if libs, err := f.ImportedLibraries(); err == nil && len(libs) > 0 {
			why += " (" + strings.Join(libs, ", ") + ")"
		}
		return &NotStaticError{Path: path, Why: why, Arch: arch}
	}
	return nil
}

var machines = map[string]elf.Machine{
	"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64, "386": elf.EM_386, "arm": elf.EM_ARM, "riscv64": elf.EM_RISCV,
	"ppc64le": elf.EM_PPC64, "s390x": elf.EM_S390, "loong64": elf.EM_LOONGARCH,
}
