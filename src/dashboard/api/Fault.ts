/** An unsuccessful API response, or a request without a response (`status` 0, code `network`). */
export class Fault extends Error {
  readonly status: number
  readonly code: string
  readonly requestId: string | undefined

  constructor(fields: {
    readonly status: number
    readonly code: string
    readonly message: string
    readonly requestId?: string
  }) {
    super(fields.message)
    this.name = "Fault"
    this.status = fields.status
    this.code = fields.code
    this.requestId = fields.requestId
  }

  /** True if the request is worth repeating, because the network failed or the server is overloaded or restarting. */
  get transient(): boolean {
    return this.status === 0 || this.status === 429 || this.status === 502 || this.status === 503 || this.status === 504
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined)

/**
 * Reads the error envelope `{error: {code, message, requestId}}`. A proxy's response without an envelope also becomes a Fault.
 */
export const faultFrom = (status: number, body: unknown, requestId: string | null): Fault => {
  const error = isRecord(body) && isRecord(body.error) ? body.error : {}
  const id = text(error.requestId) ?? requestId ?? undefined
  return new Fault({
    status,
    code: text(error.code) ?? `http_${status}`,
    message: text(error.message) ?? `The server answered ${status}.`,
    ...(id === undefined ? {} : { requestId: id })
  })
}
