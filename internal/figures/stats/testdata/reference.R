# Writes reference-r.json: reference values of R for the data sets of reference.json (run reference.py first).
#
#     Rscript reference.R        # R 4.2.2, base packages only
#
# wilcox.test inverts the exact test if there are no ties and both samples have fewer than 50 values; on logarithms its
# location shift is the logarithm of the ratio.
text <- paste(readLines("reference.json"), collapse = "")
pairs <- regmatches(text, gregexpr('"name": "[^"]*", "x": \\[[^]]*\\], "y": \\[[^]]*\\]', text))[[1]]
numbers <- function(s, key) as.numeric(strsplit(sub(paste0('.*"', key, '": \\[([^]]*)\\].*'), "\\1", s), ", ")[[1]])
number <- function(v) sprintf("%.17g", v)

rows <- c()
for (p in pairs) {
  name <- sub('"name": "([^"]*)".*', "\\1", p)
  x <- numbers(p, "x")
  y <- numbers(p, "y")
  if (length(unique(c(x, y))) < length(c(x, y)) || length(x) >= 50 || length(y) >= 50) next
  test <- wilcox.test(x, y, exact = TRUE)
  row <- sprintf('{"name": "%s", "u": %s, "p": %s', name, number(test$statistic), number(test$p.value))
  if (length(x) >= 4 && length(y) >= 4) {
    ci <- wilcox.test(log(y), log(x), exact = TRUE, conf.int = TRUE)
    row <- sprintf('%s, "ratio": %s, "low": %s, "high": %s, "confidence": %s', row, number(exp(ci$estimate)),
                   number(exp(ci$conf.int[1])), number(exp(ci$conf.int[2])), number(attr(ci$conf.int, "conf.level")))
  }
  rows <- c(rows, paste0(row, "}"))
}
holm <- c()
set.seed(6)
for (k in 1:8) {
  p <- round(runif(k)^3, 4)
  holm <- c(holm, sprintf('{"p": [%s], "adjusted": [%s]}', paste(number(p), collapse = ", "), paste(number(p.adjust(p, "holm")), collapse = ", ")))
}
writeLines(c("{", sprintf('"made_with": {"R": "%s"},', getRversion()), '"pairs": [', paste(rows, collapse = ",\n"), "],",
             '"holm": [', paste(holm, collapse = ",\n"), "]", "}"), "reference-r.json")
