package docker

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Image is an image of the engine, and what it says of itself.
type Image struct {
	ID       string // sha256 of its configuration
	Size     int64  // bytes, all layers
	OS       string
	Arch     string
	Emulated bool   // it is for another architecture than the engine's
	Contents string // SHA-256 of its layers and configuration, but for locbench's labels; "": not known

	Env         map[string]string
	Volumes     []string // paths that it declares as volumes, sorted
	Ports       []int    // TCP ports that it exposes, sorted
	Healthcheck []string // its health check as a command, with its shell if it has one; nil: none
	StopSignal  string   // "": SIGTERM
	User        string
}

// ImageInspect looks an image up by reference or ID.
func (e *Engine) ImageInspect(ctx context.Context, ref string) (Image, error) {
	ctx, cancel := within(ctx, e.patience)
	defer cancel()
	raw, err := e.cli.ImageInspect(ctx, ref)
	if err != nil {
		return Image{}, fmt.Errorf("inspect image %s: %w", ref, translateNotFound(orCause(ctx, err)))
	}
	image := Image{ID: raw.ID, Size: raw.Size, OS: raw.Os, Arch: raw.Architecture, Emulated: emulated(e.info.Arch, raw.Architecture),
		Contents: contents(raw.RootFS.Layers, raw.Config)}
	config := raw.Config
	if config == nil {
		return image, nil
	}
	image.User, image.StopSignal = config.User, config.StopSignal
	image.Volumes = slices.Sorted(maps.Keys(config.Volumes))
	image.Env = make(map[string]string, len(config.Env))
	for _, variable := range config.Env {
		name, value, _ := strings.Cut(variable, "=")
		image.Env[name] = value
	}
	for port := range config.ExposedPorts {
		text, protocol, _ := strings.Cut(port, "/")
		if number, err := strconv.Atoi(text); err == nil && (protocol == "" || protocol == "tcp") {
			image.Ports = append(image.Ports, number)
		}
	}
	slices.Sort(image.Ports)
	if config.Healthcheck != nil {
		image.Healthcheck = command(config.Healthcheck.Test, config.Shell)
	}
	return image, nil
}

// command returns the command of a health check; nil if it has none.
func command(test, shell []string) []string {
	switch {
	case len(test) < 2:
		return nil
	case test[0] == "CMD":
		return test[1:]
	case test[0] != "CMD-SHELL":
		return nil
	case len(shell) == 0:
		shell = []string{"/bin/sh", "-c"}
	}
	return append(slices.Clone(shell), test[1])
}

// emulated reports whether an engine's CPU does not run an image's programs itself. Those of 32
// bits run on most CPUs of 64.
func emulated(engine, image string) bool {
	native := map[string]string{"amd64": "386", "arm64": "arm"}[engine]
	return engine != "" && image != "" && image != engine && image != native
}
