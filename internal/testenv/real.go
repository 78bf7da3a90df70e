//go:build acceptance

package testenv

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// Docker skips the test unless a Docker engine answers.
func Docker(t testing.TB) {
	t.Helper()
	if err := engine(); err != nil {
		missing(t, "docker", "no Docker engine answers (docker version: "+err.Error()+")")
	}
}

// HasDocker says whether a Docker engine answers.
func HasDocker() bool { return engine() == nil }

// engine asks the Docker engine once.
var engine = sync.OnceValue(func() error {
	return exec.Command("docker", "version", "--format", "{{.Server.Version}}").Run()
})

// Elasticsearch returns the URL of a real Elasticsearch 7 for tests, from
// LOCBENCH_TEST_ELASTICSEARCH. Tests make indices with names of their own and remove them.
func Elasticsearch(t testing.TB) string {
	t.Helper()
	url := strings.TrimRight(os.Getenv("LOCBENCH_TEST_ELASTICSEARCH"), "/")
	if url == "" {
		missing(t, "elasticsearch", "LOCBENCH_TEST_ELASTICSEARCH names no Elasticsearch")
		return ""
	}
	client := http.Client{Timeout: 5 * time.Second}
	resp, err := client.Get(url)
	if err != nil {
		missing(t, "elasticsearch", "Elasticsearch does not answer: "+err.Error())
		return ""
	}
	resp.Body.Close()
	return url
}

// ElasticsearchImage returns the name of an image of a real Elasticsearch 7, from
// LOCBENCH_TEST_ELASTICSEARCH_IMAGE.
func ElasticsearchImage(t testing.TB) string {
	t.Helper()
	image := os.Getenv("LOCBENCH_TEST_ELASTICSEARCH_IMAGE")
	if image == "" {
		missing(t, "elasticsearch", "LOCBENCH_TEST_ELASTICSEARCH_IMAGE names no image of an Elasticsearch 7 (.ci/elasticsearch image makes one)")
	}
	return image
}

// Images skips the test unless the Docker engine has these images, the bases of what the test
// builds: pulling gigabytes is not for a test to begin.
func Images(t testing.TB, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := exec.Command("docker", "image", "inspect", name).Run(); err != nil {
			missing(t, "images", "the Docker engine has no image "+name+" (docker pull "+name+", or .ci/images)")
		}
	}
}

// Chromium returns the path of a Chromium or Chrome.
func Chromium(t testing.TB) string {
	t.Helper()
	return program(t, "chromium", "chromium", "chromium-browser", "google-chrome")
}

// Axe returns the script of axe-core, an accessibility checker, from the file that
// LOCBENCH_TEST_AXE names (.ci/axe brings it).
func Axe(t testing.TB) string {
	t.Helper()
	path := os.Getenv("LOCBENCH_TEST_AXE")
	if path == "" {
		missing(t, "axe", "LOCBENCH_TEST_AXE names no script of axe-core (.ci/axe brings it)")
	}
	script, err := os.ReadFile(path)
	if err != nil {
		missing(t, "axe", "axe-core cannot be read: "+err.Error())
	}
	return string(script)
}

// V2Host returns the folder with the disk and the kernels of a virtual machine that is a cgroup v2
// host, which LOCBENCH_TEST_V2HOST names (.ci/v2host builds it). What runs it is installed.
func V2Host(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("LOCBENCH_TEST_V2HOST")
	if dir == "" {
		missing(t, "v2host", "LOCBENCH_TEST_V2HOST names no disk of a cgroup v2 host (.ci/v2host builds it)")
	}
	if _, err := os.Stat(filepath.Join(dir, "disk")); err != nil {
		missing(t, "v2host", "the disk of the cgroup v2 host cannot be read: "+err.Error())
	}
	program(t, "v2host", "qemu-system-x86_64")
	program(t, "v2host", "mke2fs", "/usr/sbin/mke2fs", "/sbin/mke2fs")
	return dir
}

// Wrk returns the path of wrk.
func Wrk(t testing.TB) string {
	t.Helper()
	return program(t, "wrk", "wrk")
}

// Tmux returns the path of tmux.
func Tmux(t testing.TB) string {
	t.Helper()
	return program(t, "tmux", "tmux")
}

func program(t testing.TB, part string, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	missing(t, part, "none of these programs is installed: "+strings.Join(names, ", "))
	return ""
}

func missing(t testing.TB, part, reason string) {
	t.Helper()
	for _, p := range strings.Split(os.Getenv("LOCBENCH_REQUIRE"), ",") {
		if strings.TrimSpace(p) == part {
			t.Fatalf("%s is required here (LOCBENCH_REQUIRE), but %s", part, reason)
		}
	}
	t.Skip(reason)
}
