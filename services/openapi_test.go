package services_test

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// TestOpenAPIVersion: the checks published with the original service expect 3.0.0, whatever patch a
// framework would write.
func TestOpenAPIVersion(t *testing.T) {
	version := regexp.MustCompile(`"openapi"(?:\s*:| to)\s*"([^"]*)"`)
	var found []string
	packed := unpack(t)
	err := fs.WalkDir(packed, ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := fs.ReadFile(packed, path)
		if m := version.FindSubmatch(data); err == nil && m != nil {
			contender, _, _ := strings.Cut(path, "/")
			found = append(found, contender)
			testenv.Equal(t, string(m[1]), "3.0.0", path, m[1])
		}
		return err
	})
	want := []string{"go-nethttp", "kt-http4k", "kt-ktor", "rs-actix"}
	testenv.Check(t, err == nil && slices.Equal(found, want), "%v; OpenAPI of %v, want of %v", err, found, want)
}
