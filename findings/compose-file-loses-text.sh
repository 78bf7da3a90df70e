#!/usr/bin/env bash
# compose-go 2.16.2, the library that docker compose reads its files with: parts of a file are dropped or changed without an error.
#
# Guess: `command: ./migrate && ./serve` reaches a shell or is an error; a variable has the text that is written.
# Seen: the command ends before `&&`, `;`, `|`, `<` and `>`: only ./migrate runs. (In quotes, `sh -c "a; b"`, all of it is kept, and
# a health check goes to a shell whole.) The environment gets 1.1 for 1.10, 8 for 010, 31 for 0x1F, 1000 for 1e3 and 1_000, and
# "2024-01-31 00:00:00 +0000 UTC" for 2024-01-31. In an env_file `A={"a": "b # c"}` ends within its text before " #".
# So an image tag, a phone number or a date in such a file is another one in the container. Quotes keep each of them.
#
# Needs Go and a Go module proxy. Exits with 1 if the behavior has changed.
set -euo pipefail

dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
cat >go.mod <<'EOF'
module show

go 1.24

require github.com/compose-spec/compose-go/v2 v2.16.2
EOF
cat >main.go <<'EOF'
package main

import (
	"context"
	"fmt"

	"github.com/compose-spec/compose-go/v2/cli"
)

func main() {
	o, err := cli.NewProjectOptions([]string{"compose.yaml"}, cli.WithName("show"))
	if err != nil {
		panic(err)
	}
	p, err := o.LoadProject(context.Background())
	if err != nil {
		panic(err)
	}
	s := p.Services["db"]
	fmt.Printf("command=%q\n", s.Command)
	for _, name := range []string{"VERSION", "DATE", "PHONE", "HEX", "POWER", "QUOTED", "JSON"} {
		fmt.Printf("%s=%s\n", name, *s.Environment[name])
	}
}
EOF
cat >compose.yaml <<'EOF'
services:
  db:
    image: postgres:17
    command: ./migrate && ./serve
    environment: {VERSION: 1.10, DATE: 2024-01-31, PHONE: 010, HEX: 0x1F, POWER: 1e3, QUOTED: "1.10"}
    env_file: values.env
EOF
echo 'JSON={"a": "b # c"}' >values.env
GOPATH="$dir/go" GOFLAGS='-modcacherw -mod=mod' go run . >seen 2>log || { cat log; exit 1; }
cat >expected <<'EOF'
command=["./migrate"]
VERSION=1.1
DATE=2024-01-31 00:00:00 +0000 UTC
PHONE=8
HEX=31
POWER=1000
QUOTED=1.10
JSON={"a": "b
EOF
cat seen
diff expected seen || { echo "changed"; exit 1; }
