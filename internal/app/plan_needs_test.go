package app

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
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

// The hash of a folder depends on names, rights, links and contents, and of what is beyond the
// bound on sizes and times.
func TestContentHash(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) { testenv.Write(t, text, dir, name) }
	last := ""
	differs := func(what string, most int64, want bool) {
		t.Helper()
		now, err := contentHash(dir, most)
		testenv.OK(t, err)
		testenv.Check(t, (now != last) == want, "%s: %s", what, now)
		last = now
	}
	write("a", "one")
	differs("first", 1000, true)
	differs("again", 1000, false)
	write("a", "two")
	differs("content", 1000, true)
	write("b", "")
	differs("another file", 1000, true)
	testenv.OK(t, os.Chmod(filepath.Join(dir, "b"), 0o700))
	differs("rights", 1000, true)
	if err := os.Symlink("a", filepath.Join(dir, "l")); err == nil {
		differs("a link", 1000, true)
		testenv.OK(t, os.Remove(filepath.Join(dir, "l")))
		testenv.OK(t, os.Symlink("b", filepath.Join(dir, "l")))
		differs("to another file", 1000, true)
	}
	info := testenv.Must(os.Stat(filepath.Join(dir, "a")))(t)
	differs("beyond the bound", 2, true)
	write("a", "six")
	testenv.OK(t, os.Chtimes(filepath.Join(dir, "a"), info.ModTime(), info.ModTime()))
	differs("content beyond the bound", 2, false)
	write("a", "four")
	differs("size beyond the bound", 2, true)
	testenv.Check(t, testenv.Err(contentHash(filepath.Join(dir, "none"), 1000)) != nil, "a file that is missing")
}

// A need that changed is refused with what changed. An image that the record does not have yet is
// not, since a run may end before its needs are open.
func TestChangedParts(t *testing.T) {
	seed, image := bench.NeedPart{Need: "db", Key: "seed[0]", File: "/x/a.sql", Hash: "1"}, bench.NeedPart{Need: "db", Key: "image", Image: "db:1", Hash: "sha256:1"}
	other := func(p bench.NeedPart) bench.NeedPart {
		p.Hash = "sha256:2"
		return p
	}
	for _, c := range map[string]struct {
		was, is []bench.NeedPart
		want    string
	}{
		"same":              {[]bench.NeedPart{image, seed}, []bench.NeedPart{seed, image}, ""},
		"not known yet":     {[]bench.NeedPart{seed}, []bench.NeedPart{seed, image}, ""},
		"seed":              {[]bench.NeedPart{seed}, []bench.NeedPart{other(seed)}, "a.sql of need db changed (seed[0]: 1, now 2) since out started"},
		"image":             {[]bench.NeedPart{image}, []bench.NeedPart{other(image)}, "db:1 of need db changed (image: 1, now 2)"},
		"of another need":   {[]bench.NeedPart{{Need: "db of a", Key: "seed[0]", Hash: "1"}}, []bench.NeedPart{seed}, "a.sql of need db is not on record"},
		"a file not listed": {nil, []bench.NeedPart{seed}, "a.sql of need db is not on record"},
	} {
		err := changedParts(c.was, c.is, "out")
		if c.want == "" {
			testenv.OK(t, err)
			continue
		}
		testenv.Fails(t, err, "cannot resume", c.want, "start a new run")
	}
}

// needsRun writes an interrupted run of a profile with a database, and returns its folder and that
// of its profile.
func needsRun(t *testing.T, change func(*bench.Run)) (dir, folder string) {
	t.Helper()
	folder, dir = testenv.Folder(t, map[string]string{"a.sql": "x", "e.env": "A=one", "p.yaml": "contenders: [go-nethttp]\n" +
		"needs: {elasticsearch: {}, db: {image: 'db:1', like: postgres, seed: [a.sql, {command: [psql, -c, x]}], env_file: e.env}}\n" +
		"requests: [{path: /x}]\nsteps: [3]\n"}), filepath.Join(t.TempDir(), "out")
	file := filepath.Join(folder, "p.yaml")
	plan, err := NewPlan(RunOptions{Profile: file, ProfileNamed: true, Out: dir})
	testenv.OK(t, err)
	run := plan.Run
	testenv.Equal(t, run.ProfileFile, file)
	run.Hash, run.Software.Locbench, run.State = compare.ProfileHash(run.Profile), Version(), bench.RunInterrupted
	run.NeedParts = testenv.Must(needFiles(run.Profile.Needs))(t)
	if change != nil {
		change(&run)
	}
	testenv.Must(results.Create(dir, run, nil))(t).Close()
	return dir, folder
}

// resumed returns what a resumed run prints before it begins, and its error. An engine is not found.
func resumed(t *testing.T, o RunOptions) (string, error) {
	t.Helper()
	t.Setenv("DOCKER_HOST", "unix:///nonexistent/docker.sock")
	var printed strings.Builder
	err := Run(t.Context(), console.Env{Stdout: io.Discard, Stderr: &printed, Getenv: os.Getenv}, o)
	return printed.String(), err
}

// A run whose seed or variables changed is not resumed; before it begins, each need is printed with
// its image, files and commands.
func TestResumeOfNeeds(t *testing.T) {
	dir, folder := needsRun(t, nil)
	text, err := resumed(t, RunOptions{Resume: dir})
	testenv.Fails(t, err, "Docker")
	testenv.Contains(t, text, "need     db: image db:1 (on record)\n", "need     db: seed command psql -c x (on record)\n",
		"need     db: file "+filepath.Join(folder, "a.sql")+" (on record)\n", "need     db: file "+filepath.Join(folder, "e.env")+" (on record)\n")
	for file, key := range map[string]string{"a.sql": "seed[0]", "e.env": "env_file[0]"} {
		dir, folder := needsRun(t, nil)
		testenv.Write(t, "A=two", folder, file)
		_, err = resumed(t, RunOptions{Resume: dir})
		testenv.Fails(t, err, "cannot resume: "+file+" of need db changed ("+key)
		testenv.OK(t, os.Remove(filepath.Join(folder, file)))
		_, err = resumed(t, RunOptions{Resume: dir})
		testenv.Fails(t, err, "need db: "+key)
	}
}

// A record names files of its profile's folder only, as the profile does: it may be from another
// person, and so may the folders that it names.
func TestResumeOfNeeds_Outside(t *testing.T) {
	outside := testenv.Folder(t, map[string]string{"key": "private"})
	edited := func(run *bench.Run) {
		of := run.Profile.Needs[1].Of.String()
		run.Profile.Needs[1].Of = bench.FormFrom([]byte(strings.Replace(of, `"env_file":`, `"volumes":[{"source":"`+outside+`/key","target":"/k"}],"env_file":`, 1)))
		run.Hash, run.NeedParts = compare.ProfileHash(run.Profile), testenv.Must(needFiles(run.Profile.Needs))(t)
		run.AllowFiles = []string{outside}
	}
	dir, _ := needsRun(t, edited)
	_, err := resumed(t, RunOptions{Resume: dir})
	testenv.Fails(t, err, "need db uses "+outside+"/key, which is outside of the folder of its profile", "--allow-files "+outside)
	_, err = resumed(t, RunOptions{Resume: dir, AllowFiles: []string{outside}})
	testenv.Fails(t, err, "Docker")
	for _, file := range []string{outside + "/key", "", "p.yaml"} {
		dir, folder := needsRun(t, func(run *bench.Run) { run.ProfileFile = file })
		_, err := resumed(t, RunOptions{Resume: dir})
		testenv.Fails(t, err, "outside of the folder", folder)
	}
	dir, _ = needsRun(t, func(run *bench.Run) { run.Hash = "" })
	_, err = resumed(t, RunOptions{Resume: dir})
	testenv.Fails(t, err, "is not the one that the run began with")
}

// A run that cannot be resumed says so before it begins; one with all secrets as variables can be.
func TestNotResumable(t *testing.T) {
	for environment, want := range map[string]string{
		"{APP_SECRET: 'x${DBPW}y', P_PASSWORD: '${DBPW}'}": "", "{APP_SECRET: hunter2-hunter2}": "resume   not possible: a secret of need db is not saved",
	} {
		file := testenv.Write(t, "contenders: [go-nethttp]\nneeds: {elasticsearch: {}, db: {image: 'db:1', environment: "+environment+"}}\n"+
			"requests: [{path: /x}]\nsteps: [3]\n", t.TempDir(), "p.yaml")
		t.Setenv("DBPW", "hunter2-hunter2")
		text, err := resumed(t, RunOptions{Profile: file, ProfileNamed: true, Out: filepath.Join(t.TempDir(), "out"), Getenv: os.Getenv})
		testenv.Fails(t, err, "Docker")
		testenv.Check(t, strings.Contains(text, want) && (want != "" || !strings.Contains(text, "resume")), "%s: %q", environment, text)
	}
}

// What manifests take from the environment is listed before a run, and by validate; what the profile
// takes is in the profile.
func TestOfManifests(t *testing.T) {
	folder := testenv.Folder(t, map[string]string{
		"svc/web/service.yaml": "name: web\nlanguage: Go\nframework: none\nversion: '1'\nprocess: {command: [x]}\n" +
			"env: {AWS: '${AWS_SECRET_ACCESS_KEY}', MODE: '${MODE}'}\nneeds: {db: {image: 'db:1', environment: {A: '${HOME_OF_DB}'}}}\n",
		"p.yaml": "contenders: [{web: {env: {MODE: '${MODE}'}, as: v}}]\nservices: svc\n" +
			"requests: [{path: /x, header: {A: '${TOKEN}'}}]\nsteps: [3]\n",
	})
	file := filepath.Join(folder, "p.yaml")
	plan, err := NewPlan(RunOptions{Profile: file, ProfileNamed: true, Out: filepath.Join(t.TempDir(), "out")})
	testenv.OK(t, err)
	testenv.Equal(t, strings.Join(ofManifests(plan), "\n"), "variable AWS_SECRET_ACCESS_KEY of the environment, in AWS of contender web:v (manifest)\n"+
		"variable HOME_OF_DB of the environment, in need db (manifest)")
	p, err := profile.Load(file, profiles.FS)
	testenv.OK(t, err)
	testenv.Equal(t, ManifestVariables(p, file), []string{"TOKEN", "AWS_SECRET_ACCESS_KEY", "MODE", "HOME_OF_DB"})
}
