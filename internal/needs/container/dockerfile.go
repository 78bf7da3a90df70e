package container

import (
	"bytes"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// dockerfile is the path of a Dockerfile, whose folder is the context of the build.
type dockerfile string

// UnmarshalStrict reads the path of a file of the profile's folder.
func (d *dockerfile) UnmarshalStrict(v strictyaml.Value) {
	file, ok := existing(v, "")
	if _, err := safe.ReadFile(file, maxDockerfile); ok && err != nil {
		v.Wrong("write the path of a Dockerfile, such as `db/Dockerfile`; its folder is the context of the build")
	}
	*d = dockerfile(file)
}

// short returns the path with only the last folder.
func (d dockerfile) short() string {
	folder, name := filepath.Split(string(d))
	return path.Join(filepath.Base(folder), name)
}

// maxDockerfile is the most of a Dockerfile that is read, in bytes.
const maxDockerfile = 1 << 20

var (
	fromLine = regexp.MustCompile(`(?i)^\s*FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?\s*$`)
	argLine  = regexp.MustCompile(`(?i)^\s*ARG\s+(\w+)=["']?([^"'\s]*)`)
	heredoc  = regexp.MustCompile(`<<-?["']?(\w+)["']?`)
	variable = regexp.MustCompile(`\$\{?(\w+)(?::-([^}]*))?\}?`)
)

// base returns the image from which the last stage of a Dockerfile is made; "": it is not known.
func (d dockerfile) base() string {
	text, err := safe.ReadFile(string(d), maxDockerfile)
	if d == "" || err != nil {
		return ""
	}
	stages, args := map[string]string{}, map[string]string{}
	var last, until string
	for line := range bytes.Lines(text) {
		line := strings.TrimRight(string(line), "\r\n")
		if until != "" { // within a here-document
			if strings.TrimLeft(line, "\t") == until {
				until = ""
			}
			continue
		}
		if m := argLine.FindStringSubmatch(line); m != nil && last == "" {
			args[m[1]] = m[2]
		}
		if m := heredoc.FindStringSubmatch(line); m != nil && !strings.HasPrefix(strings.TrimSpace(line), "#") {
			until = m[1]
		}
		m := fromLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		last = variable.ReplaceAllStringFunc(m[1], func(text string) string {
			v := variable.FindStringSubmatch(text)
			if value := args[v[1]]; value != "" {
				return value
			}
			return v[2]
		})
		if of, ok := stages[strings.ToLower(last)]; ok {
			last = of
		}
		if m[2] != "" {
			stages[strings.ToLower(m[2])] = last
		}
	}
	return last
}
