package compose

import (
	"fmt"
	"slices"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/secret"
)

// Files returns the files and folders of this machine that a service uses.
func Files(n bench.NeedSpec) (all []needs.File) {
	s := specOf(n)
	add := func(key, path string, i ...any) {
		same := func(f needs.File) bool { return f.Path == path }
		if path != "" && !slices.ContainsFunc(all, same) {
			all = append(all, needs.File{Key: fmt.Sprintf(key, i...), Path: path})
		}
	}
	if s.Dockerfile != "" {
		all = append(all, needs.File{Key: "dockerfile", Path: string(s.Dockerfile), Built: true})
	}
	for i, one := range s.Seed {
		add("seed[%d]", one.File, i)
		for j, v := range one.Volumes {
			add("seed[%d].volumes[%d]", v.Source, i, j)
		}
	}
	for i, file := range s.EnvFile {
		add("env_file[%d]", file, i)
	}
	for i, v := range s.Volumes {
		add("volumes[%d]", v.Source, i)
	}
	return all
}

// Runs returns the images and commands of a service.
func Runs(n bench.NeedSpec) (all []string) {
	Complete(&n)
	s := specOf(n)
	add := func(what string, command ...string) {
		if len(command) > 0 && command[0] != "" {
			all = append(all, what+" "+Masked(command))
		}
	}
	add("image", s.Image)
	add("Dockerfile", string(s.Dockerfile))
	add("command", slices.Concat(s.Entrypoint, s.Command)...)
	add("ready command", s.Ready.Command...)
	for _, one := range s.Seed {
		add("seed image", one.Image)
		add("seed command", slices.Concat(one.Entrypoint, []string(one.Command))...)
	}
	return all
}

// Traits returns what a run knows of a service. Interleaved contenders would share an external one,
// which locbench does not start, and what is in memory, which cannot be copied.
func Traits(n bench.NeedSpec) needs.Traits {
	s := specOf(n)
	t := needs.Traits{After: s.After, Hosts: append(slices.Clone(s.Aliases), s.Hostname),
		Restarts: n.From.Traits().Container && !s.Keep}
	lasts := func(t needs.TmpfsPath) bool { return !Passes(t.Path()) }
	switch {
	case n.From.Traits().ByURL:
		t.Shared = "is external, and interleaved contenders would share its connections"
	case s.Keep && s.Seed != nil && (slices.ContainsFunc(s.Tmpfs, lasts) || s.InMemory(s.Environment) != ""):
		t.Shared = "keeps its data in memory (keep), which cannot be copied, and interleaved contenders would share it"
	default:
		t.Own, t.Memory = true, int64(s.Limits.Memory)
	}
	return t
}

// Masked returns a command in a line, without secrets.
func Masked(command []string) string { return safe.Shell(secret.Masker{}.Args(command)) }
