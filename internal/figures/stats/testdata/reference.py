#!/usr/bin/env python3
"""Writes reference.json: data sets and what SciPy and statsmodels say of them.

    python3 -m venv venv && venv/bin/pip install scipy==1.17.1 numpy==2.4.6 statsmodels==0.15.0
    venv/bin/python reference.py

Nothing here shares an algorithm with the Go code where that can be avoided: the exact test with ties enumerates all
permutations, and the interval of the ratio is found by trying shifts, not by counting order statistics.
"""
import itertools
import json
import math
import pathlib

import numpy as np
from scipy import stats
from statsmodels.stats.multitest import multipletests

rng = np.random.default_rng(20261121)


def datasets():
    """Pairs of positive samples: small n, ties, outliers, shifts, heavy tails, two modes, unequal sizes."""
    sets = []

    def add(kind, x, y):
        sets.append((f"{kind}, {len(x)} and {len(y)} [{len(sets)}]", [float(v) for v in x], [float(v) for v in y]))

    for n, m in [(6, 6), (6, 7), (7, 6), (8, 8), (10, 10), (6, 12), (12, 6), (9, 11)]:
        add("lognormal", np.exp(rng.normal(9, 0.02, n)), np.exp(rng.normal(9, 0.02, m)))
        add("shifted by 10 %", np.exp(rng.normal(9, 0.02, n)), np.exp(rng.normal(9 + math.log(1.1), 0.02, m)))
        add("shifted by 1 %", np.exp(rng.normal(2, 0.01, n)), np.exp(rng.normal(2 + math.log(1.01), 0.01, m)))
    for n, m in [(6, 6), (6, 8), (8, 6), (7, 7), (9, 9), (6, 10)]:
        add("many ties", rng.integers(1, 4, n), rng.integers(1, 4, m))
        add("some ties", rng.integers(1, 20, n), rng.integers(3, 20, m))
        x, y = np.exp(rng.normal(3, 0.05, n)), np.exp(rng.normal(3.05, 0.05, m))
        x[0] *= 10
        y[-1] /= 30
        add("outliers", x, y)
        add("Cauchy", np.exp(np.clip(rng.standard_cauchy(n), -20, 20)), np.exp(np.clip(rng.standard_cauchy(m), -20, 20)))
        add("two modes", np.exp(np.where(np.arange(n) % 2, 5, 5.3) + rng.normal(0, 0.01, n)), np.exp(rng.normal(5.15, 0.1, m)))
    add("the same", [5] * 6, [5] * 6)
    add("two constants", [5] * 6, [6] * 6)
    add("constant against spread", [5] * 6, [4, 5, 5, 5, 6, 7])
    add("identical", [1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6])
    add("apart", [1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12])
    add("touching", [1, 2, 3, 4, 5, 6], [6, 7, 8, 9, 10, 11])
    add("tiny and huge", [1e-9, 2e-9, 4e-9, 8e-9, 1, 1e9], [1e9, 2e9, 3e9, 1e-9, 5, 6])
    for n, m in [(30, 30), (40, 25), (100, 80), (61, 6)]:
        add("large", np.exp(rng.normal(1, 0.3, n)), np.exp(rng.normal(1.1, 0.3, m)))
        add("large with ties", rng.integers(1, 12, n), rng.integers(2, 13, m))
    # Too few for an interval of the median, not for the test.
    for n, m in [(1, 1), (1, 6), (2, 3), (3, 3), (4, 4), (5, 5), (3, 6)]:
        add("few", np.exp(rng.normal(1, 0.3, n)), np.exp(rng.normal(2, 0.3, m)))
        add("few with ties", rng.integers(1, 4, n), rng.integers(2, 5, m))
    return sets


def median_interval(x, confidence=0.95):
    """Order statistics k and n+1-k, by the binomial distribution."""
    n, best = len(x), 0
    for k in range(1, n // 2 + 1):
        if 1 - 2 * stats.binom.cdf(k - 1, n, 0.5) >= confidence:
            best = k
    if best == 0:
        return None
    s = sorted(x)
    return {"low": s[best - 1], "high": s[n - best], "confidence": float(1 - 2 * stats.binom.cdf(best - 1, n, 0.5))}


def exact(x, y):
    """The two-sided p value of the conditional permutation distribution; None where it would take too long."""
    n, m = len(x), len(y)
    if len(set(x + y)) == n + m:
        return float(stats.mannwhitneyu(x, y, method="exact").pvalue) if n + m <= 60 else None
    if min(n, m) < 2 or math.comb(n + m, n) > 200_000:
        return None
    return float(stats.mannwhitneyu(x, y, method=stats.PermutationMethod(n_resamples=np.inf)).pvalue)


def ratio_interval(x, y, alpha=0.05):
    """All factors f for which the exact test does not find y/f different from x: between which pairwise ratios does p exceed alpha?"""
    if len(x) + len(y) > 24:
        return None
    lx, ly = np.log(x), np.log(y)
    cuts = sorted({float(np.round(b - a, 13)) for a in lx for b in ly})
    gap = [cuts[0] - 1] + [(a + b) / 2 for a, b in zip(cuts, cuts[1:])] + [cuts[-1] + 1]
    inside = [stats.mannwhitneyu(lx, ly - g, method="exact").pvalue > alpha for g in gap]
    if inside[0] or inside[-1]:
        return None  # it has no ends: too few values
    if not any(inside):  # all of the mass at one factor
        u = [stats.mannwhitneyu(lx, ly - g, method="exact").statistic for g in gap]
        at = next(i for i in range(len(cuts)) if min(u[i], u[i + 1]) < len(x) * len(y) / 2 < max(u[i], u[i + 1]))
        return {"low": math.exp(cuts[at]), "high": math.exp(cuts[at])}
    first = inside.index(True)
    last = len(inside) - 1 - inside[::-1].index(True)
    return {"low": math.exp(cuts[first - 1]), "high": math.exp(cuts[last])}


def z_scores(x):
    """Modified z-scores on logarithms (Iglewicz and Hoaglin); None where half of the values are the same."""
    lx = np.log(x)
    mad = stats.median_abs_deviation(lx)
    return None if mad < 1e-12 else [float(v) for v in 0.6745 * (lx - np.median(lx)) / mad]


def number(v):
    return None if v is None or not math.isfinite(v) else float(v)


def pairs():
    for name, x, y in datasets():
        asymptotic = stats.mannwhitneyu(x, y, method="asymptotic", use_continuity=True)
        yield {
            "name": name, "x": x, "y": y,
            "median_x": float(np.median(x)), "median_y": float(np.median(y)),
            "interval_x": median_interval(x), "interval_y": median_interval(y),
            "u": float(asymptotic.statistic), "p_exact": exact(x, y), "p_asymptotic": number(asymptotic.pvalue),
            "ratio": float(np.exp(np.median(np.subtract.outer(np.log(y), np.log(x))))),
            "ratio_interval": ratio_interval(x, y),
            "z_y": z_scores(y),
        }


def holm():
    for k in range(1, 9):
        for _ in range(3):
            p = np.round(rng.uniform(0, 1, k) ** 3, 4)
            yield {"p": [float(v) for v in p], "adjusted": [float(v) for v in multipletests(p, method="holm")[1]]}


def unused():
    """Draws of tests that are gone: those after them stay what they were."""
    for n in [1, 2, 3, 4, 5, 6, 6, 6, 7, 8, 9, 10, 12, 15, 20, 30, 50, 100]:
        _ = rng.normal(0, 1, n), rng.integers(0, max(2, n // 2), n), rng.normal(0, 0.5, n), rng.exponential(1, n)
    for n in [4, 5, 6, 7, 10, 20, 40]:
        rng.normal(0, 1, (2, n))
    return []


def trends():
    """Kendall's S and its p value: exact, by all orders where values are tied and there are few, else approximated."""
    for n in [5, 6, 7, 8, 9, 12, 20, 40]:
        for kind in range(5):
            x = np.round(rng.normal(0, 1, n) + kind * np.arange(n) / n * (1 if kind % 2 else -1), 6)
            if kind >= 3:
                x = np.round(x)
            s = int(sum(np.sign(x[j] - x[i]) for i in range(n) for j in range(i + 1, n)))
            time = np.arange(n)
            if len(set(x)) == n:
                p = stats.kendalltau(time, x, method="exact").pvalue
            elif n <= 6:  # the mirror of an order has the opposite S
                all_s = [abs(sum(np.sign(o[j] - o[i]) for i in range(n) for j in range(i + 1, n))) for o in itertools.permutations(x)]
                p = np.mean([a >= abs(s) for a in all_s])
            elif n > 8:
                of = lambda t: t * (t - 1) * (2 * t + 5)
                variance = (of(n) - sum(of(int(t)) for t in np.unique(x, return_counts=True)[1])) / 18
                p = 2 * stats.norm.sf((abs(s) - 1) / math.sqrt(variance)) if s else 1.0
            else:
                continue
            yield {"x": [float(v) for v in x], "s": s, "p": float(p)}


def critical():
    """Thresholds by simulation, for the rules that warn: 99% of pure noise stays below."""
    sims = 400_000
    out = []
    for n in list(range(5, 21)) + [30, 50, 100]:
        x = rng.normal(0, 1, (sims // (1 if n <= 20 else 8), n))
        d = np.abs(x - np.median(x, axis=1)[:, None])
        z = 0.6745 * d.max(axis=1) / np.median(d, axis=1)
        rng.uniform(0, 1, (100_000 if n <= 20 else 40_000, n))  # as in unused
        out.append({"n": n, "z": float(np.quantile(z, 0.99))})
    return out


if __name__ == "__main__":
    result = {
        "made_with": {"scipy": __import__("scipy").__version__, "numpy": np.__version__, "statsmodels": __import__("statsmodels").__version__},
        "pairs": list(pairs()), "holm": list(holm()), "critical": unused() + critical(), "trends": list(trends()),
    }
    lines = [f'"made_with": {json.dumps(result.pop("made_with"))}']
    for key, rows in result.items():
        lines.append(f'"{key}": [\n' + ",\n".join(json.dumps(row, allow_nan=False) for row in rows) + "\n]")
    pathlib.Path(__file__).with_name("reference.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
