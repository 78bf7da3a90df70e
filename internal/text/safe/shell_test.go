//go:build unix

package safe

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// TestShell lets a shell read quoted arguments: nothing runs, and each argument comes out
// unchanged.
func TestShell(t *testing.T) {
	args := []string{
		"plain", "", "two words", "it's", `"quoted"`, "$(echo ran)", "`echo ran`", "${HOME}", "$HOME", "~", "~/x", "a~b", "#comment", "a#b", "!!", "a!b",
		"*", "?", "[a]", "{a,b}", "a;b", "a&b", "a|b", "a>b", "(a)", `back\slash`, "-o", "--a=b c", "=ls", "Köln", "a=b", "%1", "^x",
	}
	out := testenv.Must(exec.Command("sh", "-c", "printf '%s\\n' "+Shell(args)).CombinedOutput())(t)
	testenv.Equal(t, strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"), args)
	testenv.Equal(t, Shell([]string{"a\nb\x1b"}), "ab")
	testenv.Equal(t, Shell([]string{"=ls"}), "'=ls'")
}
