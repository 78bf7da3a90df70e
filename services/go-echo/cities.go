package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// names are the names of a place in all languages, under the keys that documents have.
type names struct {
	CS string `json:"name.cs"`
	DE string `json:"name.de"`
	EN string `json:"name.en"`
	PL string `json:"name.pl"`
	SK string `json:"name.sk"`
}

func (n *names) in(language string) string {
	switch language {
	case "cs":
		return n.CS
	case "de":
		return n.DE
	case "pl":
		return n.PL
	case "sk":
		return n.SK
	}
	return n.EN
}

// city is what is read of a document.
type city struct {
	ID         int64  `json:"id"`
	CountryISO string `json:"countryIso"`
	RegionID   int64  `json:"regionId"`
	IsFeatured bool   `json:"isFeatured"`
	names
}

// cities are read from the store each time; regions, which are tens, are kept for ever.
type cities struct {
	store   *store
	regions sync.Map // int64 → *names
}

// get reads a city; the error is errNoDocument if there is none.
func (c *cities) get(ctx context.Context, id int64, language string) (*cityResponse, error) {
	var found city
	if err := c.store.source(ctx, "city", id, &found); err != nil {
		return nil, err
	}
	region, err := c.region(ctx, found.RegionID)
	if err != nil {
		return nil, fmt.Errorf("region %d of city %d: %w", found.RegionID, id, err)
	}
	return &cityResponse{found.CountryISO, found.ID, found.IsFeatured, found.in(language), region.in(language)}, nil
}

func (c *cities) region(ctx context.Context, id int64) (*names, error) {
	if n, ok := c.regions.Load(id); ok {
		return n.(*names), nil
	}
	n := new(names)
	if err := c.store.source(ctx, "region", id, n); err != nil {
		if errors.Is(err, errNoDocument) { // a fault of the data: it must not look like a city that does not exist
			return nil, errors.New("the store does not have it")
		}
		return nil, err
	}
	c.regions.Store(id, n)
	return n, nil
}
