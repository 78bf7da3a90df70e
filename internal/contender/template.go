package contender

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
	"text/template/parse"

	"locbench/internal/bench"
	"locbench/internal/strictyaml"
)

const (
	maxTemplate = 16 << 10 // bytes, of a template and of what comes out of it
	maxNesting  = 20
)

// templateFields are what a template may name.
var templateFields = []string{
	".Elastic.URL", ".Elastic.Host", ".Elastic.Port", ".Listen", ".Port", ".Name", ".Dir", ".Self",
}

// templateFuncs are what a template may call: text and comparison, nothing that loops or reaches
// outside.
var templateFuncs = []string{"and", "eq", "ne", "not", "or", "print"}

// Fill makes a LaunchSpec's artifact and environment out of those of svc: templates in the command
// and the environment are filled in (Dir, where t leaves it empty, by the artifact's folder), and a
// program named by a relative path is looked for there.
func Fill(svc bench.Service, artifact bench.Artifact, t bench.Template) (bench.Artifact, map[string]string, error) {
	t.Dir = cmp.Or(t.Dir, artifact.Dir)
	env, err := Env(svc, t)
	if err != nil {
		return artifact, nil, err
	}
	argv, err := Command(artifact.Command, t)
	if err != nil {
		return artifact, nil, fmt.Errorf("contender %s: %w", svc.Name, err)
	}
	if len(argv) > 0 && artifact.Dir != "" && strings.ContainsAny(argv[0], `/\`) && !filepath.IsAbs(argv[0]) {
		argv[0] = filepath.Join(artifact.Dir, argv[0])
	}
	artifact.Command = argv
	return artifact, env, nil
}

// TakesPort tells whether the environment or the command of svc depends on the port that it is to
// listen on. One that does not listens where its manifest says that it does.
func TakesPort(svc bench.Service, artifact bench.Artifact) bool {
	var filled [2]string
	for i := range filled {
		a, env, err := Fill(svc, artifact, bench.Template{Port: i + 1})
		if err != nil {
			return true // what is wrong with it is reported when it is launched
		}
		filled[i] = fmt.Sprintf("%q %q", a.Command, env) // keys in order
	}
	return filled[0] != filled[1]
}

// Env fills in the templates of svc's environment.
func Env(svc bench.Service, t bench.Template) (map[string]string, error) {
	env := make(map[string]string, len(svc.Env))
	for _, key := range slices.Sorted(maps.Keys(svc.Env)) {
		value, err := fill(svc.Env[key], t)
		if err != nil {
			return nil, fmt.Errorf("contender %s: environment %s: %w", svc.Name, key, err)
		}
		env[key] = value
	}
	return env, nil
}

// Command fills in the templates of a command.
func Command(args []string, t bench.Template) ([]string, error) {
	if args == nil {
		return nil, nil
	}
	out := make([]string, len(args))
	for i, arg := range args {
		var err error
		if out[i], err = fill(arg, t); err != nil {
			return nil, fmt.Errorf("command %q: %w", arg, err)
		}
	}
	return out, nil
}

// validTemplate says what would be right if text is no template that fill can fill in.
func validTemplate(text string) error {
	sample := bench.Template{Listen: "0.0.0.0", Port: defaultPort, Name: "name", Dir: "/dir", Self: "/locbench"}
	sample.Elastic.URL, sample.Elastic.Host, sample.Elastic.Port = "http://elastic:9200", "elastic", "9200"
	_, err := fill(text, sample)
	return err
}

// fill fills in one template. A manifest is anybody's, so the language is a small part of
// text/template: fields, texts, if and else, and the functions of templateFuncs; its size is
// bounded, and there is nothing in it that repeats.
func fill(text string, t bench.Template) (string, error) {
	tmpl, err := parseTemplate(text)
	if err != nil {
		return "", err
	}
	if tmpl == nil {
		return text, nil
	}
	w := boundedBuilder{}
	if err := tmpl.Execute(&w, t); err != nil {
		return "", fmt.Errorf("mend the template: %s", clip(detail(err)))
	}
	return w.String(), nil
}

// detail drops the place within the template, which is a line long.
func detail(err error) string {
	parts := strings.SplitN(err.Error(), ": ", 3)
	return parts[len(parts)-1]
}

// parseTemplate returns nil for a text with nothing to fill in.
func parseTemplate(text string) (*template.Template, error) {
	if len(text) > maxTemplate {
		return nil, fmt.Errorf("write at most %s", strictyaml.FormatBytes(maxTemplate))
	}
	if strings.ContainsRune(text, 0) {
		return nil, errors.New("write it without the character NUL")
	}
	if !strings.Contains(text, "{{") {
		return nil, nil
	}
	tmpl, err := template.New("").Option("missingkey=error").Parse(text)
	if err != nil {
		return nil, fmt.Errorf("mend the template: %s", clip(detail(err)))
	}
	if len(tmpl.Templates()) > 1 {
		return nil, errors.New("`define` and `block` are not available here")
	}
	if tmpl.Tree == nil || tmpl.Root == nil {
		return nil, nil
	}
	return tmpl, allowed(tmpl.Root, 0)
}

// allowed walks a parsed template and tells the first thing that is not part of the language.
func allowed(n parse.Node, depth int) error {
	if depth > maxNesting {
		return errors.New("write a template that is not nested as deeply")
	}
	switch n := n.(type) {
	case *parse.TextNode, *parse.CommentNode, *parse.StringNode, *parse.BoolNode, *parse.NumberNode, nil:
		return nil
	case *parse.ListNode:
		if n == nil {
			return nil
		}
		return allowedAll(n.Nodes, depth)
	case *parse.ActionNode:
		return allowed(n.Pipe, depth+1)
	case *parse.IfNode:
		return allowedAll([]parse.Node{n.Pipe, n.List, n.ElseList}, depth)
	case *parse.PipeNode:
		if len(n.Decl) > 0 {
			return errors.New("variables are not available here")
		}
		for _, c := range n.Cmds {
			if err := allowedAll(c.Args, depth+1); err != nil {
				return err
			}
		}
		return nil
	case *parse.IdentifierNode:
		if !slices.Contains(templateFuncs, n.Ident) {
			return fmt.Errorf("the function `%s` is not available here; functions: %s", clip(n.Ident), strings.Join(templateFuncs, ", "))
		}
		return nil
	case *parse.FieldNode:
		if !slices.Contains(templateFields, n.String()) {
			return fmt.Errorf("there is no `{{%s}}`; %s", clip(n.String()), strictyaml.Suggest(n.String(), "there are", templateFields))
		}
		return nil
	}
	return fmt.Errorf("`%s` is not available here; write fields such as `{{.Port}}`, or {{if}} with functions: %s", clip(n.String()),
		strings.Join(templateFuncs, ", "))
}

func allowedAll(nodes []parse.Node, depth int) error {
	for _, n := range nodes {
		if err := allowed(n, depth+1); err != nil {
			return err
		}
	}
	return nil
}

type boundedBuilder struct{ strings.Builder }

func (b *boundedBuilder) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxTemplate {
		return 0, fmt.Errorf("more than %s come out", strictyaml.FormatBytes(maxTemplate))
	}
	return b.Builder.Write(p)
}

func clip(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 200 {
		s = strings.ToValidUTF8(s[:200], "") + "…"
	}
	return s
}
