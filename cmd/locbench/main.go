// Command locbench benchmarks HTTP services under CPU and memory limits. See README.md.
package main

import (
	"context"
	"os"

	"github.com/locbench/locbench/internal/cli"
)

func main() {
	os.Exit(cli.Main(context.Background(), cli.Env{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv,
	}))
}
