package app

import (
	"locbench/internal/bench"
	"locbench/internal/secret"
)

// newMasker knows the secrets of a run: of its plan as it was given, and of its contenders.
func newMasker(plan bench.Run, services map[bench.Selection]bench.Service) secret.Masker {
	var all []bench.Service
	for _, s := range services {
		all = append(all, s)
	}
	return secret.New(secret.Of(plan, all)...)
}

// masked is err with the same causes and a text without secrets.
func masked(err error, m secret.Masker) error {
	if err == nil {
		return nil
	}
	text := m.Text(err.Error())
	if text == err.Error() {
		return err
	}
	return maskedError{err, text}
}

type maskedError struct {
	error
	text string
}

func (e maskedError) Error() string { return e.text }
func (e maskedError) Unwrap() error { return e.error }
