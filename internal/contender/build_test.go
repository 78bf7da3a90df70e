package contender_test

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"go.uber.org/goleak"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/docker"
	"github.com/locbench/locbench/internal/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestBuiltinProcess(t *testing.T) {
	a, err := contender.BuildProcess(t.Context(), bench.Service{Name: "go-nethttp", Builtin: true}, contender.BuildOptions{})
	self, selfErr := os.Executable()
	if err != nil || selfErr != nil || len(a.Command) != 2 || a.Command[0] != self || a.Command[1] != "serve" || a.BinarySize == 0 {
		t.Errorf("%+v, %v", a, err)
	}
}

// fakeEngine has no image until it has built or pulled one, reads every context to its end, and
// reports that all images have 7 bytes.
type fakeEngine struct {
	arch   string
	images map[string]bool
	fail   error
	asked  *docker.BuildOptions // gets the options of the last build; may be nil
	about  docker.Info          // Info without the system
	image  docker.Image         // the image without its ID and size
}

func (f fakeEngine) BuildImage(_ context.Context, tar io.Reader, o docker.BuildOptions, out io.Writer) (string, error) {
	if f.fail != nil {
		return "", f.fail // fails without reading the context
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
	image := f.image
	image.ID, image.Size = "sha256:1", 7
	return image, nil
}

func (f fakeEngine) Pull(_ context.Context, ref string, _ io.Writer) error {
	if f.fail != nil {
		return f.fail
	}
	f.images[ref] = true
	return nil
}

func (f fakeEngine) Info() docker.Info {
	info := f.about
	info.OS, info.Arch = "linux", f.arch
	return info
}

// TestBuildImage_Manifest changes the keys of a manifest for a run, which builds nothing, and
// then those for a build.
func TestBuildImage_Manifest(t *testing.T) {
	files := fstest.MapFS{"Dockerfile": {Data: []byte("FROM scratch\nCOPY . /\n")}, "service.yaml": {Data: []byte("a")}}
	svc := bench.Service{Name: "web", Files: files, Docker: &bench.DockerRecipe{Dockerfile: "Dockerfile"}}
	engine := fakeEngine{arch: "amd64", images: map[string]bool{}}
	build := func() bench.Artifact {
		t.Helper()
		a := testenv.Must(contender.BuildImage(t.Context(), engine, svc, contender.BuildOptions{}))(t)
		return a
	}
	first := build()
	files["service.yaml"] = &fstest.MapFile{Data: []byte("b")}
	a := build()
	testenv.Check(t, a.BuildCached && a.Image == first.Image, "built again: %+v", a)
	files["sub/service.yaml"] = &fstest.MapFile{Data: []byte("of the service itself")}
	a = build()
	testenv.Check(t, !a.BuildCached, "not built: %+v", a)
}

// TestBuildImage_Settings: contenders that differ only by what the profile gives them when they
// start have one image, under the name of their variant.
func TestBuildImage_Settings(t *testing.T) {
	files := fstest.MapFS{"Dockerfile": {Data: []byte("FROM scratch\n")}}
	svc := bench.Service{Name: "web", Variant: "fast", Files: files, Docker: &bench.DockerRecipe{Dockerfile: "Dockerfile"}}
	engine := fakeEngine{arch: "amd64", images: map[string]bool{}, asked: &docker.BuildOptions{}}
	first := testenv.Must(contender.BuildImage(t.Context(), engine, svc, contender.BuildOptions{}))(t)
	base := "fast"
	set := testenv.Must(contender.WithSettings(svc, bench.Settings{
		Selection: bench.Selection{Contender: "web", Variant: "pool-2"}, Base: &base, Env: map[string]string{"POOL": "2"},
	}))(t)
	second := testenv.Must(contender.BuildImage(t.Context(), engine, set, contender.BuildOptions{}))(t)
	testenv.Check(t, set.Variant == "pool-2" && second.BuildCached && second.Image == first.Image, "%+v, %+v", first, second)
	testenv.Contains(t, first.Image, "locbench/web:fast-")
}

// TestBuildImage_Ignore: the .dockerignore of a Dockerfile replaces the folder's.
func TestBuildImage_Ignore(t *testing.T) {
	files := fstest.MapFS{"Dockerfile": {Data: []byte("FROM scratch\nCOPY . /\n")}, ".dockerignore": {Data: []byte("a")}, "a": {}, "b": {}}
	svc := bench.Service{Name: "web", Files: files, Docker: &bench.DockerRecipe{Dockerfile: "Dockerfile"}}
	engine := packed{fakeEngine: fakeEngine{arch: "amd64", images: map[string]bool{}}, names: new([]string)}
	for _, want := range []string{".dockerignore Dockerfile b", "Dockerfile Dockerfile.dockerignore a"} {
		testenv.OK(t, testenv.Err(contender.BuildImage(t.Context(), engine, svc, contender.BuildOptions{})))
		testenv.Equal(t, strings.Join(*engine.names, " "), want)
		files["Dockerfile.dockerignore"] = &fstest.MapFile{Data: []byte("b")}
	}
}

// packed records the names in the last context.
type packed struct {
	fakeEngine
	names *[]string
}

func (p packed) BuildImage(ctx context.Context, from io.Reader, o docker.BuildOptions, out io.Writer) (string, error) {
	*p.names = nil
	for r := tar.NewReader(from); ; {
		h, err := r.Next()
		if err != nil {
			break
		}
		*p.names = append(*p.names, h.Name)
	}
	return p.fakeEngine.BuildImage(ctx, from, o, out)
}

func TestBuildImage_OtherProcessor(t *testing.T) {
	for _, tt := range []struct {
		engine, image, os string
		refused           bool
	}{
		{"amd64", "amd64", "linux", false}, {"amd64", "", "", false}, {"amd64", "386", "linux", false}, {"arm64", "arm", "linux", false},
		{"amd64", "arm64", "linux", true}, {"arm64", "amd64", "linux", true}, {"386", "amd64", "linux", true}, {"amd64", "riscv64", "linux", true},
		{"amd64", "amd64", "windows", true},
	} {
		engine := fakeEngine{arch: tt.engine, images: map[string]bool{"theirs": true}, image: docker.Image{Arch: tt.image, OS: tt.os}}
		for name, svc := range map[string]bench.Service{
			"found": {Name: "web", Docker: &bench.DockerRecipe{Image: "theirs"}},
			"built": {Name: "web", Files: fstest.MapFS{"Dockerfile": {}}, Docker: &bench.DockerRecipe{Dockerfile: "Dockerfile"}},
			"again": {Name: "web", Files: fstest.MapFS{"Dockerfile": {}}, Docker: &bench.DockerRecipe{Dockerfile: "Dockerfile"}},
		} {
			_, err := contender.BuildImage(t.Context(), engine, svc, contender.BuildOptions{})
			if (err != nil) != tt.refused || err != nil && !strings.Contains(err.Error(), "is for "+tt.os+"/"+tt.image) {
				t.Errorf("%s, %+v: %v", name, tt, err)
			}
		}
	}
}

// TestBuildKit: what the classic builder cannot build is built with the engine's BuildKit, if it has
// one; the error of a failure says what the build had.
func TestBuildKit(t *testing.T) {
	for text, kit := range map[string]bool{
		"RUN x <y >z\nCOPY --from=b --chown=1:1 a b\nHEALTHCHECK --interval=5s CMD x": false, "RUN cat <<< word": false,
		"# syntax=docker/dockerfile:1.7\nRUN npm --network-timeout 9": false, "ADD https://example.org/x.tar.gz /git": false,
		"RUN --mount=type=cache,target=/c make": true, "RUN \\\n  # more\n  --network=none make": true, "copy --chmod=755 a b": true,
		"COPY --link a b": true, "RUN <<EOF\nx\nEOF": true, "COPY <<-\"A\" /d\na\nA": true, "FROM --platform=$BUILDPLATFORM a": true,
		"ARG TARGETARCH": true, "ONBUILD RUN --mount=type=secret,id=x make": true, "ADD --checksum=sha256:0 https://example.org/x /": true,
		"COPY --parents --exclude=*.md a b": true, "ADD https://example.org/x.git#v1 /x": true,
	} {
		svc := bench.Service{
			Name: "web", Dir: "mine/web", Files: fstest.MapFS{"Dockerfile": {Data: []byte("FROM a\n" + text + "\n")}},
			Docker: &bench.DockerRecipe{Dockerfile: "Dockerfile"},
		}
		for _, has := range []bool{true, false} {
			engine := fakeEngine{arch: "amd64", images: map[string]bool{}, asked: new(docker.BuildOptions), about: docker.Info{BuildKit: has}}
			testenv.OK(t, testenv.Err(contender.BuildImage(t.Context(), engine, svc, contender.BuildOptions{})))
			testenv.Equal(t, engine.asked.BuildKit, has && kit, text)
			engine.fail, engine.images = errors.New("a is missing"), map[string]bool{}
			testenv.Fails(t, testenv.Err(contender.BuildImage(t.Context(), engine, svc, contender.BuildOptions{})), "a is missing "+
				"(built with only mine/web as its context; if 'docker build' succeeds: docker build -t web ., and `image: web` in place of the Dockerfile)")
		}
	}
}

func TestBuildImage(t *testing.T) {
	engine := fakeEngine{arch: "amd64", images: map[string]bool{}, asked: new(docker.BuildOptions), image: docker.Image{Healthcheck: []string{"check"}}}
	svc := bench.Service{
		Name: "web__x", Variant: "v", Files: fstest.MapFS{"Dockerfile": {Data: []byte("FROM scratch\n")}},
		Docker: &bench.DockerRecipe{Dockerfile: "Dockerfile", Command: []string{"x"}},
	}
	a, err := contender.BuildImage(t.Context(), engine, svc, contender.BuildOptions{})
	if err != nil || a.BuildCached || !a.Healthcheck || a.ImageSize != 7 || a.ImageID != "sha256:1" || a.BuildTime <= 0 || len(a.Command) != 1 {
		t.Fatalf("%+v, %v", a, err)
	}
	if again, err := contender.BuildImage(t.Context(), engine, svc, contender.BuildOptions{}); err != nil || !again.BuildCached || again.Image != a.Image || again.BuildTime != 0 {
		t.Errorf("again: %+v, %v", again, err)
	}
	svc.Docker.Args = map[string]string{"A": "b"}
	other, err := contender.BuildImage(t.Context(), engine, svc, contender.BuildOptions{})
	testenv.Check(t, err == nil && !other.BuildCached && other.Image != a.Image, "other arguments: %+v, %v", other, err)
	testenv.Check(t, !engine.asked.NoCache, "built without what the engine has kept")
	svc.Docker.Args = map[string]string{"TARGET_CPU": "native"}
	_, err = contender.BuildImage(t.Context(), engine, svc, contender.BuildOptions{})
	testenv.Check(t, err == nil && engine.asked.NoCache, "layers of another processor may be used: %v", err)
	pulled := bench.Service{Name: "theirs", Docker: &bench.DockerRecipe{Image: "example.org/x:1"}}
	for _, cached := range []bool{false, true} {
		a, err := contender.BuildImage(t.Context(), engine, pulled, contender.BuildOptions{})
		testenv.Check(t, err == nil && a.Image == "example.org/x:1" && a.BuildCached == cached,
			"pulled: %+v, %v", a, err)
	}
	engine.fail = errors.New("no space left")
	engine.images = map[string]bool{}
	for _, svc := range []bench.Service{svc, pulled} {
		_, err := contender.BuildImage(t.Context(), engine, svc, contender.BuildOptions{})
		testenv.Check(t, errors.Is(err, engine.fail), "got %v", err)
	}
	testenv.Fails(t, testenv.Err(contender.BuildImage(t.Context(), engine, bench.Service{Name: "p"}, contender.BuildOptions{})),
		"--runtime process")
}
