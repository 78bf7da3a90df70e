#!/usr/bin/env python3
"""Makes regions.tsv out of Unicode CLDR, release 41: names of the regions in five languages, and GeoNames' codes of them.

    regions.py CLDR/common/subdivisions > regions.tsv

The folder is found in CLDR's core.zip or below /usr/share/unicode/cldr of Debian's package unicode-cldr-core (41-0.1).
Later releases, and with them the npm package cldr-subdivisions-full (48.2.0), carry English names only.
"""
import pathlib
import re
import sys

LANGUAGES = ("cs", "de", "en", "pl", "sk")

# GeoNames admin1 code -> ISO 3166-2 code, in the order of GeoNames' codes.
ISO = {
    "CZ": dict(zip(["52"] + [str(n) for n in range(78, 91)],
                   "10 64 31 63 41 52 51 71 80 53 32 20 42 72".split())),
    "SK": dict(zip([f"{n:02}" for n in range(1, 9)], "BC BL KI NI PV TC TA ZI".split())),
    "PL": dict(zip([str(n) for n in range(72, 88)],
                   "02 04 10 06 08 12 14 16 18 20 22 24 26 28 30 32".split())),
    "DE": dict(zip([f"{n:02}" for n in range(1, 17)],
                   "BW BY HB HH HE NI NW RP SL SH BB MV SN ST TH BE".split())),
    "AT": {f"{n:02}": str(n) for n in range(1, 10)},
}
# ISO 3166-1 numeric. A region's id is this number, then its GeoNames code in two digits: 20352 is Prague.
NUMERIC = {"CZ": 203, "SK": 703, "PL": 616, "DE": 276, "AT": 40}

# What CLDR has got wrong or says at too great length.
MENDED = {("CZ", "10", "en"): "Prague", ("DE", "HB", "cs"): "Brémy"}


def main():
    folder = pathlib.Path(sys.argv[1])
    names = {}
    for language in LANGUAGES:
        text = (folder / f"{language}.xml").read_text(encoding="utf-8")
        for code, name in re.findall(r'<subdivision type="([a-z0-9]+)"[^>]*>([^<]+)<', text):
            names[code, language] = name
    print("# id", "country", "GeoNames admin1", "ISO 3166-2", *LANGUAGES, sep="\t")
    for country, codes in ISO.items():
        for admin1, iso in codes.items():
            row = [MENDED.get((country, iso, l)) or names[(country + iso).lower(), l] for l in LANGUAGES]
            print(f"{NUMERIC[country]}{admin1}", country, admin1, f"{country}-{iso}", *row, sep="\t")


main()
