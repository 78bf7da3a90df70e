package compare

import (
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// Images that differ only in labels of locbench are the same.
func TestImagesOfTheSameContents(t *testing.T) {
	image := func(id, contents string) change {
		return func(l *bench.TrialResult) { l.Instance.ImageID, l.Artifact.Contents = id, contents }
	}
	for name, c := range map[string]struct {
		old, fresh string
		differs    bool
	}{
		"the same contents": {"c", "c", false}, "other contents": {"c", "d", true}, "not known": {"", "", true}, "not known of one": {"", "c", true},
	} {
		t.Run(name, func(t *testing.T) {
			r := compared(t, of(trials("a", 2, usual(), image("x", c.old))), of(trials("a", 2, usual(), image("y", c.fresh))), Options{})
			var b strings.Builder
			testenv.OK(t, r.Text(&b, 0))
			testenv.Equal(t, strings.Contains(b.String(), "image: x → y"), c.differs, b.String())
		})
	}
}
