package locations

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// point is a place on earth in degrees, as Elasticsearch writes it.
type point struct {
	Lat float64 `json:"lat"`
	Lon float64 `json:"lon"`
}

// city is what is read of a document.
type city struct {
	ID         int64  `json:"id"`
	CountryISO string `json:"countryIso"`
	RegionID   int64  `json:"regionId"`
	IsFeatured bool   `json:"isFeatured"`
	Centroid   point  `json:"centroid"`
	names
}

// CityResponse is a city in the language of the request.
type CityResponse struct {
	CountryISO string `json:"countryIso"`
	ID         int64  `json:"id"`
	IsFeatured bool   `json:"isFeatured"`
	Name       string `json:"name"`
	RegionName string `json:"regionName"`
}

// MultiCityResponse is a list of cities.
type MultiCityResponse struct {
	Cities []CityResponse `json:"cities"`
}

// cities answers questions about cities out of the store.
type cities struct {
	store   *store
	regions regions
}

// byID reads a city; the error is errNoDocument if there is none.
func (c *cities) byID(ctx context.Context, id int64) (found city, err error) {
	err = c.store.source(ctx, "city", id, &found)
	return found, err
}

// featured returns all featured cities, those of the language's home country first.
func (c *cities) featured(ctx context.Context, l language) ([]city, error) {
	found, err := c.store.search(ctx, featuredQuery())
	if err != nil {
		return nil, err
	}
	// The store has sorted them by country and population already, and the sort is stable.
	slices.SortStableFunc(found, func(a, b city) int {
		return cmp.Compare(abroad(a, l), abroad(b, l))
	})
	return found, nil
}

func abroad(c city, l language) int {
	if c.CountryISO == l.home() {
		return 0
	}
	return 1
}

// home is the language's home city: the largest featured one of its home country. It is looked up and not known by its
// id, so that the service works with any data.
func (c *cities) home(ctx context.Context, l language) (city, error) {
	found, err := c.featured(ctx, l)
	if err != nil {
		return city{}, err
	}
	if len(found) == 0 || found[0].CountryISO != l.home() {
		return city{}, errNoDocument
	}
	return found[0], nil
}

// at returns the city that contains the point, else the nearest one; errNoDocument if there is none at all.
func (c *cities) at(ctx context.Context, p point, featured bool) (city, error) {
	found, err := c.store.search(ctx, containingQuery(p, featured))
	if err == nil && len(found) == 0 {
		return c.nearest(ctx, p, featured)
	}
	return first(found, err)
}

func (c *cities) nearest(ctx context.Context, p point, featured bool) (city, error) {
	return first(c.store.search(ctx, nearestQuery(p, featured)))
}

func first(found []city, err error) (city, error) {
	switch {
	case err != nil:
		return city{}, err
	case len(found) == 0:
		return city{}, errNoDocument
	}
	return found[0], nil
}

// answer puts a city into the language of the request.
func (c *cities) answer(ctx context.Context, found *city, l language) (CityResponse, error) {
	region, err := c.regions.get(ctx, c.store, found.RegionID)
	if err != nil {
		return CityResponse{}, fmt.Errorf("region %d of city %d: %w", found.RegionID, found.ID, err)
	}
	return CityResponse{found.CountryISO, found.ID, found.IsFeatured, found.in(l), region.in(l)}, nil
}

// answers puts a list of cities into the language of the request.
func (c *cities) answers(ctx context.Context, found []city, l language) (MultiCityResponse, error) {
	list := MultiCityResponse{Cities: make([]CityResponse, len(found))}
	for i := range found {
		var err error
		if list.Cities[i], err = c.answer(ctx, &found[i], l); err != nil {
			return list, err
		}
	}
	return list, nil
}

// regions keeps the names of regions for ever: there are tens of them. Reading takes no lock; the map is copied for each
// new region.
type regions struct {
	known atomic.Pointer[map[int64]*names]
	mu    sync.Mutex // held while the map is replaced
}

func (r *regions) get(ctx context.Context, s *store, id int64) (*names, error) {
	if known := r.known.Load(); known != nil {
		if n := (*known)[id]; n != nil {
			return n, nil
		}
	}
	n := new(names)
	if err := s.source(ctx, "region", id, n); err != nil {
		if errors.Is(err, errNoDocument) {
			return nil, errNoRegion
		}
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	next := map[int64]*names{}
	if known := r.known.Load(); known != nil {
		next = maps.Clone(*known)
	}
	next[id] = n
	r.known.Store(&next)
	return n, nil
}

// errNoRegion is a fault of the data, not of the request: it must not look like a city that does not exist.
var errNoRegion = errors.New("the store does not have it")
