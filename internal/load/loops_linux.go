package load

func hasEpoll() error { return nil }

func hasRing() error {
	r, err := newRing(1)
	if err != nil {
		return err
	}
	r.close()
	return nil
}
