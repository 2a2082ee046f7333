-- Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
--
-- What wrk sends: the trees in $TREES, a line each, in turn. With $PAUSE_MS each connection pauses before a request, for a
-- time drawn from an exponential distribution of that mean, so that requests come as if from many independent clients.

local pause = tonumber(os.getenv("PAUSE_MS")) or 0
local requests, at = {}, 0
wrk.method = "POST"
wrk.path = "/sentiment"

function init()
  for line in io.lines(os.getenv("TREES")) do
    requests[#requests + 1] = wrk.format(nil, nil, nil, line)
  end
end

function request()
  at = at % #requests + 1
  return requests[at]
end

if pause > 0 then
  function delay()
    return math.floor(-pause * math.log(1 - math.random()) + 0.5)
  end
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format("requests %d microseconds %d p50 %d p90 %d p99 %d errors %d\n", summary.requests, summary.duration,
    latency:percentile(50), latency:percentile(90), latency:percentile(99),
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
