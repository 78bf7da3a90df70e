package contender_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"go.uber.org/goleak"

	"locbench/internal/bench"
	"locbench/internal/contender"
	"locbench/internal/docker"
	"locbench/internal/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var sh = []string{"sh", "-c"}

func script(text string) []string { return append(append([]string(nil), sh...), text) }

func needShell(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("no sh here")
	}
}

func shellService(build ...[]string) bench.Service {
	return bench.Service{
		Name: "shell", Variant: "v", Port: 8080, Dir: "services/shell",
		Files:   fstest.MapFS{"src/main.sh": {Data: []byte("#!/bin/sh\necho hello\n")}, "junk/x": {}, ".dockerignore": {Data: []byte("junk")}},
		Process: &bench.ProcessRecipe{Build: build, Command: []string{"{{.Dir}}/service"}},
	}
}

func TestBuildProcess(t *testing.T) {
	needShell(t)
	svc := shellService(script("echo building {{.Name}}; test ! -e junk"), script("cp src/main.sh {{.Dir}}/service"))
	var out bytes.Buffer
	opts := contender.BuildOptions{Cache: t.TempDir(), Out: &out}
	a, err := contender.BuildProcess(t.Context(), svc, opts)
	if err != nil {
		t.Fatal(err)
	}
	if a.BuildCached || a.BuildTime <= 0 || a.BinarySize != 21 || !strings.HasPrefix(filepath.Base(a.Dir), "shell-") {
		t.Errorf("%+v", a)
	}
	if !strings.Contains(out.String(), "building shell\n") {
		t.Errorf("output: %s", &out)
	}
	filled, _, err := contender.Fill(svc, a, bench.Template{})
	if err != nil {
		t.Fatal(err)
	}
	said, err := exec.Command(filled.Command[0]).Output() // the script has kept, or got, its x bit
	if err != nil || string(said) != "hello\n" {
		t.Errorf("%q: %q, %v", filled.Command, said, err)
	}
	out.Reset()
	again, err := contender.BuildProcess(t.Context(), svc, opts)
	if err != nil || !again.BuildCached || again.BuildTime != 0 || again.Dir != a.Dir || again.BinarySize != a.BinarySize || out.Len() > 0 {
		t.Errorf("again: %+v, %v, output %q", again, err, &out)
	}
	svc.Process.Build[0] = script("echo other")
	other, err := contender.BuildProcess(t.Context(), svc, opts)
	if err != nil || other.BuildCached || other.Dir == a.Dir {
		t.Errorf("other build: %+v, %v", other, err)
	}
}

func TestBuildProcessFails(t *testing.T) {
	needShell(t)
	cache := t.TempDir()
	for want, build := range map[string][]string{
		"exit status 3; it said last:\nno such crate": script("echo no such crate >&2; exit 3"),
		"run no-such-compiler: it is not installed":   {"no-such-compiler"},
	} {
		t.Run(want, func(t *testing.T) {
			svc := shellService(build)
			_, err := contender.BuildProcess(t.Context(), svc, contender.BuildOptions{Cache: cache})
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "build contender shell:v") {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
	left, err := filepath.Glob(filepath.Join(cache, "*", "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if _, err := contender.BuildProcess(t.Context(), bench.Service{Name: "x"}, contender.BuildOptions{}); err == nil || !strings.Contains(err.Error(), "--runtime docker") {
		t.Error(err)
	}
}

// TestCancelEndsTheGroup cancels a build whose grandchild would write a file later.
func TestCancelEndsTheGroup(t *testing.T) {
	needShell(t)
	cache := t.TempDir()
	ready, late := filepath.Join(cache, "ready"), filepath.Join(cache, "late")
	svc := shellService(script("(sleep 1; touch " + late + ") & touch " + ready + "; sleep 60"))
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := contender.BuildProcess(ctx, svc, contender.BuildOptions{Cache: filepath.Join(cache, "build")})
		done <- err
	}()
	for range 500 {
		if _, err := os.Stat(ready); err == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	why := errors.New("interrupted")
	cancel(why)
	if err := <-done; !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
	time.Sleep(1500 * time.Millisecond)
	if _, err := os.Stat(late); err == nil {
		t.Error("a process of the build lived on")
	}
}

// TestBuildTakesTooLong ends a build that would never end.
func TestBuildTakesTooLong(t *testing.T) {
	needShell(t)
	_, err := contender.BuildProcess(t.Context(), shellService(script("sleep 60")), contender.BuildOptions{Cache: t.TempDir(), Within: 300 * time.Millisecond})
	if err == nil || !strings.Contains(err.Error(), "it was not built within 300ms") {
		t.Errorf("got %v", err)
	}
}

// TestDaemonOfBuildIsEnded builds with a command that leaves a process behind which holds its
// output open.
func TestDaemonOfBuildIsEnded(t *testing.T) {
	needShell(t)
	svc := shellService(script("sleep 60 & echo $! > pid; cp src/main.sh service"))
	a, err := contender.BuildProcess(t.Context(), svc, contender.BuildOptions{Cache: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	pid, err := os.ReadFile(filepath.Join(a.Dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	// A killed process may stay a zombie where nobody reaps it; it then has no command line.
	for range 250 {
		cmdline, err := os.ReadFile("/proc/" + strings.TrimSpace(string(pid)) + "/cmdline")
		if err != nil || !strings.Contains(string(cmdline), "sleep") {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("process %s lives on", pid)
}

func TestBuiltinProcess(t *testing.T) {
	a, err := contender.BuildProcess(t.Context(), bench.Service{Name: "go-nethttp", Builtin: true}, contender.BuildOptions{})
	self, selfErr := os.Executable()
	if err != nil || selfErr != nil || len(a.Command) != 2 || a.Command[0] != self || a.Command[1] != "serve" || a.BinarySize == 0 {
		t.Errorf("%+v, %v", a, err)
	}
}

// hello is a static program that says what it was started with.
func hello(t *testing.T, cgo bool) string {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no Go toolchain here")
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module hello\n\ngo 1.21\n")
	text := "package main\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\nfunc main() { fmt.Println(\"hello\", os.Args[1:]) }\n"
	enabled := "CGO_ENABLED=0"
	if cgo {
		if _, err := exec.LookPath("gcc"); err != nil {
			t.Skip("no C compiler here")
		}
		enabled = "CGO_ENABLED=1"
		text = strings.Replace(text, "import (", "import \"C\"\n\nimport (", 1)
	}
	write(t, filepath.Join(dir, "main.go"), text)
	cmd := exec.Command("go", "build", "-race=false", "-ldflags=-s -w", "-o", "hello", ".")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), enabled, "GOOS=linux", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return filepath.Join(dir, "hello")
}

func TestDynamicBinary(t *testing.T) {
	builtin := bench.Service{Name: "go-nethttp", Variant: "builtin", Builtin: true}
	engine := fakeEngine{arch: runtime.GOARCH}
	dynamic := hello(t, true)
	for path, why := range map[string]string{dynamic: "linked to shared libraries (libc.so.6)", "build_test.go": "no Linux binary"} {
		_, err := contender.BuildImage(t.Context(), engine, builtin, contender.BuildOptions{Self: path, Sources: t.TempDir()})
		var not *contender.NotStaticError
		if !errors.As(err, &not) || !strings.Contains(err.Error(), why) || !strings.Contains(err.Error(), "CGO_ENABLED=0 GOOS=linux GOARCH="+runtime.GOARCH+" go build ./cmd/locbench") {
			t.Errorf("%s: got %v, want %s", path, err, why)
		}
	}
	// With the sources at hand a static one is built.
	sources := t.TempDir()
	write(t, filepath.Join(sources, "go.mod"), "module locbench\n\ngo 1.21\n")
	write(t, filepath.Join(sources, "cmd", "locbench", "main.go"), "package main\n\nfunc main() { println(\"static\") }\n")
	write(t, filepath.Join(sources, "deep", "er", "x"), "")
	var out bytes.Buffer
	opts := contender.BuildOptions{Self: dynamic, Sources: filepath.Join(sources, "deep", "er"), Cache: t.TempDir(), Out: &out}
	a, err := contender.BuildImage(t.Context(), engine, builtin, opts)
	if err != nil || !strings.HasPrefix(a.Image, "locbench/go-nethttp:builtin-") || !strings.Contains(out.String(), "building one that does from "+sources) {
		t.Errorf("%+v, %v, %s", a, err, &out)
	}
	engine.arch = "arm64"
	if runtime.GOARCH == "arm64" {
		engine.arch = "amd64"
	}
	_, err = contender.BuildImage(t.Context(), engine, builtin, contender.BuildOptions{Self: hello(t, false), Sources: os.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "for another processor") {
		t.Errorf("other processor: %v", err)
	}
}

// fakeEngine knows no image until it has built or pulled one, reads every context to its end, and
// says that all images are 7 bytes.
type fakeEngine struct {
	arch   string
	images map[string]bool
	fail   error
	asked  *docker.BuildOptions // of the last build, where not nil
}

func (f fakeEngine) BuildImage(_ context.Context, tar io.Reader, o docker.BuildOptions, out io.Writer) (string, error) {
	if f.fail != nil {
		return "", f.fail // without reading the context
	}
	if _, err := io.Copy(io.Discard, tar); err != nil {
		return "", err
	}
	if f.images != nil {
		f.images[o.Tag] = true
	}
	if f.asked != nil {
		*f.asked = o
	}
	_, err := io.WriteString(out, "built\n")
	return "sha256:1", err
}

func (f fakeEngine) ImageInspect(_ context.Context, ref string) (docker.Image, error) {
	if f.images != nil && !f.images[ref] {
		return docker.Image{}, docker.ErrNotFound
	}
	return docker.Image{ID: "sha256:1", Size: 7}, nil
}

func (f fakeEngine) Pull(_ context.Context, ref string, _ io.Writer) error {
	if f.fail != nil {
		return f.fail
	}
	f.images[ref] = true
	return nil
}

func (f fakeEngine) Info() docker.Info { return docker.Info{OS: "linux", Arch: f.arch} }

func TestBuildImage(t *testing.T) {
	engine := fakeEngine{arch: "amd64", images: map[string]bool{}, asked: new(docker.BuildOptions)}
	svc := bench.Service{
		Name: "web__x", Variant: "v", Files: fstest.MapFS{"Dockerfile": {Data: []byte("FROM scratch\n")}},
		Docker: &bench.DockerRecipe{Dockerfile: "Dockerfile", Command: []string{"x"}},
	}
	a, err := contender.BuildImage(t.Context(), engine, svc, contender.BuildOptions{})
	if err != nil || a.BuildCached || a.ImageSize != 7 || a.ImageID != "sha256:1" || a.BuildTime <= 0 || len(a.Command) != 1 {
		t.Fatalf("%+v, %v", a, err)
	}
	if again, err := contender.BuildImage(t.Context(), engine, svc, contender.BuildOptions{}); err != nil || !again.BuildCached || again.Image != a.Image || again.BuildTime != 0 {
		t.Errorf("again: %+v, %v", again, err)
	}
	if rebuilt, err := contender.BuildImage(t.Context(), engine, svc, contender.BuildOptions{Rebuild: true}); err != nil || rebuilt.BuildCached {
		t.Errorf("rebuilt: %+v, %v", rebuilt, err)
	}
	svc.Docker.Args = map[string]string{"A": "b"}
	if other, err := contender.BuildImage(t.Context(), engine, svc, contender.BuildOptions{}); err != nil || other.BuildCached || other.Image == a.Image {
		t.Errorf("other arguments: %+v, %v", other, err)
	}
	if engine.asked.NoCache {
		t.Error("built without what the engine has kept")
	}
	svc.Docker.Args = map[string]string{"TARGET_CPU": "native"}
	if _, err := contender.BuildImage(t.Context(), engine, svc, contender.BuildOptions{}); err != nil || !engine.asked.NoCache {
		t.Errorf("layers of another processor may be used: %v", err)
	}
	pulled := bench.Service{Name: "theirs", Docker: &bench.DockerRecipe{Image: "example.org/x:1"}}
	for _, cached := range []bool{false, true} {
		a, err := contender.BuildImage(t.Context(), engine, pulled, contender.BuildOptions{})
		if err != nil || a.Image != "example.org/x:1" || a.BuildCached != cached {
			t.Errorf("pulled: %+v, %v", a, err)
		}
	}
	engine.fail = errors.New("no space left")
	engine.images = map[string]bool{}
	for _, svc := range []bench.Service{svc, pulled} {
		if _, err := contender.BuildImage(t.Context(), engine, svc, contender.BuildOptions{}); !errors.Is(err, engine.fail) {
			t.Errorf("got %v", err)
		}
	}
	if _, err := contender.BuildImage(t.Context(), engine, bench.Service{Name: "p"}, contender.BuildOptions{}); err == nil || !strings.Contains(err.Error(), "--runtime process") {
		t.Error(err)
	}
}

func TestBuildImageWithDocker(t *testing.T) {
	testenv.Docker(t)
	engine, err := docker.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	binary := hello(t, false)
	data, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	for name, svc := range map[string]bench.Service{
		"builtin": {Name: "contender-test", Variant: "builtin", Builtin: true},
		"dockerfile": {
			Name: "contender-test", Variant: "release", Files: fstest.MapFS{
				"hello": {Data: data, Mode: 0o755}, "junk": {}, ".dockerignore": {Data: []byte("*\n!hello\n")},
				"build/Dockerfile": {Data: []byte("FROM scratch AS one\nARG WORD\nCOPY . /\nENV WORD=$WORD\nCMD [\"/hello\", \"serve\"]\nFROM scratch\n")},
			},
			Docker: &bench.DockerRecipe{Dockerfile: "build/Dockerfile", Target: "one", Args: map[string]string{"WORD": time.Now().String()}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			opts := contender.BuildOptions{Self: binary, Out: &out}
			a, err := contender.BuildImage(t.Context(), engine, svc, opts)
			if err != nil {
				t.Fatalf("%v\n%s", err, &out)
			}
			t.Cleanup(func() {
				if err := engine.RemoveImage(context.Background(), a.Image); err != nil {
					t.Error(err)
				}
			})
			if a.BuildCached || a.ImageSize < int64(len(data)) || !strings.Contains(out.String(), "FROM scratch") {
				t.Errorf("%+v, output %s", a, &out)
			}
			said, err := exec.Command("docker", "run", "--rm", "--network=none", a.Image).CombinedOutput()
			if err != nil || string(said) != "hello [serve]\n" {
				t.Errorf("%v: %s", err, said)
			}
			img, err := engine.ImageInspect(t.Context(), a.Image)
			if err != nil || img.Labels[contender.LabelContender] != "contender-test" || img.ID != a.ImageID {
				t.Errorf("%+v, %v", img, err)
			}
			if again, err := contender.BuildImage(t.Context(), engine, svc, opts); err != nil || !again.BuildCached || again.ImageID != a.ImageID {
				t.Errorf("again: %+v, %v", again, err)
			}
		})
	}
}
