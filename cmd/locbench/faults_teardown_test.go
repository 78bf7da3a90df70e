//go:build acceptance && faults && linux

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/testenv"
)

// kept is a service with a journal: POST /seed makes something, which only DELETE /seed removes.
type kept struct {
	*httptest.Server
	mu    sync.Mutex
	all   []string
	loads int
	hold  bool // DELETE gets no response
}

func newKept(t *testing.T) *kept {
	k := &kept{}
	k.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		k.mu.Lock()
		if k.loads++; r.Method != http.MethodGet {
			k.all = append(k.all, r.Method)
		}
		hold := k.hold && r.Method == http.MethodDelete
		k.mu.Unlock()
		if hold {
			<-r.Context().Done()
		}
		if r.Method == http.MethodPost {
			w.WriteHeader(http.StatusCreated)
		}
	}))
	t.Cleanup(k.Close)
	return k
}

func (k *kept) journal() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return strings.Join(k.all, " ")
}

func (k *kept) loaded() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.loads > 100
}

// TestSignal_Teardown: the signals that people and machines send end a run whose target has
// what its setup made. The teardown removes it, --resume makes it again, and a second signal skips
// the teardown and says so.
func TestSignal_Teardown(t *testing.T) {
	path := profileFile(t, `rounds: 1
setup: [{post: /seed, expect: {status: 201}}]
requests: [{get: /load}]
teardown: [{name: clean, delete: /seed}]
steps: [{connections: 1, duration: 4s}]
`)
	for _, signals := range [][]syscall.Signal{
		{syscall.SIGINT}, {syscall.SIGTERM}, {syscall.SIGHUP}, {syscall.SIGINT, syscall.SIGINT}, {syscall.SIGTERM, syscall.SIGTERM},
	} {
		t.Run(fmt.Sprint(signals), func(t *testing.T) {
			t.Parallel()
			if signal.Ignored(signals[0]) {
				t.Skip("SKIP: this process was started to ignore the signal, as under nohup, and so does locbench")
			}
			k := newKept(t)
			k.hold = len(signals) > 1
			d := disturb(t, nil, "run", "--headless", "-p", path, "--target", k.URL)
			testenv.Until(t, time.Minute, "the target is loaded", k.loaded)
			d.signal(signals[0])
			if k.hold {
				testenv.Until(t, time.Minute, "the teardown is sent", func() bool { return k.journal() == "POST DELETE" })
				d.signal(signals[1])
				d.ends(130, "teardown was not finished, 1 of 1 requests without a response", "may be left at "+strings.TrimPrefix(k.URL, "http://"))
				return
			}
			d.ends(130)
			if got := k.journal(); got != "POST DELETE" {
				t.Errorf("the target got %s", got)
			}
			d.resumes()
			if got := k.journal(); got != "POST DELETE POST DELETE" {
				t.Errorf("after resuming the target got %s", got)
			}
		})
	}
}

// TestProcessFolders: each start of a process has its own working directory, also in a run that
// is killed and resumed; clean removes what the kill left.
func TestProcessFolders(t *testing.T) {
	services, found := t.TempDir(), filepath.Join(t.TempDir(), "found")
	manifest := `language: Shell
framework: none
version: "1"
env: {PORT: "{{.Port}}", LISTEN: "{{.Listen}}"}
process: {command: [sh, -c, 'echo start >>starts; cat starts >>` + found + `; exec "$0" serve --embedded-store', "{{.Dir}}/server"]}
`
	writeFile(t, filepath.Join(services, "starts", "service.yaml"), manifest)
	writeFile(t, filepath.Join(services, "starts", "server"), readFile(t, testenv.Locbench(t)))
	path := profileFile(t, "contenders: [starts]\nruntime: process\nrounds: 2\nrequests: [{get: /}]\nchecks: {lifecycle: none, suites: []}\nsteps: [{connections: 1, duration: 2s}]\n")
	d := disturb(t, nil, "run", "--headless", "-p", path, "--services", services)
	d.loaded(0)
	d.signal(syscall.SIGKILL)
	d.wait(time.Minute)
	run, _ := read(t, d.out)
	if left := leftOf(run.ID); !slices.ContainsFunc(left, func(l string) bool { return strings.HasPrefix(l, "folder left") }) {
		t.Errorf("the killed run had no folder: %v", left)
	}
	d.resumes()
	if text, err := os.ReadFile(found); err != nil || string(text) != "start\nstart\nstart\n" {
		t.Errorf("%v; the starts found %q", err, text)
	}
}
