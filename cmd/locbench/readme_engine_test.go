//go:build acceptance && engine && unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// TestReadmeCommands runs every block marked "sh" of README.md and of the pages of docs, as a user
// would type it, except the test command. Blocks marked "console" are not run: they need a network,
// an Elasticsearch, a container build, a terminal, the user's own results, or minutes of load.
// Blocks marked "text" are output.
func TestReadmeCommands(t *testing.T) {
	t.Parallel()
	for _, page := range readerPages(t) {
		t.Run(page, func(t *testing.T) {
			for _, block := range fences(readPage(t, page)) {
				if block.word == "sh" && strings.TrimSpace(block.text) != "go test ./..." {
					t.Run(fmt.Sprintf("line %d", block.line), func(t *testing.T) {
						typeInto(t, t.TempDir(), strings.ReplaceAll(block.text, "CGO_ENABLED=0 go run ./cmd/locbench", "locbench"))
					})
				}
			}
		})
	}
}

// typeInto runs lines of a shell in dir.
func typeInto(t *testing.T, dir, block string) {
	t.Helper()
	cmd := exec.Command("sh", "-eux", "-c", block)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(testenv.Locbench(t))+":"+os.Getenv("PATH"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s\n%s", err, block, out)
	}
}
