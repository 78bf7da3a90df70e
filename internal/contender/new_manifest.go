package contender

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// SchemaName is the schema of manifests. It is next to the contenders' folders, not a source in
// one.
const SchemaName = "service.schema.json"

// Blank makes a new contender called name: a manifest with comments in the folder of that name in
// parent, and the schema of manifests in parent. The folder may exist, with sources and a
// Dockerfile; Blank changes no existing file.
func Blank(name, parent string) error {
	if !namePattern.MatchString(name) {
		return fmt.Errorf("invalid contender name %q: use lower-case letters, digits, `-`, `_`, `.`, "+
			"such as `my-service`", clip(name))
	}
	dir := filepath.Join(parent, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	info, _ := os.Stat(filepath.Join(dir, "Dockerfile"))
	path := filepath.Join(dir, ManifestName)
	err := safe.CreateFile(path, []byte(blank(name, info != nil && info.Mode().IsRegular())))
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s already exists: choose another name or folder", path)
	}
	if err != nil {
		return err
	}
	return Schema.Leave(parent, SchemaName)
}

// blank returns a minimal manifest with comments. name matches namePattern.
func blank(name string, dockerfile bool) string {
	image, file := "docker: {image: \""+name+":latest\"}", "# docker: {dockerfile: Dockerfile}"
	if dockerfile {
		image, file = "# "+image, strings.TrimPrefix(file, "# ")
	}
	return strictyaml.Named("../"+SchemaName) +
		`# One contender: the service that locbench starts, loads and stops. Its name is the folder's.
# All keys: docs/contenders.md in locbench's sources.

# Shown in tables and reports.
# language: Go
# framework: net/http
# version: "1.26"

# How to start it. Choose one: an existing image, ...
` + image + `
# ... an image built from a Dockerfile in this folder, ...
` + file + `
# ... or a program on this machine, for --runtime process. {{.Dir}} is this folder.
# process: {build: [[go, build, -o, service, .]], command: ["{{.Dir}}/service"]}

# Its port. As a process it can get a free one through {{.Port}}, in env or command.
port: 8080
# env: {PORT: "{{.Port}}", API_KEY: "${API_KEY}"}

# What it needs, such as a database; equal needs of several contenders are one. See docs/database.md.
# needs: {db: {image: "postgres:17", environment: {POSTGRES_PASSWORD: "${PGPASSWORD}"}}}

# Requested until ready: the first 2xx or 3xx response ends the start-up time.
ready: {path: /, timeout: 60s}
`
}
