/** Faults found since the last test, which the current test reports. */
const faults: Array<string> = []
/** Responses that were checked when they were sent, and are not checked again on arrival. */
const seen = new Set<string>()

/** Messages whose comparison has not finished. */
let comparing: Array<Promise<void>> = []

export const takeFaults = async (): Promise<ReadonlyArray<string>> => {
  await Promise.all(comparing)
  comparing = []
  seen.clear()
  return faults.splice(0)
}

const isText = (type: string) =>
  /^(?:application|text)\/(?:[\w.-]+\+)?json\b|^application\/x-ndjson\b|^text\/html\b/.test(type)

/** The request that produced a response. */
export interface SentRequest {
  readonly method: string
  readonly url: string
  readonly headers: Headers
}

/** Compares a response with the server's description without consuming the body that the test reads. */
const checkAnswer = async ({ headers, method, url }: SentRequest, response: Response): Promise<void> => {
  const id = response.headers.get("x-request-id")
  // Other servers that a test uses have no description.
  if (id === null || seen.has(id) || method === "OPTIONS") return
  // The listener itself responds to an upgrade.
  if (headers.has("upgrade") && response.status === 204) return
  seen.add(id)
  const isRead = response.body === null || isText(response.headers.get("content-type") ?? "")
  const body = isRead ? await response.clone().text() : undefined
  // Builds the description when the first response needs it, because most tests receive none.
  const { answerFault } = await import("./AnswerFaults.ts")
  const fault = answerFault({
    method,
    url,
    requestHeaders: headers,
    status: response.status,
    headers: response.headers,
    body
  })
  if (fault !== undefined) faults.push(fault)
}

/** Compares a frame in a live stream with its route's description. */
const checkFrame = async (url: string, text: string, by: "event" | "message"): Promise<void> => {
  const { frameFault } = await import("./AnswerFaults.ts")
  const fault = frameFault(url, text, by)
  if (fault !== undefined) faults.push(fault)
}

/** Compares a message in a live stream. Messages from other servers have no description. */
export const seeMessage = (url: string, message: unknown): void => {
  if (/\/api\/v1\/runs\/[^/]+\/(?:events|logs)(?:\?|$)/.test(url))
    comparing.push(checkFrame(url, String(message), "message"))
}

/** Returns the same response, and compares each server-sent event with the description as the test reads it. */
const withCheckedFrames = (url: string, response: Response): Response => {
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true
  if (!isStream || response.body === null || !response.headers.has("x-request-id")) return response
  const decoder = new TextDecoder()
  let rest = ""
  const frames = new TransformStream<Uint8Array, Uint8Array>(
    {
      transform: async (chunk, controller) => {
        const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n")
        rest = lines.pop() ?? ""
        for (const line of lines)
          if (line.startsWith("data: ")) await checkFrame(url, line.slice("data: ".length), "event")
        controller.enqueue(chunk)
      }
    },
    { highWaterMark: 1 },
    { highWaterMark: 0 }
  )
  const { headers, status } = response
  return new Response(response.body.pipeThrough(frames), { headers, status })
}

/** Returns the response for the test after comparing it with the description. */
export const checked = async (request: SentRequest, response: Response): Promise<Response> => {
  await checkAnswer(request, response)
  return withCheckedFrames(request.url, response)
}

/** Returns the same server, and compares every response with its description. */
export const checkedAnswers =
  <Rest extends ReadonlyArray<unknown>>(handler: (request: Request, ...rest: Rest) => Promise<Response>) =>
  async (request: Request, ...rest: Rest): Promise<Response> => {
    const { headers, method, url } = request
    return checked({ headers, method, url }, await handler(request, ...rest))
  }
