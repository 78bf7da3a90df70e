# Writes signed-r.json: paired data sets and reference values of R.
#
#     Rscript signed.R        # R 4.2.2, base packages only
#
# Nothing here shares an algorithm with the Go code where that can be avoided: without ties p comes from psignrank, and must be
# that of wilcox.test; with ties or zeros it is that of all 2^n signs up to 14 pairs, beyond that of the characteristic function.
#
# Ties must be ties in R and in Go. So tied logarithms are of equal pairs, of swapped ones, or of 2^k against 1; clear() makes sure that what is
# not a tie is not nearly one.
RNGkind("Mersenne-Twister", "Inversion", "Rejection")
set.seed(20261122)
most <- 60 # exact up to here: ExactLimit

sets <- list()
add <- function(kind, x, y) {
  name <- sprintf("%s, %d pairs [%d]", kind, length(x), length(sets))
  sets[[length(sets) + 1]] <<- list(name = name, x = x, y = y)
}

# n pairs with a common factor of the machine; y is larger by a factor.
noisy <- function(kind, n, factor = 1, spread = 0.02, machine = 0.2, off = 0) {
  both <- exp(rnorm(n, 9, machine))
  add(kind, both * exp(rnorm(n, 0, spread)), both * factor * exp(rnorm(n, 0, spread) + off))
}
powers <- function(n, from, to) 2^sample(c(from:-1, 1:to), n, replace = TRUE)
# Pairs of a few values, in both orders, as from a coarse clock.
coarse <- function(n) {
  of <- list(c(10, 11), c(10, 12), c(11, 13), c(12, 17))[sample(4, n, replace = TRUE)]
  lapply(of, function(p) if (runif(1) < 0.35) rev(p) else p)
}
column <- function(pairs, i) sapply(pairs, function(p) p[i])

for (n in 1:5) {
  noisy("few", n, 1.1)
  add("few with ties", rep(1, n), powers(n, -1, 2))
  if (n > 1) add("few with zeros", c(7, exp(rnorm(n - 1))), c(7, exp(rnorm(n - 1, 0.5))))
}
for (n in 6:12) {
  noisy("lognormal", n)
  noisy("shifted by 10 %", n, 1.1, 0.03)
  noisy("shifted by 1 %", n, 1.01, 0.01)
}
for (n in c(6, 7, 8, 10, 12, 14)) {
  add("ties", rep(1, n), powers(n, -2, 3))
  pairs <- coarse(n)
  add("ties of a coarse clock", column(pairs, 1), column(pairs, 2))
  noisy("zeros", n, 1.03)
  same <- sample(n, n %/% 3)
  sets[[length(sets)]]$y[same] <- sets[[length(sets)]]$x[same]
  add("ties and zeros", rep(1, n), 2^sample(-2:3, n, replace = TRUE))
}
for (n in c(6, 7, 8, 9, 10, 12)) {
  wild <- rep(0, n)
  wild[1] <- 2
  wild[n] <- -3.4
  noisy("outliers", n, 1.05, off = wild)
  noisy("Cauchy", n, off = pmin(pmax(rcauchy(n), -20), 20))
  noisy("two modes", n, off = ifelse(seq_len(n) %% 2 == 0, 0.3, -0.1))
}
add("the same", rep(5, 6), rep(5, 6))
add("two constants", rep(5, 6), rep(6, 6))
add("all but one the same", 1:6, c(1:5, 7))
add("apart", c(1, 2, 3, 4, 5, 6), c(7, 8.5, 9, 10, 11, 12))
add("tiny and huge", c(1e-9, 2e-9, 4e-9, 8e-9, 1, 1e9, 3), c(1e9, 3e9, 1e9, 1e-9, 5, 6, 3.5))
for (n in c(20, 30, 60, 61, 80, 120)) {
  noisy("large", n, 1.01, 0.05)
  add("large with ties", rep(1, n), powers(n, -3, 4))
}
noisy("large, far apart", 40, 1.1, 0.02)
noisy("large, far apart", 100, 1.1, 0.02)
# Exact: 57 and 60 of them differ. Not the interval, which takes all pairs.
for (n in c(65, 61)) {
  noisy("large with zeros", n, 1.02, 0.05)
  sets[[length(sets)]]$y[1:(n - if (n == 65) 57 else 60)] <- sets[[length(sets)]]$x[1:(n - if (n == 65) 57 else 60)]
}
noisy("approximated with zeros", 75, 1.01, 0.05)
sets[[length(sets)]]$y[3:6] <- sets[[length(sets)]]$x[3:6]
# The sum of the ranks is its mean, or next to it: the continuity correction has nothing to correct.
middle <- function(n, above) add("in the middle", rep(1, n), exp(ifelse(seq_len(n) %in% above, 1, -1) * seq_len(n) / 100))
middle(63, setdiff(seq(1, 63, 2), c(1, 15)))
middle(61, c(seq(3, 59, 2), 46))

# What is not the same is not nearly the same, either.
clear <- function(d) all(diff(sort(unique(abs(d)))) > 1e-9) && !any(d != 0 & abs(d) < 1e-9)

two <- function(below, beyond) min(1, 2 * min(below, beyond))

# all signs: each of the 2^n ways to have the ranks above or below.
signs <- function(r, v) {
  sums <- 0
  for (rank in r) sums <- c(sums, sums + rank)
  two(mean(sums <= v), mean(sums >= v))
}

# The distribution of the doubled sum from its characteristic function, the product of those of the signs.
characteristic <- function(r, v) {
  size <- sum(2 * r) + 1
  t <- 2 * pi * (seq_len(size) - 1) / size
  f <- rep(1 + 0i, size)
  for (rank in 2 * r) f <- f * (1 + exp(1i * t * rank)) / 2
  p <- Re(fft(f)) / size
  s <- seq_len(size) - 1
  two(sum(p[s <= 2 * v]), sum(p[s >= 2 * v]))
}

# The k-th smallest and largest of the means have the confidence.
count <- function(n) {
  if (n > most) {
    k <- n * (n + 1) / 4 - qnorm(0.975) * sqrt(n * (n + 1) * (2 * n + 1) / 24)
    stopifnot(abs(k - round(k)) > 1e-6)
    return(list(k = floor(k), reached = 0.95))
  }
  k <- 0
  while (1 - 2 * psignrank(k, n) >= 0.95) k <- k + 1
  stopifnot(k == qsignrank(0.025, n))
  list(k = k, reached = 1 - 2 * psignrank(k - 1, n))
}

close <- function(a, b, by = 1e-9) stopifnot(all(abs(a - b) <= by * abs(b)))
number <- function(v) if (is.null(v)) "null" else sprintf("%.17g", v)
numbers <- function(v) paste0("[", paste(number(v), collapse = ", "), "]")

rows <- c()
for (s in sets) {
  d <- log(s$y) - log(s$x)
  stopifnot(clear(d), (d == 0) == (s$x == s$y))
  off <- d[d != 0]
  n <- length(off)
  tied <- length(unique(abs(off))) < n
  zeros <- length(d) - n
  r <- rank(abs(off))
  v <- sum(r[off > 0])
  test <- function(...) suppressWarnings(wilcox.test(log(s$y), log(s$x), paired = TRUE, ...))
  if (n > 0) stopifnot(test(exact = FALSE)$statistic == v)
  if (n == 0) {
    p <- 1
  } else if (n > most) {
    p <- test(exact = FALSE, correct = TRUE)$p.value
  } else if (!tied) { # zeros are left out
    p <- two(psignrank(v, n), psignrank(v - 1, n, lower.tail = FALSE))
    if (zeros == 0) close(test(exact = TRUE)$p.value, p)
    if (n <= 14) close(signs(r, v), p)
  } else if (n <= 14) {
    p <- signs(r, v)
    close(characteristic(r, v), p)
  } else {
    p <- characteristic(r, v)
  }
  row <- sprintf('{"name": "%s", "x": %s, "y": %s, "v": %s, "p": %s, "exact": %s, "tied": %s, "zeros": %d', s$name, numbers(s$x),
                 numbers(s$y), number(v), number(p), tolower(n <= most), tolower(tied), zeros)
  # Modified z-scores of the ratios, as of Iglewicz and Hoaglin.
  wild <- abs(0.6745 * (d - median(d)) / median(abs(d - median(d)))) > 3.5
  row <- sprintf('%s, "outliers": %d', row, sum(wild, na.rm = TRUE))
  if (length(d) >= 6) {
    means <- outer(d, d, "+") / 2
    means <- sort(means[upper.tri(means, diag = TRUE)])
    ends <- count(length(d))
    low <- means[ends$k]
    high <- means[length(means) + 1 - ends$k]
    if (!tied && zeros == 0 && n <= most) {
      ci <- test(exact = TRUE, conf.int = TRUE)
      close(exp(ci$conf.int), exp(c(low, high)))
      close(exp(ci$estimate), exp(median(means)))
    }
    row <- sprintf('%s, "ratio": %s, "interval": {"low": %s, "high": %s, "confidence": %s}', row, number(exp(median(means))),
                   number(exp(low)), number(exp(high)), number(ends$reached))
  }
  rows <- c(rows, paste0(row, "}"))
}
writeLines(c("{", sprintf('"made_with": {"R": "%s"},', getRversion()), '"pairs": [', paste(rows, collapse = ",\n"), "]", "}"), "signed-r.json")
