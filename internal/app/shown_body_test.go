package app

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/load"
	"github.com/locbench/locbench/internal/testenv"
)

// try shows a packed body unpacked, and of what is not text its size, type and encoding.
func TestShownBody(t *testing.T) {
	gz := func(text string) []byte {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Write([]byte(text))
		w.Close()
		return b.Bytes()
	}
	const kind, packed = "Content-Type: application/json\r\n", "Content-Encoding: gzip\r\n"
	whole := gz(`{"id":7}`)
	for name, tt := range map[string]struct {
		head string
		body []byte
		want string
	}{
		"a text":      {kind, []byte(`{"id":7}`), `{"id":7}`},
		"nothing":     {packed, nil, ""},
		"packed":      {kind + packed, whole, `{"id":7}`},
		"broken":      {kind + packed, whole[:20], "(20 bytes of application/json, gzip)"},
		"unknown":     {kind + "Content-Encoding: x\r\n", whole[:20], "(20 bytes of application/json, x)"},
		"an image":    {"Content-Type: image/png\r\n", []byte("\x89PNG\x00"), "(5 bytes of image/png)"},
		"packed, too": {"Content-Type: image/png\r\n" + packed, gz("\x89PNG\x00"), "(5 bytes of image/png)"},
		"too long":    {packed, gz(strings.Repeat("a", load.MaxChecked+1)), strings.Repeat("a", load.MaxChecked)},
		"no text":     {packed, gz(""), ""},
	} {
		t.Run(name, func(t *testing.T) {
			testenv.Equal(t, shownBody(load.Response{Head: []byte(tt.head), Body: tt.body}), tt.want)
		})
	}
}
