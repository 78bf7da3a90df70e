package report

import (
	"compress/gzip"
	"embed"
	"fmt"
	"io"
	"strings"
)

// libraryVersion is the Apache ECharts that is embedded: dist/echarts.min.js of the npm package
// echarts, unchanged but for gzip. go-echarts v2.6 writes options for ECharts 5; 5.6.0 is the last
// of that line.
const libraryVersion = "5.6.0"

// librarySHA256 is the digest of the unpacked library. A test compares it, so that an exchanged
// file is noticed.
const librarySHA256 = "bf4a223524e40b77c304bec67e1222cf551f14880cf42c69dc046558e11c07b1"

//go:embed assets js page.html words.html figures.html style.css words.css charts.css
var files embed.FS

// The style and the script of the page, each made of these files, in this order.
const (
	styles  = "style.css words.css charts.css"
	scripts = "js/base.js js/dress.js js/chosen.js js/save.js js/draw.js js/sort.js"
)

// joined is what some files hold, one after the other; names are parted by spaces.
func joined(names string) ([]byte, error) {
	var all []byte
	for _, name := range strings.Fields(names) {
		b, err := files.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read part of the page: %w", err)
		}
		all = append(append(all, b...), '\n')
	}
	return all, nil
}

// library unpacks the chart library: about 1 MB of JavaScript.
func library() ([]byte, error) {
	f, err := files.Open("assets/echarts.min.js.gz")
	if err != nil {
		return nil, fmt.Errorf("open chart library: %w", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("unpack chart library: %w", err)
	}
	js, err := io.ReadAll(z)
	if err != nil {
		return nil, fmt.Errorf("unpack chart library: %w", err)
	}
	return js, z.Close()
}

// licences are the texts that the Apache licence wants to go with every copy of the library.
func licences() (string, error) {
	var all string
	for _, name := range []string{"NOTICE", "LICENSE", "LICENSE-d3"} {
		text, err := files.ReadFile("assets/echarts." + name)
		if err != nil {
			return "", fmt.Errorf("read licence: %w", err)
		}
		all += string(text) + "\n\n"
	}
	return all, nil
}
