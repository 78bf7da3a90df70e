package app

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/profiles"
)

// shop is a folder with a profile of two services, goes with a variant pooled, and node.
type shop struct{ dir, profile string }

// newShop writes the needs of the profile and of both manifests.
func newShop(t *testing.T, p, goes, node string) shop {
	t.Helper()
	manifest := func(needs string) string {
		return "docker: {image: 'a:1'}\nenv: {DB: \"{{.Needs.db.URL}}\"}\n" + needs + "\nvariants: [{name: plain}, {name: pooled}]\n"
	}
	dir := testenv.Folder(t, map[string]string{"svc/goes/service.yaml": manifest(goes), "svc/node/service.yaml": manifest(node),
		"bench.yaml": "contenders: [goes, 'goes:pooled', node]\nservices: svc\nrequests: [{get: /}]\nsteps: [1]\n" + p})
	return shop{dir, filepath.Join(dir, "bench.yaml")}
}

func (s shop) plan() (Plan, error) {
	return NewPlan(RunOptions{Profile: s.profile, ProfileNamed: true})
}

const ofDB = "needs: {db: {image: 'postgres:17', environment: {POSTGRES_PASSWORD: \"${PGPASSWORD}\"}%s}}\n"

// TestPlan_ManifestNeeds: a run has the needs of manifests as it has those of its profile: they
// turn interleaving off, their variables have to be set, and a resumed run has them from its
// record.
func TestPlan_ManifestNeeds(t *testing.T) {
	db := strings.Replace(ofDB, "%s", "", 1)
	s := newShop(t, "", db, db)
	p, err := s.plan()
	testenv.OK(t, err)
	testenv.Equal(t, len(p.Run.Profile.Needs), 2)
	testenv.Check(t, p.Run.Plain == nil && p.Run.Profile.Rounds == profile.InterleavedRounds, "%v", p.Run.Plain)
	testenv.Fails(t, missingEnv(p.Run, p.Services, func(string) string { return "" }), "unset or empty: PGPASSWORD (need db of goes)")
	n := &needset{record: &record{plan: p, env: noEnv}}
	testenv.OK(t, testenv.Err(n.find()))
	testenv.Equal(t, len(n.all), 2)
	testenv.OK(t, unknownNeeds(p.Run.Profile, p.Services))

	resumed, err := resumedPlan(t, p.Run, RunOptions{})
	testenv.OK(t, err)
	testenv.Equal(t, len(resumed.Run.Profile.Needs), 2)

	own, err := profile.Load(s.profile, profiles.FS)
	testenv.OK(t, err)
	testenv.Equal(t, len(own.Needs), 0)
	own, err = WithManifests(own, s.profile)
	testenv.OK(t, err)
	testenv.Equal(t, len(own.Needs), 2)

	for name, c := range map[string]struct{ profile, goes, node, want string }{
		"in both": {db, db, "", "bench.yaml and svc/goes/service.yaml; keep it in the profile"},
		"mistake": {"", db, "needs:\n  db:\n    image: a\n    restart: always", "svc/node/service.yaml:6: unknown key `needs.db.restart`; known keys: image"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop(t, c.profile, c.goes, c.node)
			t.Chdir(s.dir)
			testenv.Fails(t, testenv.Err(s.plan()), c.want)
		})
	}

	p, err = newShop(t, "", db, "").plan()
	testenv.OK(t, err)
	testenv.Fails(t, unknownNeeds(p.Run.Profile, p.Services),
		"contender node uses {{.Needs.db.URL}}, but only the manifest of goes has the need \"db\"; write it in its own, or in the profile")
}

// TestPlan_OwnNeeds: each service has the need of its manifest, with a warning if they differ.
func TestPlan_OwnNeeds(t *testing.T) {
	own := strings.Replace(ofDB, "%s", "", 1)
	p, err := newShop(t, "", own, own).plan()
	testenv.OK(t, err)
	testenv.Equal(t, len(p.Run.Warnings), 0)
	p, err = newShop(t, "", own, strings.Replace(own, "17", "16", 1)).plan()
	testenv.OK(t, err)
	testenv.Equal(t, p.Run.Warnings[0].Text, "goes and node have their own db, each as its manifest says")
	var got []string
	for _, n := range p.Run.Profile.Needs {
		got = append(got, n.Label())
	}
	testenv.Equal(t, got, []string{"db of goes", "db of node"})
	testenv.OK(t, profile.Validate(p.Run.Profile))
}
