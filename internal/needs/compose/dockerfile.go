package compose

import (
	"path"
	"path/filepath"

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
func (d dockerfile) Short() string {
	folder, name := filepath.Split(string(d))
	return path.Join(filepath.Base(folder), name)
}

// maxDockerfile is the most of a Dockerfile that is read, in bytes.
const maxDockerfile = 1 << 20
