package launch

import (
	"slices"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// TestEnvironment: a process inherits paths, but no variable that changes how it works.
func TestEnvironment(t *testing.T) {
	t.Setenv("PATH", "/bin")
	t.Setenv("JAVA_HOME", "/jdk")
	t.Setenv("DOTNET_ROOT", "/dotnet")
	t.Setenv("HOME", "/home/me")
	for _, k := range []string{"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "NODE_OPTIONS", "GOMAXPROCS", "GOGC", "ELASTICSEARCH_URL"} {
		t.Setenv(k, "from here")
	}
	got := environment(bench.LaunchSpec{Env: map[string]string{"PORT": "1", "HOME": "/elsewhere"}}, "x")
	for _, want := range []string{"PATH=/bin", "JAVA_HOME=/jdk", "DOTNET_ROOT=/dotnet", "HOME=/elsewhere", "PORT=1", envInstance + "=x"} {
		testenv.Check(t, slices.Contains(got, want), "%s is missing", want)
	}
	for _, v := range got {
		k := len(v) - len("=from here")
		testenv.Check(t, k <= 0 || v[k:] != "=from here", "it has %s", v)
	}
}
