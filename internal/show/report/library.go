package report

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io"
	"strings"
	"sync"
)

// libraryVersion is the version of the embedded dist/echarts.min.js of the npm package echarts.
// go-echarts v2.6 writes options for ECharts 5; 5.6.0 is its last version.
const libraryVersion = "5.6.0"

// librarySHA256 is the digest of the unpacked library, for a test.
const librarySHA256 = "bf4a223524e40b77c304bec67e1222cf551f14880cf42c69dc046558e11c07b1"

//go:embed assets js page.html summary.tmpl style.css first.css charts.css
var files embed.FS

// The files that make up the style and the script of the page, in this order.
const (
	styles  = "style.css first.css charts.css"
	scripts = "js/base.js js/charts.js js/save.js js/draw.js js/sort.js"
)

// joined returns the contents of files, one after the other; spaces separate the names.
func joined(names string) (all []byte) {
	for _, name := range strings.Fields(names) {
		all = append(append(all, embedded(name)...), '\n')
	}
	return all
}

func embedded(name string) []byte {
	b, err := files.ReadFile(name)
	if err != nil {
		panic(err) // this package names a file that it does not embed
	}
	return b
}

// library returns the chart library, unpacked once. Callers must not change it.
var library = sync.OnceValues(func() ([]byte, error) {
	var js []byte
	z, err := gzip.NewReader(bytes.NewReader(embedded("assets/echarts.min.js.gz")))
	if err == nil {
		js, err = io.ReadAll(z)
	}
	if err != nil {
		return nil, fmt.Errorf("unpack chart library: %w", err)
	}
	return js, nil
})

// licenses returns the texts that the Apache license requires with every copy of the library.
func licenses() (all string) {
	for _, name := range []string{"NOTICE", "LICENSE", "LICENSE-d3"} {
		all += string(embedded("assets/echarts."+name)) + "\n\n"
	}
	return all
}
