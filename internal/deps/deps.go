// Package deps holds the module's dependencies until the packages that use them exist.
package deps

import (
	_ "charm.land/bubbletea/v2"
	_ "charm.land/lipgloss/v2"
	_ "github.com/HdrHistogram/hdrhistogram-go"
	_ "github.com/blevesearch/bleve/v2"
	_ "github.com/chromedp/chromedp"
	_ "github.com/docker/docker/client"
	_ "github.com/go-echarts/go-echarts/v2/charts"
	_ "github.com/olivere/elastic/v7"
	_ "github.com/rogpeppe/go-internal/testscript"
	_ "github.com/spf13/cobra"
	_ "github.com/tsenart/vegeta/v12/lib"
	_ "go.uber.org/goleak"
	_ "golang.org/x/sync/errgroup"
	_ "golang.org/x/sys/unix"
	_ "golang.org/x/term"
	_ "gopkg.in/yaml.v3"
)
