//go:build acceptance && release && linux

package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// released is a clone with a tag, and the files of its release.
type released struct{ clone, version string }

func release(t *testing.T) released {
	t.Helper()
	clone := testenv.Named(t, "release", "LOCBENCH_TEST_RELEASE", "a release (.ci/release)")
	tag := output(t, clone, nil, "git", "describe", "--tags", "--exact-match")
	return released{clone, strings.TrimPrefix(tag, "v")}
}

// file returns the path of a file of the release by the end of its name.
func (r released) file(t *testing.T, end string) string {
	t.Helper()
	path := filepath.Join(r.clone, "dist", "locbench_"+r.version+"_"+end)
	testenv.OK(t, testenv.Err(os.Stat(path)))
	return path
}

// output runs a program in dir and returns what it wrote.
func output(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	testenv.Need(t, err == nil, "%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	return strings.TrimSpace(string(out))
}

// checkVersion compares what `locbench version` printed.
func (r released) checkVersion(t *testing.T, said string) {
	t.Helper()
	want := "locbench " + r.version + " " + runtime.Version() + " linux/"
	testenv.Check(t, strings.HasPrefix(said, want), "it says %q, want %q", said, want)
}

// mainJob are the arguments of the README's first run, with less load.
var mainJob = []string{"run", "--headless", "--rounds", "1", "--connections", "1", "--duration", "300ms", "--no-checks", "-o", "out"}

// TestRelease_Files compares what the archives, and the checksums, are expected to hold.
func TestRelease_Files(t *testing.T) {
	r := release(t)
	output(t, filepath.Join(r.clone, "dist"), nil, "sha256sum", "--check", "--quiet", "locbench_"+r.version+"_checksums.txt")
	sums := testenv.Must(os.ReadFile(r.file(t, "checksums.txt")))(t)
	for _, system := range []string{"linux", "darwin", "windows"} {
		for _, arch := range []string{"amd64", "arm64"} {
			t.Run(system+"/"+arch, func(t *testing.T) {
				binary, ends := "locbench", []string{".tar.gz", ".cdx.json"}
				switch system {
				case "linux":
					ends = append(ends, ".deb", ".rpm", "_image.tar.gz")
				case "windows":
					binary, ends = "locbench.exe", []string{".zip", ".cdx.json"}
				}
				for _, end := range ends {
					if path := r.file(t, system+"_"+arch+end); !strings.Contains(string(sums), "  "+filepath.Base(path)+"\n") {
						t.Errorf("%s has no checksum", filepath.Base(path))
					}
				}
				names := contents(t, r.file(t, system+"_"+arch+ends[0]))
				for _, want := range []string{binary, "LICENSE", "README.md", "CHANGELOG.md", "man/locbench.1.gz", "man/locbench-run.1.gz",
					"completions/locbench.bash", "completions/_locbench", "completions/locbench.fish"} {
					testenv.Check(t, slices.Contains(names, "locbench_"+r.version+"_"+system+"_"+arch+"/"+want),
						"it lacks %s: %v", want, names)
				}
			})
		}
	}
}

// contents returns the names of the files in an archive.
func contents(t *testing.T, path string) (names []string) {
	t.Helper()
	if strings.HasSuffix(path, ".zip") {
		z := testenv.Must(zip.OpenReader(path))(t)
		defer z.Close()
		for _, f := range z.File {
			names = append(names, f.Name)
		}
		return names
	}
	f := testenv.Must(os.Open(path))(t)
	defer f.Close()
	z := testenv.Must(gzip.NewReader(f))(t)
	for archive := tar.NewReader(z); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return names
		}
		testenv.OK(t, err)
		names = append(names, h.Name)
	}
}

// TestRelease_Debian installs the deb in a Debian that has nothing else and no network, and runs it
// there. The rpm has the same binary; a Debian cannot install it.
func TestRelease_Debian(t *testing.T) {
	testenv.Docker(t)
	r := release(t)
	name := fmt.Sprintf("locbench-test-deb-%d", os.Getpid())
	dockerDo(t, "run", "-d", "--rm", "--init", "--network", "none", "--name", name, "-w", "/root", "debian:bookworm-slim", "sleep", "600")
	t.Cleanup(func() { dockerDo(t, "rm", "-f", name) })
	inside := func(args ...string) string {
		t.Helper()
		return dockerDo(t, append([]string{"exec", name}, args...)...)
	}
	dockerDo(t, "cp", r.file(t, "linux_"+runtime.GOARCH+".deb"), name+":/locbench.deb")
	inside("dpkg", "-i", "/locbench.deb")
	r.checkVersion(t, inside("locbench", "version"))
	got := inside("dpkg-query", "-W", "-f", "${Version}", "locbench")
	testenv.Check(t, strings.HasPrefix(got, r.version), "Debian says version %s, want %s", got, r.version)
	files := strings.Fields(inside("dpkg", "-L", "locbench"))
	for _, want := range []string{"/usr/bin/locbench", "/usr/share/man/man1/locbench.1.gz", "/usr/share/man/man1/locbench-run.1.gz",
		"/usr/share/bash-completion/completions/locbench", "/usr/share/zsh/vendor-completions/_locbench",
		"/usr/share/fish/vendor_completions.d/locbench.fish", "/usr/share/doc/locbench/copyright"} {
		testenv.Check(t, slices.Contains(files, want), "the package lacks %s: %v", want, files)
	}
	inside(append([]string{"locbench"}, mainJob...)...)
	report := inside("grep", "-c", "Made by locbench "+r.version+"[.]", "out/report.html")
	testenv.Check(t, report == "1", "the report names the version %s times", report)
	inside("dpkg", "-r", "locbench")
}

// TestRelease_Image loads the image and runs it with the socket of the engine: its contenders run
// in containers next to it.
func TestRelease_Image(t *testing.T) {
	testenv.Docker(t)
	r := release(t)
	const socket = "/var/run/docker.sock"
	if host := os.Getenv("DOCKER_HOST"); host != "" && host != "unix://"+socket {
		t.Skip("the engine is not behind " + socket)
	}
	image := "locbench:" + strings.ReplaceAll(r.version, "+", "-")
	said := dockerDo(t, "load", "-i", r.file(t, "linux_"+runtime.GOARCH+"_image.tar.gz"))
	testenv.Need(t, strings.Contains(said, image), "loaded %s, want %s", said, image)
	t.Cleanup(func() { dockerDo(t, "rmi", "-f", image) })
	r.checkVersion(t, dockerDo(t, "run", "--rm", image, "version"))
	dir := t.TempDir()
	run := append([]string{"run", "--rm", "-v", socket + ":" + socket, "-v", dir + ":/work", image}, mainJob...)
	dockerDo(t, append(run, "--runtime", "docker")...)
	made, trials := read(t, filepath.Join(dir, "out"))
	if made.Software.Locbench != r.version || made.Software.Commit == "" || len(trials) == 0 || trials[0].Instance.ImageID == "" {
		t.Errorf("by %+v; %d trials", made.Software, len(trials))
	}
}

// TestRelease_GoInstall installs the tag as a user does, from a file proxy that Go itself fills
// from the clone. The zip of a module lacks the folders that are modules: the binary has their
// contenders all the same.
func TestRelease_GoInstall(t *testing.T) {
	r := release(t)
	const module = "github.com/locbench/locbench"
	dir := t.TempDir()
	env := []string{"GOFLAGS=-modcacherw -trimpath", "GOSUMDB=off", "GONOSUMDB=*", "GOPRIVATE=", "GONOPROXY=", "GOWORK=off", "CGO_ENABLED=0", "GOBIN=" + dir}
	output(t, dir, append(slices.Clone(env), "GOPROXY=direct", "GOMODCACHE="+filepath.Join(dir, "proxy"), "GIT_CONFIG_COUNT=1",
		"GIT_CONFIG_KEY_0=url."+r.clone+".insteadOf", "GIT_CONFIG_VALUE_0=https://"+module, "GIT_ALLOW_PROTOCOL=file:https"),
		"go", "mod", "download", module+"@v"+r.version)
	others := output(t, r.clone, nil, "go", "env", "GOMODCACHE")
	env = append(env, "GOMODCACHE="+filepath.Join(dir, "modules"),
		"GOPROXY=file://"+filepath.Join(dir, "proxy/cache/download")+",file://"+filepath.Join(others, "cache/download"))
	output(t, dir, env, "go", "install", module+"/cmd/locbench@v"+r.version)
	binary := filepath.Join(dir, "locbench")
	r.checkVersion(t, output(t, dir, nil, binary, "version"))
	output(t, dir, nil, binary, append(mainJob, "--runtime", "process")...)
	if run, trials := read(t, filepath.Join(dir, "out")); run.Software.Locbench != r.version || len(trials) == 0 {
		t.Errorf("by %+v; %d trials", run.Software, len(trials))
	}
	want := output(t, r.clone, nil, testenv.Locbench(t), "services", "list")
	testenv.Equal(t, output(t, dir, nil, binary, "services", "list"), want, "it lists")
}
