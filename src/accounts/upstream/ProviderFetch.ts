/** Maximum size of a response. Metadata, keys, tokens and profiles are small, although a profile may list many groups. */
const maxAnswerBytes = 1024 * 1024

interface ProviderRequest {
  readonly method: string
  readonly headers: HeadersInit
  readonly body?: unknown
  readonly signal?: AbortSignal | undefined
}

const sentBody = (body: unknown): string | null => {
  if (body === undefined || body === null) return null
  if (typeof body === "string") return body
  if (body instanceof URLSearchParams) return body.toString()
  throw new Error("a body of this kind is never sent")
}

const boundedBody = async (answer: Response): Promise<Uint8Array<ArrayBuffer>> => {
  const parts: Array<Uint8Array> = []
  let received = 0
  for await (const part of answer.body ?? []) {
    received += part.length
    if (received > maxAnswerBytes) throw new Error(`the answer has more than ${maxAnswerBytes} bytes`)
    parts.push(part)
  }
  return new Uint8Array(Buffer.concat(parts))
}

/**
 * Disables decompression, because a small response could decompress to a very large one. Bun's type definitions for fetch
 * lack this option.
 */
const undecompressed = { decompress: false }

/**
 * The `fetch` that the libraries use for the upstream provider. It limits the size of a response, does not decompress it and
 * does not follow redirects. The libraries refuse redirects and set the deadline.
 */
export const providerFetch = async (address: string, request: ProviderRequest): Promise<Response> => {
  const { body, headers, method, signal } = request
  const sent = new Headers(headers)
  sent.set("accept-encoding", "identity")
  const ended = new AbortController()
  const answer = await fetch(address, {
    method,
    headers: sent,
    redirect: "manual",
    ...undecompressed,
    signal: signal === undefined ? ended.signal : AbortSignal.any([signal, ended.signal]),
    body: sentBody(body)
  })
  try {
    const bytes = await boundedBody(answer)
    const empty = answer.status === 204 || answer.status === 205 || answer.status === 304
    return new Response(empty ? null : bytes, { status: answer.status, headers: answer.headers })
  } finally {
    ended.abort()
  }
}
