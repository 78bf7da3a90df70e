package contender

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/docker"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/services"
)

func dockerfile(text string, args map[string]string) bench.Service {
	return bench.Service{
		Name: "web", Dir: "mine/web", Docker: &bench.DockerRecipe{Dockerfile: "build/Dockerfile", Args: args},
		Files: fstest.MapFS{"build/Dockerfile": {Data: []byte(text)}},
	}
}

func TestNeeds(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"plain", "FROM a AS b\nRUN x <y >z\nCOPY --from=b --chown=1:1 a b\nADD --chown=1 a b\nHEALTHCHECK --interval=5s CMD x\n", ""},
		{"mount", "FROM a\nRUN --mount=type=cache,target=/c make\n", "2 RUN --mount"},
		{"mount over lines", "FROM a\n\n# why\nRUN \\\n  # more\n  --mount=type=cache,target=/c \\\n  make\n", "4 RUN --mount"},
		{"backticks escape", "# escape=`\nFROM a\nRUN `\n --network=none make\n", "3 RUN --network"},
		{"chmod", "FROM a\nCOPY --chmod=755 a b\nADD --chmod=755 a b\n", "2 COPY --chmod, 3 ADD --chmod"},
		{"link", "FROM a\nCOPY --link a b\n", "2 COPY --link"},
		{"lower-case letters", "from a\ncopy --link a b\n", "2 COPY --link"},
		{"here-document", "FROM a\nRUN <<EOF\nfrom x\nRUN --mount=type=cache x\nEOF\nCOPY <<-\"A\" <<B /d/\na\nA\nb\nB\n", "2 RUN <<EOF, 6 COPY <<A"},
		{"here-string", "FROM a\nSHELL [\"bash\", \"-c\"]\nRUN cat <<< word\n", ""},
		{"build platform", "FROM --platform=$BUILDPLATFORM a\nFROM --platform=${TARGETPLATFORM} a\nFROM --platform=linux/amd64 a\n",
			"1 FROM --platform=$BUILDPLATFORM, 2 FROM --platform=${TARGETPLATFORM}"},
		{"target architecture", "FROM a\nARG TARGETARCH\nARG GIVEN TARGETOS=linux\n", "2 ARG TARGETARCH, 3 ARG TARGETOS"},
		{"architecture given", "FROM a\nARG BUILDARCH\n", ""},
		{"on build", "FROM a\nONBUILD RUN --mount=type=secret,id=x make\n", "2 RUN --mount"},
		{"checksum", "FROM a\nADD --checksum=sha256:0 https://example.org/x /\n", "2 ADD --checksum"},
		{"newest", "FROM a\nCOPY --parents --exclude=*.md a b\n", "2 COPY --parents, 2 COPY --exclude"},
		{"repository", "FROM a\nADD https://example.org/x.git#v1 /x\nADD https://example.org/x.tar.gz /git.git\n", "2 ADD https://example.org/x.git#v1"},
		{"another language", "# syntax=example.org/lang:1\nFROM a\n", "1 # syntax=example.org/lang:1"},
		{"its own language", "# syntax=docker/dockerfile:1.7-labs\nFROM a\n", ""},
		{"no Dockerfile", "{}", ""},
		{"empty", "", ""},
		{"endless here-document", "FROM a\nRUN <<EOF\nx\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			all := buildKitNeeds(dockerfile(tt.text, map[string]string{"BUILDARCH": "amd64"}))
			var got []string
			for _, n := range all {
				got = append(got, fmt.Sprint(n.line, " ", n.what))
			}
			testenv.Equal(t, strings.Join(got, ", "), tt.want)
		})
	}
}

func TestByBuildKit(t *testing.T) {
	const mount, here = "FROM a\nRUN --mount=type=cache,target=/c make\n", "FROM a\nRUN <<EOF\nEOF\n"
	for _, tt := range []struct {
		name, text string
		info       docker.Info
		kit        bool
		err        string // part of the error
	}{
		{"plain", "FROM a\n", docker.Info{Builder: docker.BuilderBuildKit}, false, ""},
		{"plain, classic", "FROM a\n", docker.Info{}, false, ""},
		{"mount", mount, docker.Info{Builder: docker.BuilderBuildKit, Version: "20.10.24+dfsg1"}, true, ""},
		{"mount, classic", mount, docker.Info{OS: "windows", Version: "28.0"}, false,
			"mine/web/build/Dockerfile:2: the engine cannot build it: RUN --mount needs BuildKit, missing in this engine (28.0, windows). Build it yourself (docker build -t web .) and write `image: web` in place of its Dockerfile"},
		{"mount, Podman", mount, docker.Info{Builder: docker.BuilderBuildah, Version: "5.4.0"}, false, ""},
		{"here-document", here, docker.Info{Builder: docker.BuilderBuildKit, Version: "23.0.0"}, true, ""},
		{"here-document, another product", here, docker.Info{Builder: docker.BuilderBuildKit, Version: "dev"}, true, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			svc := dockerfile(tt.text, nil)
			kit, err := byBuildKit(svc, tt.info)
			if kit != tt.kit || (err == nil) != (tt.err == "") || err != nil && (!strings.Contains(err.Error(), tt.err) || !errors.Is(err, ErrBuildKit)) {
				t.Errorf("%v, %v", kit, err)
			}
			testenv.Equal(t, CheckBuilder(svc, tt.info) == nil, err == nil, "CheckBuilder disagrees")
		})
	}
}

// TestCheckBuilder checks the Dockerfiles of all variants.
func TestCheckBuilder(t *testing.T) {
	svc := dockerfile("FROM a\n", nil)
	svc.Files.(fstest.MapFS)["fast"] = &fstest.MapFile{Data: []byte("FROM a\nCOPY --chmod=1 a b\n")}
	svc.Variants = []bench.Variant{{Name: "v"}, {Name: "fast", Dockerfile: "fast"}, {Name: "same", Dockerfile: "fast"}, {Name: "ready", Image: "x"}}
	testenv.Equal(t, NeedsBuildKit(svc), "mine/web/fast:2: COPY --chmod")
	if err := CheckBuilder(svc, docker.Info{}); err == nil || strings.Count(err.Error(), "mine/web/fast:2") != 1 {
		t.Error(err)
	}
}

// TestBundledAreClassic: no bundled contender needs BuildKit.
func TestBundledAreClassic(t *testing.T) {
	packed, err := Unpack(services.Packed)
	testenv.OK(t, err)
	all, err := Discover(Source{FS: packed, Name: "services"})
	if err != nil || len(all) == 0 {
		t.Fatal(len(all), err)
	}
	for _, s := range all {
		testenv.Equal(t, NeedsBuildKit(s), "")
	}
}

func FuzzNeeds(f *testing.F) {
	f.Add("# syntax=a\n# escape=`\nFROM --platform=$BUILDPLATFORM a\nONBUILD RUN --mount=x <<A <<B\nA\nB\nADD a.git b\n")
	packed, err := Unpack(services.Packed)
	testenv.OK(f, err)
	_ = fs.WalkDir(packed, ".", func(name string, d fs.DirEntry, err error) error {
		if text, readErr := fs.ReadFile(packed, name); err == nil && path.Base(name) == "Dockerfile" && readErr == nil {
			f.Add(string(text))
		}
		return nil
	})
	f.Fuzz(func(t *testing.T, text string) { buildKitNeeds(dockerfile(text, nil)) })
}
