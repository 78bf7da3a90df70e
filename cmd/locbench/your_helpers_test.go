//go:build acceptance && unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

const ordersPassword = "let-me-in-please"

// ordersFolder returns a folder with the two services of docs/your-service.md and its files.
func ordersFolder(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	testenv.OK(t, os.CopyFS(filepath.Join(dir, "svc"), os.DirFS(root+"/testdata/orders")))
	for _, file := range []string{"svc/orders-go/service.yaml", "svc/orders-node/service.yaml", "bench.yaml"} {
		writeFile(t, filepath.Join(dir, file), pageFile(t, yourService, file))
	}
	return dir
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
