package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/testenv"
)

func TestMarkdown(t *testing.T) {
	run, trials := fixture()
	var out bytes.Buffer
	testenv.OK(t, Markdown(&out, analysis.Of(run, trials), Options{}))
	testenv.Golden(t, "testdata/summary.md", out.String())
}

func TestLibraryHasItsDigest(t *testing.T) {
	js := testenv.Must(library())(t)
	sum := sha256.Sum256(js)
	testenv.Check(t, hex.EncodeToString(sum[:]) == librarySHA256, "assets/echarts.min.js.gz has digest %x", sum)
	for _, end := range []string{"</script", "<!--"} {
		testenv.Check(t, !bytes.Contains(bytes.ToLower(js), []byte(end)),
			"the library holds %q: it cannot be in a script element", end)
	}
}
