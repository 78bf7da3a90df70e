//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"locbench/internal/profile"
)

// fenced returns the blocks of a Markdown text that are fenced with the given word.
func fenced(text, word string) (blocks []string) {
	for _, part := range strings.Split(text, "\n```"+word+"\n")[1:] {
		block, _, _ := strings.Cut(part, "\n```")
		blocks = append(blocks, block)
	}
	return blocks
}

// TestReadmeCommands runs every block marked "sh" as a user would type it, but for the test command, which is what runs now.
func TestReadmeCommands(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := fenced(string(text), "sh")
	if len(blocks) < 3 {
		t.Fatalf("README.md has %d blocks of commands", len(blocks))
	}
	binary := locbenchBinary(t)
	for _, block := range blocks {
		if strings.TrimSpace(block) == "go test -timeout 30m ./..." {
			continue
		}
		block = strings.ReplaceAll(block, "CGO_ENABLED=0 go run ./cmd/locbench", "locbench")
		cmd := exec.Command("sh", "-eux", "-c", block)
		cmd.Dir = t.TempDir()
		cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(binary)+":"+os.Getenv("PATH"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s\n%s", err, block, out)
		}
	}
}

// TestReadmeProfile reads the profile that the README shows.
func TestReadmeProfile(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, block := range fenced(string(text), "yaml") {
		if strings.HasPrefix(block, "contenders:") {
			found++
			if _, err := profile.Parse("README.md", []byte(block)); err != nil {
				t.Error(err)
			}
		}
	}
	if found != 1 {
		t.Errorf("%d profiles in README.md", found)
	}
}
