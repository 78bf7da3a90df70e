//go:build acceptance && linux

package main

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/docker/dockertest"
	"github.com/locbench/locbench/internal/testenv"
)

// databaseImage returns an image that starts as the official one.
func databaseImage(t testing.TB, variable string) string {
	t.Helper()
	testenv.Docker(t)
	return testenv.Named(t, "databases", variable, "image that starts as the official one (.ci/databases makes it)")
}

func postgresImage(t testing.TB) string { return databaseImage(t, "LOCBENCH_TEST_POSTGRES") }
func mariadbImage(t testing.TB) string  { return databaseImage(t, "LOCBENCH_TEST_MARIADB") }
func redisImage(t testing.TB) string    { return databaseImage(t, "LOCBENCH_TEST_REDIS") }

// backingImage makes an image of testdata/backing; more are lines of its Dockerfile.
func backingImage(t *testing.T, more ...string) (image string) {
	t.Helper()
	testenv.Docker(t)
	image = ownName(t) + "/backing:1"
	args := []string{"import"}
	for _, line := range append(more, "VOLUME /data", "EXPOSE 7000", `ENTRYPOINT ["/backing"]`) {
		args = append(args, "-c", line)
	}
	cmd := exec.Command("docker", append(args, "-", image)...)
	cmd.Stdin = dockertest.Tar(t, map[string]string{"backing": readFile(t, built(t, "backing"))})
	out, err := cmd.CombinedOutput()
	testenv.Need(t, err == nil, "docker import: %v: %s", err, out)
	t.Cleanup(func() { dockerDo(t, "rmi", "-f", image) })
	return image
}

// ownName returns a name for images of a test.
func ownName(t *testing.T) string {
	return "locbench-test/" + regexp.MustCompile("[^a-z0-9/]").ReplaceAllString(strings.ToLower(t.Name()), "")
}

// observer sees from outside of locbench which containers of an image start.
type observer struct {
	image string // of this test alone
	reads string // command whose output is read in each container; "": none

	mu     sync.Mutex
	events []containerEvent
	starts []*lockedBuffer // the outputs of the command, in the order of the starts
}

type containerEvent struct {
	Action   string
	ID       string
	TimeNano int64
	Actor    struct{ Attributes map[string]string }
}

// observe observes an image under a name of this test's own, until the test ends. reads is a
// command for each container.
func observe(t *testing.T, image, reads string) *observer {
	t.Helper()
	o := &observer{image: ownName(t) + "/" + path.Base(image), reads: reads}
	if image != o.image {
		dockerDo(t, "tag", image, o.image)
		t.Cleanup(func() { dockerDo(t, "rmi", o.image) })
	}
	cmd := exec.Command("docker", "events", "--filter", "type=container", "--filter", "image="+o.image, "--format", "{{json .}}",
		"--filter", "event=create", "--filter", "event=start", "--filter", "event=destroy")
	out := testenv.Must(cmd.StdoutPipe())(t)
	testenv.OK(t, cmd.Start())
	var reading sync.WaitGroup
	reading.Go(func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var e containerEvent
			if json.Unmarshal(lines.Bytes(), &e) == nil {
				o.saw(e, &reading)
			}
		}
	})
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		reading.Wait()
	})
	// The engine sends events from when it has begun to respond, which it does not say.
	testenv.Until(t, time.Minute, "events come", func() bool {
		if id := dockerDo(t, "create", o.image); !t.Failed() {
			dockerDo(t, "rm", "-v", id)
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		return len(o.events) > 0 || t.Failed()
	})
	return o
}

func (o *observer) saw(e containerEvent, reading *sync.WaitGroup) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.events = append(o.events, e)
	if e.Action != "start" {
		return
	}
	output := &lockedBuffer{}
	o.starts = append(o.starts, output)
	if o.reads != "" {
		cmd := exec.Command("docker", "exec", e.ID, "sh", "-c", o.reads)
		cmd.Stdout, cmd.Stderr = output, output
		reading.Go(func() { _ = cmd.Run() })
	}
}

// outputs returns what the command has written in each container, in the order of their starts.
func (o *observer) outputs() (all []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, output := range o.starts {
		all = append(all, output.String())
	}
	return all
}

// copies returns how long it took from the first container for a copy of the volumes to the start
// of each service but the first.
func (o *observer) copies() (all []time.Duration) {
	var began int64
	first := true
	for _, e := range o.ofRuns("") {
		switch {
		case e.Action == "create" && began == 0:
			began = e.TimeNano
		case e.Action == "start":
			if !first {
				all = append(all, time.Duration(e.TimeNano-began))
			}
			first, began = false, 0
		}
	}
	return all
}

// ofRuns returns the events of containers of runs; of an action, or "" for all.
func (o *observer) ofRuns(action string) (all []containerEvent) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, e := range o.events {
		if (action == "" || e.Action == action) && e.Actor.Attributes["locbench.run"] != "" {
			all = append(all, e)
		}
	}
	return all
}

// count returns how often an action was seen on containers of runs.
func (o *observer) count(action string) int { return len(o.ofRuns(action)) }

// last returns the id of the container that was started last.
func (o *observer) last(t *testing.T) string {
	t.Helper()
	all := o.ofRuns("start")
	testenv.Need(t, len(all) > 0, "no container has started")
	return all[len(all)-1].ID
}

// run runs p.yaml of a folder. It fails unless it ends with the code and says the words, or if
// anything of it is left.
func (o *observer) run(t *testing.T, dir string, code int, words ...string) (bench.Run, []bench.TrialResult) {
	t.Helper()
	d := disturbIn(t, dir, nil, "run", "--headless", "-p", "p.yaml")
	d.wait(5 * time.Minute)
	o.nothingLeft(t)
	if _, err := os.Stat(d.out); err == nil {
		return d.ends(code, words...)
	}
	testenv.Equal(t, d.wait(time.Minute), code, "exit code")
	testenv.Contains(t, d.stderr.String(), words...)
	return bench.Run{}, nil
}

// nothingLeft fails if anything of the runs that have used the image is left.
func (o *observer) nothingLeft(t *testing.T) {
	t.Helper()
	seen := map[string]bool{}
	for _, e := range o.ofRuns("") {
		if id := e.Actor.Attributes["locbench.run"]; !seen[id] {
			nothingLeft(t, id)
			seen[id] = true
		}
	}
}

// profile writes the profile p.yaml of the contender backing into a new folder. It connects to its
// need db when it starts, as mode says. need are the lines of db, more those of the profile.
func (o *observer) profile(t *testing.T, mode, need, more string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	services := made(t, "backing", map[string]string{"MODE": mode, "DB_HOST": "{{.Needs.db.Host}}",
		"DB_PORT": "{{.Needs.db.Port}}", "DB_USER": "{{.Needs.db.User}}", "DB_NAME": "{{.Needs.db.Database}}"}, nil)
	testenv.OK(t, os.CopyFS(filepath.Join(dir, "svc", "backing"), os.DirFS(services)))
	writeFile(t, filepath.Join(dir, "p.yaml"), "contenders: [backing]\nservices: svc\nruntime: process\nrounds: 2\n"+quarter+
		"isolation: off\nneeds:\n  db:\n"+o.need(need)+
		"requests: [{path: /}]\nchecks: {lifecycle: none, suites: []}\ncompare_bodies: none\nsteps: [1 for 300ms]\n"+more)
	return dir
}

// need returns the lines of the need db.
func (o *observer) need(lines string) string {
	return "    image: " + o.image + "\n    " + strings.ReplaceAll(strings.TrimSpace(lines), "\n", "\n    ") + "\n"
}

// books writes a profile of the service books and its PostgreSQL into a new folder.
func (o *observer) books(t *testing.T, need, more string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	testenv.OK(t, os.CopyFS(filepath.Join(dir, "svc", "books"), os.DirFS("testdata/books")))
	testenv.OK(t, os.Rename(filepath.Join(dir, "svc", "books", "schema.sql"), filepath.Join(dir, "schema.sql")))
	writeFile(t, filepath.Join(dir, "p.yaml"), `contenders: [books]
services: svc
limits: {cpus: 1, memory: 128MiB}
needs:
  db:
    environment: {POSTGRES_HOST_AUTH_METHOD: trust, POSTGRES_DB: shop}
`+o.need(need)+`
setup: [{get: /count, expect: {json: {count: 1000}}}]
variables: {id: {from: 1, to: 1000}}
requests:
  - {get: '/books/{id}', expect: {json: {title: "book {id}"}}}
  - {post: /books, expect: {status: 201}}
checks: {lifecycle: none}
step_duration: 1s
steps: [1, 4]
`+more)
	return dir
}
