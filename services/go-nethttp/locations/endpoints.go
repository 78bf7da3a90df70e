package locations

import (
	"context"
	_ "embed"
	"errors"
	"net/http"
	"time"
)

//go:embed openapi.json
var openAPI []byte

func (h *handler) root(*http.Request) (any, error) {
	return map[string]string{"service": "locations", "docs": "/api-docs"}, nil
}

func (h *handler) apiDocs(*http.Request) (any, error) { return openAPI, nil }

func (h *handler) get(r *http.Request) (any, error) {
	p := paramsOf(r)
	id, l := p.id(), p.language()
	if err := p.err(); err != nil {
		return nil, err
	}
	found, err := h.cities.byID(r.Context(), id)
	if err != nil {
		return nil, missing(err, id)
	}
	return h.one(r.Context(), found, l)
}

func (h *handler) associatedFeatured(r *http.Request) (any, error) {
	p := paramsOf(r)
	id, l := p.id(), p.language()
	if err := p.err(); err != nil {
		return nil, err
	}
	found, err := h.cities.byID(r.Context(), id)
	if err == nil && !found.IsFeatured {
		found, err = h.cities.nearest(r.Context(), found.Centroid, true)
	}
	if err != nil {
		return nil, missing(err, id)
	}
	return h.one(r.Context(), found, l)
}

func (h *handler) closest(r *http.Request) (any, error) {
	p := paramsOf(r)
	at, given := p.point()
	l := p.language()
	if err := p.err(); err != nil {
		return nil, err
	}
	var found city
	var err error
	if given {
		found, err = h.cities.at(r.Context(), at, false)
	} else if at, ok := fastlyPoint(r.Header); ok {
		found, err = h.cities.at(r.Context(), at, true)
	} else {
		found, err = h.cities.home(r.Context(), l)
	}
	if errors.Is(err, errNoDocument) {
		return nil, notFound("lat, lon", "no city is near")
	}
	if err != nil {
		return nil, err
	}
	return h.one(r.Context(), found, l)
}

// fastlyPoint is where the CDN believes the client to be. What is missing or makes no sense is as good as unknown: the
// headers are none of the client's doing, so it is not told about them.
func fastlyPoint(header http.Header) (point, bool) {
	lat, okLat := degrees(header.Get("Fastly-Geo-Lat"), 90)
	lon, okLon := degrees(header.Get("Fastly-Geo-Lon"), 180)
	return point{lat, lon}, okLat && okLon && (lat != 0 || lon != 0)
}

func (h *handler) search(r *http.Request) (any, error) {
	p := paramsOf(r)
	text, country, l := p.text(), p.country(), p.language()
	if err := p.err(); err != nil {
		return nil, err
	}
	found, err := h.cities.store.search(r.Context(), searchQuery(text, l, country))
	if err != nil {
		return nil, err
	}
	return h.many(r.Context(), found, l)
}

func (h *handler) featured(r *http.Request) (any, error) {
	p := paramsOf(r)
	l := p.language()
	if err := p.err(); err != nil {
		return nil, err
	}
	found, err := h.cities.featured(r.Context(), l)
	if err != nil {
		return nil, err
	}
	return h.many(r.Context(), found, l)
}

// delay waits on a timer: only a goroutine is parked, no thread is held.
func (h *handler) delay(r *http.Request) (any, error) {
	p := paramsOf(r)
	d := p.delay()
	if err := p.err(); err != nil {
		return nil, err
	}
	if d == 0 {
		return nil, nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil, nil
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

func (h *handler) one(ctx context.Context, found city, l language) (any, error) {
	a, err := h.cities.answer(ctx, &found, l)
	if err != nil {
		return nil, err
	}
	return &a, nil
}

func (h *handler) many(ctx context.Context, found []city, l language) (any, error) {
	a, err := h.cities.answers(ctx, found, l)
	if err != nil {
		return nil, err
	}
	return &a, nil
}

func missing(err error, id int64) error {
	if errors.Is(err, errNoDocument) {
		return notFound("id", "there is no city %d", id)
	}
	return err
}
