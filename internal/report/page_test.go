package report

import (
	"bytes"
	"os"
	"testing"
	"time"
)

func TestWrite(t *testing.T) {
	run, legs := fixture()
	var b bytes.Buffer
	begin := time.Now()
	if err := HTML(&b, run, legs, Options{}); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes in %s", b.Len(), time.Since(begin))
	os.WriteFile("/tmp/rep/report.html", b.Bytes(), 0o644)
}
