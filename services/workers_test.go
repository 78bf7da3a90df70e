package services_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// node-nest counts its CPUs as node-express does: their files differ by types only.
func TestWorkersOfNode(t *testing.T) {
	javascript := testenv.Must(os.ReadFile("node-express/src/cgroup.js"))(t)
	typescript := testenv.Must(os.ReadFile("node-nest/src/cgroup.ts"))(t)
	types := regexp.MustCompile(`: (string|number|undefined)( \| undefined)?`)
	testenv.Equal(t, types.ReplaceAllString(string(typescript), ""), string(javascript))
	testenv.Contains(t, string(javascript), "!availableParallelism }")
}
