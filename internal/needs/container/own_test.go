package container

import (
	"context"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/testenv"
)

// copies returns the copies of a seeded need for two contenders.
func (f fixture) copies(t *testing.T) (a, b *Need) {
	t.Helper()
	f.open(t)
	f.seed(t)
	first, second := f.place, f.place
	first.Of, second.Of = "old", "new"
	all, err := f.Copy(t.Context(), []needs.Place{first, second})
	testenv.OK(t, err)
	a, b = all[0].(*Need), all[1].(*Need)
	t.Cleanup(func() { testenv.OK(t, a.Close(context.Background())); testenv.OK(t, b.Close(context.Background())) })
	return a, b
}

func (n *Need) files(e *fakeEngine) string { return e.volumes[n.state.data[0].volume] }

func (n *Need) served() *fakeServed { return n.current().(*fakeServed) }

func restored(t *testing.T, all ...*Need) {
	t.Helper()
	for _, n := range all {
		testenv.OK(t, testenv.Err(n.Restore(t.Context(), contender)))
	}
}

// TestCopy: the copies of a need have their own containers and volumes, with the state that the
// need had after its seed. What one contender writes, or that its copy ends, is nothing to another.
func TestCopy(t *testing.T) {
	f := database(t, "limits: {memory: 64M}\nseed: [schema.sql]")
	a, b := f.copies(t)
	testenv.Check(t, strings.HasSuffix(f.engine.since(), "end 1m0s\nwritten\nkill"), "the need has stopped")
	restored(t, a, b)
	calls := f.engine.since()
	for _, want := range []string{"create db-old-1\ncopy db-1.v1 to db-old-1.v2\nrun db-old db-old-1.v2:", "create db-new-1\ncopy db-1.v1 to db-new-1.v3\nrun db-new "} {
		testenv.Contains(t, calls, want)
	}
	for _, n := range []*Need{a, b} {
		spec := n.served().spec
		testenv.Equal(t, spec.Aliases, []string{"db"})
		testenv.Equal(t, spec.Hostname, "db")
		testenv.Equal(t, spec.Limits.Memory, int64(64<<20))
		testenv.Equal(t, n.Address().Host, "db")
		testenv.Equal(t, n.files(f.engine), "++", "as after the seed, and its start")
	}

	a.served().write("order")
	testenv.Equal(t, b.files(f.engine), "++", "what another contender has written")
	f.engine.since()
	restored(t, a)
	testenv.Check(t, strings.HasPrefix(f.engine.since(), "kill\nremove db-old-1.v2\ncreate db-old-1\n"), "only its own is restored")
	testenv.Equal(t, a.files(f.engine), "++", "restored")

	a.Address()
	a.served().end(bench.Exit{Code: 1})
	testenv.Fails(t, a.Alive(t.Context()), "it has ended: exit code 1")
	testenv.OK(t, b.Alive(t.Context()))
	testenv.OK(t, testenv.Err(b.Restore(t.Context(), bench.Selection{})))
	testenv.Fails(t, testenv.Err(a.Restore(t.Context(), bench.Selection{})), "it ended in the trial: exit code 1")
	restored(t, a)
	testenv.OK(t, a.Alive(t.Context()))

	testenv.OK(t, a.Close(t.Context()))
	f.engine.since()
	restored(t, b)
	testenv.Check(t, !strings.Contains(f.engine.since(), "failed"), "the seeded state remains for the other")
}

// TestCopy_Keep: each copy of a need that keeps its state starts once.
func TestCopy_Keep(t *testing.T) {
	f := database(t, "keep: true\nseed: [schema.sql]")
	a, b := f.copies(t)
	f.engine.since()
	restored(t, a, b)
	a.Address()
	a.served().write("order")
	f.engine.since()
	restored(t, a, b)
	testenv.Equal(t, f.engine.since(), "", "again")
	testenv.Equal(t, a.files(f.engine)+" "+b.files(f.engine), "++order ++")
	a.served().end(bench.Exit{Code: 1})
	testenv.Fails(t, testenv.Err(a.Restore(t.Context(), contender)), "it ended in the trial")
	restored(t, b)
}

// TestCopy_Migrated: each copy has the state that its own contender has completed.
func TestCopy_Migrated(t *testing.T) {
	f := database(t, "seed: [schema.sql, {start: service}]")
	a, b := f.copies(t)
	other := bench.Selection{Contender: "other"}
	for n, of := range map[*Need]bench.Selection{a: contender, b: other} {
		testenv.Equal(t, n.Unmigrated(of), true)
		testenv.OK(t, testenv.Err(n.Restore(t.Context(), of)))
		n.Address()
		n.served().write(of.Contender)
		testenv.OK(t, testenv.Err(n.Migrated(t.Context(), of, func(bench.Progress) {})))
	}
	for n, of := range map[*Need]bench.Selection{a: contender, b: other} {
		testenv.OK(t, testenv.Err(n.Restore(t.Context(), of)))
		testenv.Equal(t, n.files(f.engine), "++"+of.Contender+"+")
	}
}

// TestCopy_Refused: without space for a copy, or a state that can be copied, no round begins.
func TestCopy_Refused(t *testing.T) {
	f := database(t, "seed: [schema.sql]")
	a, b := f.copies(t)
	restored(t, a)
	f.engine.free = 64 << 20
	testenv.Fails(t, testenv.Err(b.Restore(t.Context(), contender)), "no space for a copy of its seeded state")
	f = database(t, "seed: [schema.sql]\nkeep: true")
	f.engine.image.Volumes, f.engine.started = nil, nil
	f.open(t)
	f.seed(t)
	f.engine.written = []string{"/data/1"}
	testenv.Fails(t, testenv.Err(f.Copy(t.Context(), []needs.Place{f.place, f.place})),
		"db: its seed would be lost: it has no volume, and writes /data/1; write the path of its data: `volumes: [/PATH]`, or `interleave: off`")
}

// TestImages: the images of a service and of the containers that run once are known when it is
// open; one that is built is known by its files.
func TestImages(t *testing.T) {
	f := newFixture(t, "image: postgres\nseed: [{image: tool, command: x}]")
	f.open(t)
	testenv.Equal(t, f.Images(), []bench.NeedPart{{Key: "image", Image: "postgres", Hash: "sha256:0123456789abcdef"},
		{Key: "seed[0].image", Image: "tool", Hash: "sha256:0123456789abcdef"}})
	f = newFixture(t, "dockerfile: Dockerfile")
	f.open(t)
	testenv.Equal(t, len(f.Images()), 0)
	testenv.Equal(t, len(newFixture(t, "image: a").Images()), 0)
}
