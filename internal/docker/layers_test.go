package docker

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/testenv"
)

func TestPullProgress(t *testing.T) {
	var got []string
	now := time.Unix(0, 0)
	l := &layers{show: func(s string) { got = append(got, s) }, now: func() time.Time { return now }, byID: map[string]layer{}}
	for _, step := range []struct {
		wait time.Duration
		line string
	}{
		{0, `{"status":"Pulling fs layer","id":"a","progressDetail":{}}`},
		{0, `{"status":"Already exists","id":"b"}`},
		{time.Second, `{"status":"Downloading","id":"a","progressDetail":{"current":1048576,"total":4194304},"progress":"[==>  ]"}`},
		{10 * time.Millisecond, `{"status":"Downloading","id":"a","progressDetail":{"current":2097152,"total":4194304}}`},
		{time.Second, `{"status":"Downloading","id":"a","progressDetail":{"current":-5,"total":-9}}`},
		{0, `{"status":"Downloading","id":"a","progressDetail":{"current":3145728,"total":4194304}}`},
		{time.Second, `{"status":"Extracting","id":"a","progressDetail":{"current":1,"total":4194304}}`},
		{0, `{"status":"Pull complete","id":"a"}`},
	} {
		now = now.Add(step.wait)
		var m message
		testenv.OK(t, json.Unmarshal([]byte(step.line), &m))
		testenv.Check(t, l.take(m), "%s is not taken for a layer's", step.line)
	}
	l.flush()
	l.flush()
	want := []string{
		"0 of 1 layers ready", "1 of 2 layers ready, 1 MiB of 4 MiB downloaded", "1 of 2 layers ready",
		"1 of 2 layers ready, 4 MiB of 4 MiB downloaded", "2 of 2 layers ready, 4 MiB of 4 MiB downloaded",
	}
	testenv.Check(t, slices.Equal(got, want),
		"reported\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	if l.take(message{Status: "Pulling from library/elasticsearch", ID: "7.10.2"}) || l.take(message{Status: "Digest: sha256:1"}) {
		t.Error("a message that is about no layer was taken for one")
	}
	for i := range 2 * maxLayers {
		l.take(message{ID: fmt.Sprint(i), Status: "Waiting"})
	}
	testenv.Check(t, len(l.byID) == maxLayers, "%d layers are kept", len(l.byID))
}
