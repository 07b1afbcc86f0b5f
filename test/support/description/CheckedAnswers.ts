/** What was found since the last test, for the test that is running. */
const faults: Array<string> = []
/** Answers that were checked where they were given and need no second look where they arrive. */
const seen = new Set<string>()

export const takeFaults = (): ReadonlyArray<string> => {
  seen.clear()
  return faults.splice(0)
}

const isText = (type: string) =>
  /^(?:application|text)\/(?:[\w.-]+\+)?json\b|^application\/x-ndjson\b|^text\/html\b/.test(type)

/** The request that an answer is for. */
export interface SentRequest {
  readonly method: string
  readonly url: string
  readonly headers: Headers
}

/** Compares an answer with the description of the server, and leaves what the test reads untouched. */
export const checkAnswer = async ({ headers, method, url }: SentRequest, response: Response): Promise<void> => {
  const id = response.headers.get("x-request-id")
  // Other servers of a test are not described.
  if (id === null || seen.has(id) || method === "OPTIONS") return
  // The listener has answered an upgrade itself.
  if (headers.has("upgrade") && response.status === 204) return
  seen.add(id)
  const isRead = response.body === null || isText(response.headers.get("content-type") ?? "")
  const body = isRead ? await response.clone().text() : undefined
  // The description is built once an answer needs it: most tests get none.
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

/** The same server, whose every answer is compared with its description. */
export const checkedAnswers =
  <Rest extends ReadonlyArray<unknown>>(handler: (request: Request, ...rest: Rest) => Promise<Response>) =>
  async (request: Request, ...rest: Rest): Promise<Response> => {
    const { headers, method, url } = request
    const response = await handler(request, ...rest)
    await checkAnswer({ headers, method, url }, response)
    return response
  }
