import { type Context, Metric } from "effect"

const requests = Metric.counter("svc_http_requests_total", {
  description: "Answered HTTP requests by method and status.",
  incremental: true
})

const seconds = Metric.histogram("svc_http_request_duration_seconds", {
  description: "Time from the arrival of an HTTP request to its answer.",
  boundaries: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
})

const knownMethods: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])

const labels = (method: string, status: number) => ({
  method: knownMethods.has(method) ? method : "other",
  status: String(status)
})

// One counter per defined method and status, so that clients cannot create counters.
const counters = new Map<string, ReturnType<typeof counterOf>>()
const counterOf = (method: string, status: number) => Metric.withAttributes(requests, labels(method, status))

const counter = (method: string, status: number) => {
  const key = `${knownMethods.has(method) ? method : "other"} ${status}`
  const known = counters.get(key) ?? counterOf(method, status)
  counters.set(key, known)
  return known
}

/** Counts one completed request. All undefined methods share one label, so that clients cannot create time series. */
export const countRequest = (context: Context.Context<never>, method: string, status: number, millis: number): void => {
  counter(method, status).updateUnsafe(1, context)
  seconds.updateUnsafe(millis / 1000, context)
}
