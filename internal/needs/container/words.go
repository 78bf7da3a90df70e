package container

import (
	"errors"
	"strings"

	"github.com/locbench/locbench/internal/text/strictyaml"
)

// words are a command. A text is split into words as a shell does.
type words []string

// UnmarshalStrict reads a text or a list of texts.
func (w *words) UnmarshalStrict(v strictyaml.Value) {
	if all, ok := wordsOf(v, splitWords); ok {
		*w = all
	}
}

// wordsOf reads a list of texts, or a text that split makes words of.
func wordsOf(v strictyaml.Value, split func(string) ([]string, error)) (all []string, ok bool) {
	switch v.Kind() {
	case strictyaml.List:
		for _, item := range v.Items() {
			text, isText := item.Text()
			if !isText {
				return nil, false
			}
			all = append(all, text)
		}
	default:
		text, isText := v.Text()
		if !isText {
			return nil, false
		}
		var err error
		if all, err = split(text); err != nil {
			v.Wrong(err.Error())
			return nil, false
		}
	}
	if len(all) == 0 || len(all[0]) == 0 {
		v.Wrong("write a program and its arguments, such as `[postgres, -c, max_connections=200]`")
		return nil, false
	}
	return all, true
}

// shell is the command of a check or a seed. A text is for the shell of the container.
type shell []string

// UnmarshalStrict reads a text or a list of texts, also those of a health check in a compose file.
func (s *shell) UnmarshalStrict(v strictyaml.Value) {
	all, ok := wordsOf(v, func(text string) ([]string, error) { return []string{"sh", "-c", text}, nil })
	switch {
	case !ok:
	case all[0] == "CMD-SHELL" && len(all) == 2:
		*s = shell{"sh", "-c", all[1]}
	case all[0] == "CMD-SHELL":
		v.Mistake("CMD-SHELL runs only the word after it", "write the command as a list without CMD-SHELL, or as one text")
	case all[0] == "CMD" && len(all) > 1:
		*s = all[1:]
	case all[0] == "CMD" || all[0] == "NONE":
		v.Wrong("write the program and its arguments, such as `[pg_isready, -h, db]`")
	default:
		*s = all
	}
}

// splitWords splits a text at blanks, but within quotes. A backslash keeps the next character.
func splitWords(text string) (all []string, err error) {
	var word strings.Builder
	var quote rune
	inWord, escaped := false, false
	for _, r := range text {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, inWord = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, inWord = r, true
		case quote == 0 && strings.ContainsRune(" \t\n\r", r):
			if inWord {
				all = append(all, word.String())
			}
			word.Reset()
			inWord = false
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if quote != 0 || escaped {
		return nil, errors.New("close the quotes, or write a list of words")
	}
	if inWord {
		all = append(all, word.String())
	}
	return all, nil
}
