package setup

import (
	"context"
	"errors"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/needs/kinds"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/show/tui/ui"
)

// save asks for the file of a new profile.
func (s *Setup) save() tea.Cmd {
	if cmd := s.notReady(); cmd != nil {
		return cmd
	}
	return s.askFile("my-"+ui.Outside(s.form.base.Name, 60), "")
}

func (s *Setup) askFile(file, mistake string) tea.Cmd {
	text := "File in the working folder; .yaml is added."
	if mistake != "" {
		text = s.theme.Glyph.Cross + " " + mistake + "\n" + text
	}
	return ui.Cmd(ui.AskMsg{Ask: ui.Ask{
		Title: "save as a new profile", Text: text, Value: file, Limit: 500,
		Reply: func(file string) tea.Msg { return s.write(strings.TrimSpace(file), false) },
	}})
}

func (s *Setup) write(file string, replace bool) action {
	plan := s.form.plan
	write := ask(func(ctx context.Context) action {
		path, warning, err := s.options.Site.Save(ctx, file, plan, replace)
		switch {
		case errors.Is(err, ErrExists):
			return func() tea.Cmd {
				return ui.Cmd(ui.AskMsg{Ask: ui.Ask{Title: outside(file) + " exists", Choices: []ui.Choice{
					{Name: "replace it", Msg: s.write(file, true)},
				}}})
			}
		case err != nil:
			return func() tea.Cmd { return s.askFile(file, text(err)) }
		}
		return func() tea.Cmd { return s.saved(path, warning) }
	})
	return func() tea.Cmd { return write }
}

// saved chooses the new profile, without changes.
func (s *Setup) saved(path, warning string) tea.Cmd {
	kept := []string{"target", "seed"} // not part of profiles
	message := "saved as " + outside(path)
	if warning != "" {
		message += "; " + outside(warning)
		for _, k := range kinds.All {
			kept = append(kept, k.AddressOption)
		}
	}
	before := s.form.choice
	s.form.choice = Choice{Profile: path, Set: profile.Changes{}, Extra: before.Extra}
	for _, name := range kept {
		s.form.choice.Set = s.form.choice.Set.With(name, before.Set[name]...)
	}
	return tea.Batch(s.askProfiles(), ui.Cmd(ui.TellMsg{Text: message}))
}
