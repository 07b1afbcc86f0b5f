// Requests that can be derived from a page's address. They are sent before the page's own code has arrived, and the code uses
// their responses.

interface EarlyRequest {
  readonly sentAt: number
  readonly response: Promise<Response>
}

declare global {
  interface Window {
    /**
     * Two bundles share this state: a small bundle that sends the requests, and the page's own code, which takes the
     * responses.
     */
    svcEarlyRequests?: Map<string, EarlyRequest>
  }
}

/** If a response has not been taken within this time, it is outdated. */
const keptMs = 30_000

const kept = (): Map<string, EarlyRequest> => (window.svcEarlyRequests ??= new Map())

const send = (url: string): Promise<Response> => {
  const response = fetch(url, { headers: { accept: "application/json" }, credentials: "same-origin" })
  kept().set(url, { sentAt: performance.now(), response })
  return response
}

/**
 * Sends a GET request now, and passes the JSON of a successful response to `then`, which may send another request. Failures
 * are left to the page's code.
 */
export const askEarly = <A>(url: string, then: (body: A) => void = () => undefined): void => {
  send(url)
    .then(async (answer) => {
      if (answer.ok) then(await answer.clone().json())
    })
    .catch(() => undefined)
}

/**
 * Like `askEarly`, for a record that may be megabytes long. Passes on the first characters of the response, unparsed, as
 * soon as they arrive, so that later requests do not wait for the rest. Only the page's code parses the record.
 */
export const askEarlyForHead = (url: string, then: (head: string) => void): void => {
  send(url)
    .then(async (answer) => {
      if (!answer.ok) return
      const reader = answer.clone().body?.getReader()
      const first = await reader?.read()
      if (first?.value !== undefined) then(new TextDecoder().decode(first.value.subarray(0, 1024)))
      await reader?.cancel()
    })
    .catch(() => undefined)
}

/** Returns the response to an early GET request. Each response is returned only once, and only while it is fresh. */
export const takeEarly = (url: string): Promise<Response> | undefined => {
  const found = kept().get(url)
  kept().delete(url)
  return found === undefined || performance.now() - found.sentAt > keptMs ? undefined : found.response
}
