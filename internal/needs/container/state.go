package container

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/text/safe"
)

// stopGrace is how long a seeded service may take to stop: it writes its data then.
const stopGrace = time.Minute

// state is the seeded state of a service: the files of its volumes. Contenders that complete it by
// their start have one each.
type state struct {
	data   []*data
	kept   map[bench.Selection]bool // whose state is kept; that of `shared` too. Copies have the same map
	of     bench.Selection          // whose state that in use is a copy of
	broken error                    // why there is no seeded state
	beside bool                     // the service wrote outside of its volumes, too
}

// shared is the key of the state that all contenders have.
var shared bench.Selection

// data is what a service writes below one path.
type data struct {
	path   string
	volume string                      // in use
	seeded map[bench.Selection]*copied // copies have the same map
}

// copied is a volume with a seeded state.
type copied struct {
	volume string

	mu    sync.Mutex // of what follows: copies are restored at the same time
	hash  string     // of the first copy; "": not known yet
	bytes int64      // 0: not known yet
}

// written reports whether one of its files has content. It is known from the first copy on.
func (c *copied) written() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes > 0
}

// newState makes an empty volume for each path at which the service has its data: those that its
// image declares, or its profile.
func (n *Need) newState(ctx context.Context) (s state, err error) {
	s.kept = map[bench.Selection]bool{}
	paths := slices.Clone(n.image.Volumes)
	for _, v := range n.spec.Volumes {
		if v.Source == "" && !slices.Contains(paths, v.Target) {
			paths = append(paths, v.Target)
		}
	}
	of := n.spec
	for _, path := range paths {
		of.Volumes = append(of.Volumes, volume{Target: path})
	}
	env := maps.Clone(n.image.Env)
	if env == nil {
		env = map[string]string{}
	}
	maps.Copy(env, n.env)
	if what := of.inMemory(env); what != "" && n.spec.Seed != nil && !n.spec.Keep {
		return s, fmt.Errorf("%s; %s", lost(what), lostHint)
	}
	for i, path := range paths {
		elsewhere := slices.ContainsFunc(n.spec.Volumes, func(v volume) bool { return v.Source != "" && v.Target == path })
		inMemory := slices.ContainsFunc(n.spec.Tmpfs, func(t needs.TmpfsPath) bool { return t.Path() == path })
		if inMemory && n.spec.Seed != nil && !n.spec.Keep {
			return s, fmt.Errorf("%s; remove the tmpfs, or write `keep: true`", lost("tmpfs "+path))
		}
		if elsewhere || inMemory {
			continue
		}
		d := &data{path: path, seeded: map[bench.Selection]*copied{}}
		if d.volume, err = n.engine.CreateVolume(ctx, n.volumeName(i)); err != nil {
			return s, errors.Join(err, s.remove(context.WithoutCancel(ctx), n.engine, true))
		}
		s.data = append(s.data, d)
	}
	return s, nil
}

func (n *Need) volumeName(i int) string { return n.label() + "-" + strconv.Itoa(i+1) }

// remove removes the volumes in use, and those with a seeded state.
func (s *state) remove(ctx context.Context, engine needs.Containers, seeded bool) error {
	var errs []error
	for _, d := range s.data {
		volumes := []*string{&d.volume}
		if seeded {
			for _, c := range d.seeded {
				volumes = append(volumes, &c.volume)
			}
		}
		for _, name := range volumes {
			if *name != "" {
				if err := engine.RemoveVolume(ctx, *name); err != nil {
					errs = append(errs, err)
					continue
				}
				*name = ""
			}
		}
	}
	return errors.Join(errs...)
}

// Restore starts the service again from a copy of its seeded state, unless no contender has got its
// address since that was done, or no trial follows. A contender that has completed the state by its
// start gets its own. A copy that keeps its state is started once. An error says how it ended in a
// trial, too.
func (n *Need) Restore(ctx context.Context, of bench.Selection) (changed string, err error) {
	c := n.current()
	n.mu.Lock()
	used := n.used
	n.mu.Unlock()
	if n.external() || n.engine == nil {
		return "", nil
	}
	n.report()
	var exit *bench.Exit
	var died error // in the trial
	if c != nil && (n.state.kept[shared] || n.spec.Keep) {
		exit = exitOf(c)
	}
	switch {
	case exit != nil && (used || n.spec.Keep):
		died = fmt.Errorf("it ended in the trial: %s%s", n.death(exit), n.lastLines(c))
	case exit != nil:
		n.at.Warn(bench.Warning{Text: fmt.Sprintf("%s ended between trials: %s", n.name, n.death(exit))})
	}
	switch {
	case n.spec.Keep && (c != nil || !n.copied):
		n.mu.Lock()
		n.kills = killed(n.usage.Read())
		n.mu.Unlock()
		return "", died
	case of == bench.Selection{}:
		if exit != nil { // it is reported once
			died = errors.Join(died, n.kill(ctx))
		}
		return "", died
	case n.state.broken != nil:
		return "", n.state.broken
	case !n.state.kept[shared]:
		if err := n.keepSeeded(ctx, shared); err != nil {
			n.state.broken = err
			return "", n.state.broken
		}
	}
	if !n.state.kept[of] {
		of = shared
	}
	if c := n.current(); c != nil && !used && exit == nil && n.state.of == of {
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
	case n.state.kept[shared] || n.state.broken != nil:
		return n.kill(ctx)
	}
	err := n.keepSeeded(ctx, shared)
	n.state.broken = err
	return err
}

// death says how a service ended, with its limit if that was the cause.
func (n *Need) death(exit *bench.Exit) string {
	if exit.OOMKilled && n.spec.Limits.Memory > 0 {
		return exit.String() + ", its limit is " + units.Bytes(int64(n.spec.Limits.Memory))
	}
	return exit.String()
}

// report warns of what the log says.
func (n *Need) report() {
	for _, one := range n.notes.take() {
		what := strings.ReplaceAll(one.what, "NAME", n.name)
		n.at.Warn(bench.Warning{Text: fmt.Sprintf("%s: %q: %s", n.name, safe.Line(one.line, rowBytes), what)})
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
		return fmt.Errorf("it ended before the first trial: %s%s", n.death(exit), n.lastLines(c))
	}
	grace := cmp.Or(n.spec.StopGracePeriod, stopGrace)
	clean, err := c.End(ctx, grace)
	if err != nil {
		return err
	}
	exit := exitOf(c)
	if !clean && len(n.state.data) > 0 && (exit == nil || exit.Code != n.preset.Stopped || exit.Signal != "" || n.preset.Stopped == 0) {
		how := "it was killed after " + units.Exact(grace) + "; raise `stop_grace_period`, or write another `stop_signal`"
		if exit != nil && exit.Signal == "" && exit.Code != 137 {
			how = exit.String() + "; write another `stop_signal`"
		}
		return fmt.Errorf("it did not stop cleanly, so its files are not a state to start from: %s%s", how, n.lastLines(c))
	}
	if of == shared { // what contenders have it write is the same
		if err := n.writtenElsewhere(ctx, c); err != nil {
			return err
		}
	}
	if err := n.kill(ctx); err != nil {
		return err
	}
	for _, d := range n.state.data {
		d.seeded[of], d.volume = &copied{volume: d.volume}, ""
	}
	n.state.kept[of] = true
	return nil
}

// passing are folders whose files do not outlast a start.
var passing = []string{"/tmp/", "/run/", "/var/run/", "/var/tmp/", "/dev/", "/proc/", "/sys/"}

// passes reports whether a path is in one of them.
func passes(file string) bool {
	return slices.ContainsFunc(passing, func(folder string) bool { return strings.HasPrefix(file+"/", folder) })
}

// writtenElsewhere warns of files outside of the volumes, which are not restored. A seed that has
// no volume at all would be lost.
func (n *Need) writtenElsewhere(ctx context.Context, c needs.Container) error {
	files, err := c.Written(ctx)
	if err != nil {
		return err
	}
	files = slices.DeleteFunc(files, func(file string) bool {
		return passes(file)
	})
	if before, _ := n.spec.steps(); len(files) == 0 && len(before) > 0 && len(n.state.data) == 0 {
		n.at.Warn(bench.Warning{Text: n.name + " has written nothing to its disk: what its seed has left in memory is lost when it starts again; " +
			"`keep: true` keeps it"})
	}
	if n.state.beside = len(files) > 0; !n.state.beside {
		return nil
	}
	shown := strings.Join(files[:min(len(files), 5)], ", ")
	if more := len(files) - 5; more > 0 {
		shown += fmt.Sprintf(" and %d more", more)
	}
	if n.spec.Seed != nil && len(n.state.data) == 0 {
		return fmt.Errorf("its seed would be lost: it has no volume, and writes %s; write the path of its data: `volumes: [/PATH]`", shown)
	}
	n.at.Warn(bench.Warning{Text: fmt.Sprintf("%s writes outside of its volumes, which is not restored: %s; "+
		"write `volumes: [/PATH]` for what is data",
		n.name, safe.Line(shown, 1000))})
	return nil
}

// emptyState returns an error if nothing is left of a seed in the volumes of a seeded state, and
// something was written elsewhere: its contenders would find a service without data, and be blamed
// for that. If nothing was written at all, it warns: a seed may only look.
func (n *Need) emptyState(of bench.Selection) error {
	steps, after := n.spec.steps()
	if of != shared {
		steps = append(slices.Clone(steps), after...)
	}
	if len(n.state.data) == 0 || len(steps) == 0 {
		return nil
	}
	var paths []string
	for _, d := range n.state.data {
		if d.seeded[of].written() {
			return nil
		}
		paths = append(paths, d.path)
	}
	if !n.state.beside {
		n.at.Warn(bench.Warning{Text: fmt.Sprintf("%s has no data after its seed: no file of %s has content; what is in memory is lost when it "+
			"starts again, and `keep: true` keeps it", n.name, strings.Join(paths, ", "))})
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
	for _, d := range n.state.data {
		if err := n.drop(ctx, &d.volume); err != nil {
			return err
		}
	}
	most, err := n.room(ctx, of, 1)
	if err != nil {
		return err
	}
	n.state.of = of
	for i, d := range n.state.data {
		if err := n.copyOf(ctx, i, d, d.seeded[of], &most); err != nil {
			return err
		}
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
