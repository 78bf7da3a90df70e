package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/locbench/locbench/internal/testenv"
)

// TestWorkflows holds that a workflow only calls scripts of .ci and targets of the Makefile, which
// run on any machine: a check that exists in a workflow alone cannot be repeated elsewhere.
func TestWorkflows(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	testenv.OK(t, err)
	files, err := filepath.Glob("../../.github/workflows/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d workflows, %v", len(files), err)
	}
	call := regexp.MustCompile(`^(?:sudo env "PATH=\$PATH" )?(?:(\.ci/[a-z0-9]+)|make ([a-z-]+))(?: \$\{\{ matrix\.[a-z]+ \}\})?$`)
	for _, file := range files {
		content, err := os.ReadFile(file)
		testenv.OK(t, err)
		var workflow struct {
			Jobs map[string]struct {
				Steps []struct{ Run string }
			}
		}
		if err := yaml.Unmarshal(content, &workflow); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		calls := 0
		for _, job := range workflow.Jobs {
			for _, step := range job.Steps {
				if step.Run == "" {
					continue
				}
				calls++
				m := call.FindStringSubmatch(strings.TrimSpace(step.Run))
				switch {
				case m == nil:
					t.Errorf("%s runs %q: move it to .ci or the Makefile", file, step.Run)
				case m[1] != "":
					if info, err := os.Stat("../../" + m[1]); err != nil || info.Mode()&0o111 == 0 {
						t.Errorf("%s calls %s, which is not a program", file, m[1])
					}
				case !strings.Contains(string(makefile), "\n"+m[2]+": "):
					t.Errorf("%s calls make %s, which the Makefile does not have", file, m[2])
				}
			}
		}
		if calls == 0 {
			t.Errorf("%s calls nothing", file)
		}
	}
}
