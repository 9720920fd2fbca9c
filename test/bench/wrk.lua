-- Sends the requests of a file in turn, one a line: method, path, headers of its own (name=value, parted by |) and body, parted by
-- tabs; begins at the line that it is told.
local requests = {}
local at = 0

local function headers(own)
  if own == '' then return nil end
  local all = {}
  for name, value in pairs(wrk.headers) do all[name] = value end
  for name, value in own:gmatch('([^=|]+)=([^|]*)') do all[name] = value end
  return all
end

function init(args)
  for line in io.lines(args[1]) do
    local method, path, own, body = line:match('^(%S+)\t(%S+)\t([^\t]*)\t(.*)$')
    requests[#requests + 1] = wrk.format(method, path, headers(own), body ~= '' and body or nil)
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
