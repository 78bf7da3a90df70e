package container

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/docker"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/needs/compose"
	"github.com/locbench/locbench/internal/text/safe"
)

// Seed runs the steps of the seed that are the same for all contenders: the image has run its files
// when the service started.
func (n *Need) Seed(ctx context.Context, progress func(bench.Progress)) (note string, err error) {
	if n.current() == nil {
		return "", nil
	}
	before, _ := n.spec.Steps()
	if note, err = n.seedBy(ctx, before, progress); err != nil {
		return "", err
	}
	n.notes.forget()
	if n.spec.Keep {
		n.warn(" is not restored (keep: true): a trial finds what the trials before it have written")
	}
	return note, nil
}

// seedBy runs steps in order, and returns what was done.
func (n *Need) seedBy(ctx context.Context, steps []compose.Seed, progress func(bench.Progress)) (note string, err error) {
	var files, commands, containers int64
	for i, one := range steps {
		if one.File != "" {
			files++
			continue
		}
		text := safe.Line(strings.TrimSpace(one.Image+" "+compose.Masked(slices.Concat(one.Entrypoint, []string(one.Command)))), rowBytes)
		progress(bench.Progress{Done: int64(i), Unit: "steps", Text: text})
		what, do := "command", func(ctx context.Context) error { return n.exec(ctx, one.Command) }
		if one.Image != "" {
			what, do = "container of", func(ctx context.Context) error { return n.once(ctx, one) }
			containers++
		} else {
			commands++
		}
		limit := cmp.Or(one.Timeout, stepTimeout)
		err := within(ctx, limit, func() {
			if n.at.Say != nil {
				n.at.Say(fmt.Sprintf("%s: seed: waits for %s %s, at most %s", n.name, what, text, units.Exact(limit)))
			}
		}, do)
		if err != nil {
			return "", fmt.Errorf("%s: seed failed: %s %s: %w", n.name, what, text, err)
		}
	}
	if c := n.current(); c != nil && exitOf(c) != nil {
		return "", fmt.Errorf("%s: it ended after its seed: %s%s", n.name, n.death(exitOf(c)), lastLines(c))
	}
	var parts []string
	if files > 0 {
		parts = append(parts, fmt.Sprintf("%s at its start (%s until ready)", units.Plural(files, "file"), units.Duration(n.took)))
	}
	if commands > 0 {
		parts = append(parts, units.Plural(commands, "command"))
	}
	if containers > 0 {
		parts = append(parts, units.Plural(containers, "container"))
	}
	return strings.Join(parts, ", "), nil
}

const (
	// stepTimeout is how long a step of a seed may take unless it says otherwise.
	stepTimeout = 10 * time.Minute
	// saidAfter is when a step says what it waits for.
	saidAfter = 10 * time.Second
)

// within does a step of a seed within its limit, and says once that it waits if that takes long.
func within(ctx context.Context, limit time.Duration, say func(), do func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not done after %s; a longer one needs `timeout`", units.Exact(limit)))
	defer cancel()
	defer time.AfterFunc(saidAfter, say).Stop()
	err := do(ctx)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

var _ needs.Migrates = (*Need)(nil)

// Unmigrated reports whether the seed has a start of each contender, and this one was not started.
func (n *Need) Unmigrated(of bench.Selection) bool {
	return slices.ContainsFunc(n.spec.Seed, func(one compose.Seed) bool { return bool(one.Start) }) && !n.kept[of]
}

// Migrated runs the steps after the start of a contender, and keeps what the service has then as
// the state of this contender.
func (n *Need) Migrated(ctx context.Context, of bench.Selection, progress func(bench.Progress)) (note string, err error) {
	_, after := n.spec.Steps()
	if note, err = n.seedBy(ctx, after, progress); err != nil {
		return "", err
	}
	if err := n.keepSeeded(ctx, of); err != nil {
		clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		return "", fmt.Errorf("%s: %w", n.name, errors.Join(err, n.kill(clean))) // it is half stopped
	}
	return note, nil
}

// exec runs a command in the container of the service.
func (n *Need) exec(ctx context.Context, command []string) error {
	c := n.current()
	if c == nil {
		return errors.New("the service does not run")
	}
	told := listen(command)
	output, code, err := c.Exec(ctx, command, told.hear)
	switch {
	case err != nil:
		return err
	case code == 0:
		return told.err()
	}
	lines := strings.Split(strings.TrimSpace(output), "\n")
	return fmt.Errorf("exit code %d%s%s", code, why(lines), lastOf(lines, lastRows))
}

// once runs a container of another image in the network of the run, until it ends.
func (n *Need) once(ctx context.Context, one compose.Seed) (err error) {
	service := n.current()
	if service == nil {
		return errors.New("the service does not run")
	}
	spec := docker.ContainerSpec{
		Name: n.label() + "-seed", Image: one.Image, Entrypoint: one.Entrypoint, User: one.User, Env: map[string]string{},
		CPUs: n.at.CPUs, Limits: n.spec.Limits.Bench(),
	}
	told := listen(slices.Concat(one.Entrypoint, []string(one.Command)))
	spec.OnLog = func(l bench.LogLine) { told.hear(l.Text) }
	at := n.inNetwork()
	for _, word := range one.Command {
		if word, err = compose.WithAddress(word, n.name, at); err != nil {
			return err
		}
		spec.Command = append(spec.Command, word)
	}
	for name, value := range one.Environment {
		if spec.Env[name], err = compose.WithAddress(value, n.name, at); err != nil {
			return err
		}
	}
	spec.Mounts = mounts(one.Volumes)
	c, _, err := n.engine.Run(ctx, spec)
	if err != nil {
		return err
	}
	defer func() {
		clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		err = errors.Join(err, c.Kill(clean))
	}()
	select {
	case <-c.Exited():
	case <-service.Exited():
		return errors.New("the service has ended meanwhile")
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if exit := exitOf(c); exit.Code != 0 || exit.Signal != "" {
		return fmt.Errorf("%s%s", exit, lastLines(c))
	}
	return told.err()
}
