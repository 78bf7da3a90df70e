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
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/needs/compose"
	"github.com/locbench/locbench/internal/text/safe"
)

// stopGrace is how long a seeded service may take to stop: it writes its data then.
const stopGrace = time.Minute

// Restore starts the service again from a copy of its seeded state, unless no contender has got its
// address since that was done, or no trial follows. A contender that has completed the state by its
// start gets its own. A copy that keeps its state is started once. An error says how it ended in a
// trial, too.
func (n *Need) Restore(ctx context.Context, of bench.Selection) (changed string, err error) {
	c := n.current()
	_, used := n.where()
	if n.external() || n.engine == nil {
		return "", nil
	}
	n.report()
	var exit *bench.Exit
	var died error // in the trial
	if c != nil && (n.kept[shared] || n.spec.Keep) {
		exit = exitOf(c)
	}
	switch {
	case exit != nil && (used || n.spec.Keep):
		died = fmt.Errorf("it ended in the trial: %s%s", n.death(exit), lastLines(c))
	case exit != nil:
		n.warn(" ended between trials: %s", n.death(exit))
	}
	switch {
	case n.spec.Keep && (c != nil || !n.copied):
		n.noteKills()
		return "", died
	case of == bench.Selection{}:
		if exit != nil { // it is reported once
			died = errors.Join(died, n.kill(ctx))
		}
		return "", died
	case n.broken != nil:
		return "", n.broken
	case !n.kept[shared]:
		if err := n.keepSeeded(ctx, shared); err != nil {
			n.broken = err
			return "", n.broken
		}
	}
	if !n.kept[of] {
		of = shared
	}
	if c := n.current(); c != nil && !used && exit == nil && n.of == of {
		return "", nil
	}
	return "", errors.Join(died, n.again(ctx, of))
}

// RestoreTimeout returns how long Restore may take; 0: as long as of others.
func (n *Need) RestoreTimeout() time.Duration { return n.spec.RestoreTimeout }

// Rest stops the service until Restore starts it again from its seeded state.
func (n *Need) Rest(ctx context.Context) error {
	switch {
	case n.engine == nil || n.spec.Keep:
		return nil
	case n.kept[shared] || n.broken != nil:
		return n.kill(ctx)
	}
	err := n.keepSeeded(ctx, shared)
	n.broken = err
	return err
}

// report warns of what the log says.
func (n *Need) report() {
	for _, one := range n.notes.take() {
		n.warn(": %q: %s", safe.Line(one.line, rowBytes), strings.ReplaceAll(one.what, "NAME", n.name))
	}
}

// keepSeeded stops the service, whose volumes have a seeded state from then on. Only what has
// stopped as it should can be started again as if nothing had happened.
func (n *Need) keepSeeded(ctx context.Context, of bench.Selection) error {
	c := n.current()
	if c == nil {
		return errors.New("it does not run")
	}
	if exit := exitOf(c); exit != nil {
		return fmt.Errorf("it ended before the first trial: %s%s", n.death(exit), lastLines(c))
	}
	grace := cmp.Or(n.spec.StopGracePeriod, stopGrace)
	clean, err := c.End(ctx, grace)
	if err != nil {
		return err
	}
	exit := exitOf(c)
	if !clean && len(n.data) > 0 && (exit == nil || exit.Code != n.preset.Stopped || exit.Signal != "" || n.preset.Stopped == 0) {
		how := "it was killed after " + units.Exact(grace) + "; raise `stop_grace_period`, or write another `stop_signal`"
		if exit != nil && exit.Signal == "" && exit.Code != 137 {
			how = exit.String() + "; write another `stop_signal`"
		}
		return fmt.Errorf("it did not stop cleanly, so its files are not a state to start from: %s%s", how, lastLines(c))
	}
	if of == shared { // what contenders have it write is the same
		if err := n.writtenElsewhere(ctx, c); err != nil {
			return err
		}
	}
	if err := n.kill(ctx); err != nil {
		return err
	}
	n.keep(of)
	return nil
}

// writtenElsewhere warns of files outside of the volumes, which are not restored. A seed that has
// no volume at all would be lost.
func (n *Need) writtenElsewhere(ctx context.Context, c needs.Container) error {
	files, err := c.Written(ctx)
	if err != nil {
		return err
	}
	files = slices.DeleteFunc(files, compose.Passes)
	if before, _ := n.spec.Steps(); len(files) == 0 && len(before) > 0 && len(n.data) == 0 {
		n.warn(" has written nothing to its disk: what its seed has left in memory is lost when it starts again; `keep: true` keeps it")
	}
	if n.beside = len(files) > 0; !n.beside {
		return nil
	}
	shown := strings.Join(files[:min(len(files), 5)], ", ")
	if more := len(files) - 5; more > 0 {
		shown += fmt.Sprintf(" and %d more", more)
	}
	if n.spec.Seed != nil && len(n.data) == 0 {
		return fmt.Errorf("its seed would be lost: it has no volume, and writes %s; write the path of its data: `volumes: [/PATH]`", shown)
	}
	n.warn(" writes outside of its volumes, which is not restored: %s; write `volumes: [/PATH]` for what is data", safe.Line(shown, 1000))
	return nil
}

// emptyState returns an error if nothing is left of a seed in the volumes of a seeded state, and
// something was written elsewhere: its contenders would find a service without data, and be blamed
// for that. If nothing was written at all, it warns: a seed may only look.
func (n *Need) emptyState(of bench.Selection) error {
	steps, after := n.spec.Steps()
	if of != shared {
		steps = append(slices.Clone(steps), after...)
	}
	if len(n.data) == 0 || len(steps) == 0 {
		return nil
	}
	var paths []string
	for _, d := range n.data {
		if d.seeded[of].bytes.Load() > n.given(d.path) {
			return nil
		}
		paths = append(paths, d.path)
	}
	if !n.beside {
		n.warn(" has no data after its seed: no file of %s has content; what is in memory is lost when it starts again, and `keep: true` keeps it",
			strings.Join(paths, ", "))
		return nil
	}
	inMemory := "`keep: true`"
	if n.spec.Keep { // a copy would be without them
		inMemory = "`interleave: off`"
	}
	return fmt.Errorf("nothing is left of its seed: after it no file of %s has content; write the path of its data, `volumes: [/PATH]`, or %s if they are in memory",
		strings.Join(paths, ", "), inMemory)
}

// again starts the service from a copy of a seeded state.
func (n *Need) again(ctx context.Context, of bench.Selection) error {
	if err := n.kill(ctx); err != nil {
		return err
	}
	if err := n.copy(ctx, of, n.label(), n.spec.Image); err != nil {
		return err
	}
	if err := n.emptyState(of); err != nil {
		return err
	}
	if err := n.start(ctx, false); err != nil {
		clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		return errors.Join(fmt.Errorf("start again from its seeded state: %w", err), n.kill(clean))
	}
	return nil
}
