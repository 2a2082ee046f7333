// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Counters in Prometheus' text exposition format, version 0.0.4.
#include <dbc/batcher.h>

#include <charconv>

namespace dbc {

namespace {
/// The shortest digits that are this number again, whatever the locale.
std::string digits(double value) {
  char text[32];
  return std::string(text, std::to_chars(text, text + sizeof(text), value, std::chars_format::general).ptr);
}

/// `batcher="name"`, with what would end or break the line escaped.
std::string label(const std::string &name) {
  std::string text = "batcher=\"";
  for (char c : name)
    if (c == '\n')
      text += "\\n";
    else if (c == '"' || c == '\\')
      text.append({'\\', c});
    else
      text += c;
  return text + '"';
}

void head(std::string &text, const std::string &metric, const char *type, const char *help) {
  text += "# HELP " + metric + " " + help + "\n# TYPE " + metric + " " + type + "\n";
}

void line(std::string &text, const std::string &metric, const std::string &labels, const std::string &value) {
  text += metric + "{" + labels + "} " + value + "\n";
}

void gauge(std::string &text, const std::vector<BatcherCounters> &batchers, const std::string &metric,
           const char *help, uint64_t BatcherCounters::*value) {
  head(text, metric, "gauge", help);
  for (const BatcherCounters &batcher : batchers)
    line(text, metric, label(batcher.name), std::to_string(batcher.*value));
}

/// Prometheus' buckets hold what the smaller ones hold, too.
void histogram(std::string &text, const std::vector<BatcherCounters> &batchers, const std::string &metric,
               const char *help, Histogram BatcherCounters::*value) {
  head(text, metric, "histogram", help);
  for (const BatcherCounters &batcher : batchers) {
    const Histogram &values = batcher.*value;
    const std::string name = label(batcher.name);
    uint64_t so_far = 0;
    for (size_t i = 0; i < values.counts.size(); ++i) {
      so_far += values.counts[i];
      const std::string bound = i < values.bounds.size() ? digits(values.bounds[i]) : "+Inf";
      line(text, metric + "_bucket", name + ",le=\"" + bound + "\"", std::to_string(so_far));
    }
    line(text, metric + "_sum", name, digits(values.sum));
    line(text, metric + "_count", name, std::to_string(so_far));
  }
}
} // namespace

std::string prometheus_text(const std::vector<BatcherCounters> &batchers) {
  static const struct {
    const char *name;
    uint64_t BatcherCounters::*value;
  } outcomes[] = {{"answered", &BatcherCounters::answered},
                  {"failed", &BatcherCounters::failed},
                  {"cancelled", &BatcherCounters::cancelled},
                  {"expired", &BatcherCounters::expired},
                  {"refused", &BatcherCounters::refused}};
  std::string text;
  head(text, "dbc_requests_total", "counter", "Requests that are done, by what became of them.");
  for (const BatcherCounters &batcher : batchers)
    for (const auto &outcome : outcomes)
      line(text, "dbc_requests_total", label(batcher.name) + ",outcome=\"" + outcome.name + "\"",
           std::to_string(batcher.*outcome.value));
  gauge(text, batchers, "dbc_requests_waiting", "Requests in the queue.", &BatcherCounters::waiting);
  gauge(text, batchers, "dbc_requests_running", "Requests that are computed.", &BatcherCounters::running);
  histogram(text, batchers, "dbc_batch_size", "Requests of each batch.", &BatcherCounters::batch_size);
  histogram(text, batchers, "dbc_request_seconds",
            "Seconds from submission to the end, of requests that were answered or failed.",
            &BatcherCounters::seconds);
  return text;
}

} // namespace dbc
