// Command locbench says which implementation of a microservice to run, and what it will cost. See
// README.md.
package main

import (
	"context"
	"os"

	"locbench/internal/cli"
)

func main() {
	os.Exit(cli.Main(context.Background(), cli.Env{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv,
	}))
}
