package fast

// HasEpoll tells why this system has no epoll, nil where it has.
func HasEpoll() error { return nil }

// HasRing tells why this system gives no io_uring, nil where it does.
func HasRing() error {
	r, err := newRing(1)
	if err != nil {
		return err
	}
	r.close()
	return nil
}
