package contender

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"strings"

	"github.com/locbench/locbench/internal/bench"
)

const maxHashed = 64 << 20 // the most bytes of one source file

// SourceHash returns a hash of a contender's sources, which is the same for a checkout, another
// folder and the binary. It covers the files of a build and the manifest, without those that
// .dockerignore leaves out, descriptions, .gitignore and .git.
func SourceHash(svc bench.Service) (string, error) {
	list, err := sources(svc, ManifestName, "Dockerfile")
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, e := range list {
		if e.mode.IsDir() || noSource(e.name) {
			continue
		}
		if e.size > maxHashed {
			return "", fmt.Errorf("%s is too large for a source", e.name)
		}
		fmt.Fprintf(h, "%d:%s%d:%s%d:", len(e.name), e.name, len(e.link), e.link, e.size)
		if e.link == "" {
			if err := copyFile(h, svc.Files, e); err != nil {
				return "", fmt.Errorf("read %s: %w", e.name, err)
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}

func noSource(name string) bool {
	base := path.Base(name)
	return strings.HasSuffix(base, ".md") || base == ".gitignore" || base == "rustfmt.toml" ||
		name == ".git" || strings.HasPrefix(name, ".git/") // a folder, or the file of a worktree
}
