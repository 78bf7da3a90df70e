package summary

// sayLimits compares each contender that has other limits with the first one: no winner, since the
// limits are the subject.
func sayLimits(f Facts) (said []Sentence) {
	if !several(f) {
		return nil
	}
	for _, text := range f.Ratios {
		said = append(said, Sentence{Text: text})
	}
	return said
}
