-- Sends the requests of a file in turn, one a line: method, path, authorization (empty for the usual one) and body, parted by
-- tabs; begins at the line that it is told.
local requests = {}
local at = 0

local function headers(authorization)
  if authorization == '' then return nil end
  local own = {}
  for name, value in pairs(wrk.headers) do own[name] = value end
  own.authorization = authorization
  return own
end

function init(args)
  for line in io.lines(args[1]) do
    local method, path, authorization, body = line:match('^(%S+)\t(%S+)\t([^\t]*)\t(.*)$')
    requests[#requests + 1] = wrk.format(method, path, headers(authorization), body ~= '' and body or nil)
  end
  at = tonumber(args[2])
end

function request()
  at = at % #requests + 1
  return requests[at]
end

function done(summary, latency)
  local e = summary.errors
  io.write(string.format(
    '\nRESULT {"requests":%d,"seconds":%f,"p50":%f,"p99":%f,"refused":%d,"broken":%d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    e.status, e.connect + e.read + e.write + e.timeout
  ))
end
