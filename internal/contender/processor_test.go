package contender

import (
	"testing"
	"testing/fstest"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

func TestProcessor(t *testing.T) {
	first := processor()
	testenv.Check(t, first != "" && first == processor(), "this machine's processor: %q, then %q", first, processor())
	const x86 = "vendor_id\t: GenuineIntel\nmodel name\t: Xeon MHz\ncpu MHz\t\t: 2000.1\nflags\t\t: fpu avx\nbogomips\t: 4000\n"
	testenv.Equal(t, changingLine.ReplaceAllString(x86, ""), "vendor_id\t: GenuineIntel\nmodel name\t: Xeon MHz\nflags\t\t: fpu avx\n")
}

// TestImageRef_Native builds for this processor, and for any.
func TestImageRef_Native(t *testing.T) {
	here, there := BuildOptions{Cache: t.TempDir(), Processor: "a"}, BuildOptions{Processor: "b"}
	there.Cache = here.Cache
	for _, tt := range []struct {
		args   map[string]string
		build  []string
		native bool
	}{
		{map[string]string{"TARGET_CPU": "native"}, []string{"cargo", "--config", `build.rustflags=["-C", "target-cpu=native"]`, "build"}, true},
		{map[string]string{"CFLAGS": "-O2 -march=native -g"}, []string{"make", "CFLAGS=-march=native"}, true},
		{map[string]string{"TARGET_CPU": "x86-64-v3"}, []string{"mvn", "-Pnative", "package"}, false},
		{map[string]string{"native": "1", "MODE": "nativeish"}, []string{"native"}, false},
		{nil, nil, false},
	} {
		svc := bench.Service{
			Name: "x", Files: fstest.MapFS{"Dockerfile": {Data: []byte("FROM scratch\n")}},
			Docker: &bench.DockerRecipe{Dockerfile: "Dockerfile", Args: tt.args}, Process: &bench.ProcessRecipe{Build: [][]string{tt.build}},
		}
		first, err1 := ImageRef(svc, "amd64", here)
		second, err2 := ImageRef(svc, "amd64", there)
		testenv.Check(t, err1 == nil && err2 == nil && (first != second) == tt.native,
			"images with %v: %s and %s (%v, %v)", tt.args, first, second, err1, err2)
		one, err1 := newProcessBuild(svc, here)
		two, err2 := newProcessBuild(svc, there)
		testenv.Check(t, err1 == nil && err2 == nil && (one.hash != two.hash) == tt.native,
			"builds with %q: %s and %s (%v, %v)", tt.build, one.hash, two.hash, err1, err2)
	}
}
