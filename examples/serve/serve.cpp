// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The binary Tree-LSTM behind HTTP. Trees that come while others are computed are the next batch.
//
//   POST /sentiment   a tree as tree.h reads it; gives the probabilities of the classes as JSON
//   GET /metrics      counters for Prometheus
//
// usage: serve [PORT [MAX_BATCH [MAX_DELAY_US]]]; port 0 is one that is free. Ends on SIGINT or SIGTERM, when
// all requests that it has taken are answered.
#include "predictor.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <httplib.h>
#include <pthread.h>
#include <thread>

using namespace std::chrono_literals;

/// The number of HTTP that says the same.
int http_status(dbc::Code code) {
  switch (code) {
  case dbc::Code::ok:
    return 200;
  case dbc::Code::bad_input:
    return 400;
  case dbc::Code::unavailable:
    return 503;
  case dbc::Code::deadline:
    return 504;
  default:
    return 500;
  }
}

void predict(dbc::Batcher<Tree, Scores> &batcher, const httplib::Request &request,
             httplib::Response &response) {
  // Read here, by one of many threads; the worker is to do nothing but compute.
  Tree tree;
  Scores scores;
  dbc::Status status = parse(request.body, &tree);
  if (status.ok())
    status = batcher.submit(std::move(tree), std::chrono::steady_clock::now() + 1s).get(&scores);
  response.status = http_status(status.code);
  if (!status.ok())
    return response.set_content(status.message + "\n", "text/plain");
  std::string json;
  for (float score : scores) {
    char text[32];
    std::snprintf(text, sizeof(text), "%s%.6g", json.empty() ? "[" : ", ", score);
    json += text;
  }
  response.set_content(json + "]\n", "application/json");
}

int main(int argc, char **argv) {
  // Signals are for the thread that waits for them.
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);

  tree_lstm::Weights weights;
  weights.draw(1); // or dbc::load_weights("weights.safetensors", weights) of <dbc/io/safetensors.h>
  tree_lstm::Model model;
  if (dbc::Status made = tree_lstm::Model::make(weights, &model); !made.ok())
    return std::fprintf(stderr, "%s\n", made.message.c_str()), 1;

  Predictor predictor(model);
  // Whole numbers from `least` on.
  const auto number = [&](int at, int otherwise, int least) {
    if (at >= argc)
      return otherwise;
    char *end = nullptr;
    const long value = std::strtol(argv[at], &end, 10);
    if (*argv[at] == 0 || *end != 0 || value < least || value > 1'000'000'000) {
      std::fprintf(stderr, "usage: serve [PORT [MAX_BATCH [MAX_DELAY_US]]]; `%s` is none of them\n",
                   argv[at]);
      std::exit(2);
    }
    return static_cast<int>(value);
  };
  dbc::BatcherOptions options;
  options.name = "tree_lstm";
  options.max_batch = number(2, options.max_batch, 1);
  options.max_delay = std::chrono::microseconds(number(3, 0, 0));
  dbc::Batcher<Tree, Scores> batcher(options, std::ref(predictor));

  httplib::Server server;
  server.new_task_queue = [] { return new httplib::ThreadPool(256); }; // one for each connection
  server.set_socket_options([](socket_t socket) { // the default shares the port with a server that has it
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  });
  server.set_tcp_nodelay(true);
  server.set_keep_alive_max_count(1000000);
  server.Post("/sentiment", [&](const httplib::Request &request, httplib::Response &response) {
    predict(batcher, request, response);
  });
  server.Get("/metrics", [&](const httplib::Request &, httplib::Response &response) {
    response.set_content(dbc::prometheus_text({batcher.counters()}), "text/plain; version=0.0.4");
  });

  const int wanted = number(1, 8080, 0);
  const char *host = "127.0.0.1";
  const int port =
      wanted != 0 ? (server.bind_to_port(host, wanted) ? wanted : -1) : server.bind_to_any_port(host);
  if (port < 0)
    return std::fprintf(stderr, "port %d cannot be listened at\n", wanted), 1;
  std::printf("http://%s:%d\n", host, port);
  std::fflush(stdout);
  std::thread ender([&] {
    int which;
    sigwait(&ends, &which);
    server.stop();
  });
  server.listen_after_bind();
  pthread_kill(ender.native_handle(), SIGTERM); // where it was not a signal that ended it
  ender.join();
}
