package contender

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

func TestProcessorOf(t *testing.T) {
	x86 := "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\nmodel name\t: Xeon\ncpu MHz\t\t: 2000.1\nflags\t\t: fpu avx\n\nprocessor\t: 1\nflags\t\t: fpu avx\n"
	if got, want := processorOf([]byte(x86)), "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\nmodel name\t: Xeon\nflags\t\t: fpu avx"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if processorOf([]byte(strings.ReplaceAll(x86, "2000.1", "3100.7"))) != processorOf([]byte(x86)) {
		t.Error("another frequency, another processor")
	}
	for old, other := range map[string]string{"Xeon": "EPYC", "fpu avx": "fpu avx avx512f"} {
		t.Run(old, func(t *testing.T) {
			if processorOf([]byte(strings.ReplaceAll(x86, old, other))) == processorOf([]byte(x86)) {
				t.Errorf("%s and %s are the same processor", old, other)
			}
		})
	}
	arm := "processor\t: 0\nBogoMIPS\t: 243.75\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n"
	testenv.Equal(t, processorOf([]byte(arm)), "Features\t: fp asimd\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c")
	if processor() == "" {
		t.Error("nothing is known of this machine's processor")
	}
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
		if err1 != nil || err2 != nil || (first != second) != tt.native {
			t.Errorf("images with %v: %s and %s (%v, %v)", tt.args, first, second, err1, err2)
		}
		one, err1 := newProcessBuild(svc, here)
		two, err2 := newProcessBuild(svc, there)
		if err1 != nil || err2 != nil || (one.hash != two.hash) != tt.native {
			t.Errorf("builds with %q: %s and %s (%v, %v)", tt.build, one.hash, two.hash, err1, err2)
		}
	}
}
