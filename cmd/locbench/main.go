// Command locbench benchmarks HTTP services under CPU and memory limits. See README.md.
package main

import (
	"context"
	"os"

	"github.com/locbench/locbench/internal/cli"
	"github.com/locbench/locbench/internal/text/console"
)

func main() {
	os.Exit(cli.Main(context.Background(), console.Main()))
}
