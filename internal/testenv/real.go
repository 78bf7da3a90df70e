//go:build acceptance

package testenv

import (
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// Docker skips the test unless a Docker engine responds.
func Docker(t testing.TB) {
	t.Helper()
	if err := Engine(); err != nil {
		Missing(t, "docker", "no Docker engine responds (docker version: "+err.Error()+")")
	}
}

// Engine contacts the Docker engine once, and returns an error if it does not respond.
var Engine = sync.OnceValue(func() error {
	return exec.Command("docker", "version", "--format", "{{.Server.Version}}").Run()
})

// Elasticsearch returns the URL of a real Elasticsearch 7 for tests, from
// LOCBENCH_TEST_ELASTICSEARCH. Tests create their own indices and remove them.
func Elasticsearch(t testing.TB) string {
	t.Helper()
	url := strings.TrimRight(Named(t, "elasticsearch", "LOCBENCH_TEST_ELASTICSEARCH", "Elasticsearch"), "/")
	client := http.Client{Timeout: 5 * time.Second}
	resp, err := client.Get(url)
	if err != nil {
		Missing(t, "elasticsearch", "Elasticsearch does not respond: "+err.Error())
	}
	resp.Body.Close()
	return url
}

// ElasticsearchImage returns the name of an image of a real Elasticsearch 7, from
// LOCBENCH_TEST_ELASTICSEARCH_IMAGE.
func ElasticsearchImage(t testing.TB) string {
	t.Helper()
	return Named(t, "elasticsearch", "LOCBENCH_TEST_ELASTICSEARCH_IMAGE",
		"image of an Elasticsearch 7 (.ci/elasticsearch image makes one)")
}

// Named returns the value of an environment variable that names what the test needs.
func Named(t testing.TB, part, variable, what string) string {
	t.Helper()
	value := os.Getenv(variable)
	if value == "" {
		Missing(t, part, variable+" is not set: no "+what)
	}
	return value
}

// Program returns the path of the first of these programs that is installed.
func Program(t testing.TB, part string, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	Missing(t, part, "not installed: "+strings.Join(names, ", "))
	return ""
}

// Missing skips the test, or fails it if LOCBENCH_REQUIRE lists the part.
func Missing(t testing.TB, part, reason string) {
	t.Helper()
	for _, p := range strings.Split(os.Getenv("LOCBENCH_REQUIRE"), ",") {
		if strings.TrimSpace(p) == part {
			t.Fatalf("%s is required here (LOCBENCH_REQUIRE), but %s", part, reason)
		}
	}
	t.Skip(reason)
}
