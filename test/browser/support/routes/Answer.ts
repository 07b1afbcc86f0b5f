import type { RunEvent } from "../../../../src/dashboard/api/Types.ts"

export interface Asked {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly body: unknown
  readonly origin: string
  readonly emitEvent: (runId: string, event: Omit<RunEvent, "seq" | "at">) => void
}

export interface Answer {
  readonly status: number
  readonly body?: unknown
}

export const ok = (body: unknown, status = 200): Answer => ({ status, body })

export const refuse = (status: number, code: string, message: string): Answer => ({
  status,
  body: { error: { code, message, requestId: "req_test" } }
})

export const missing = refuse(404, "not_found", "Not found.")

export const field = (body: unknown, name: string): unknown =>
  typeof body === "object" && body !== null ? Reflect.get(body, name) : undefined

export const textField = (body: unknown, name: string): string | undefined => {
  const value = field(body, name)
  return typeof value === "string" ? value : undefined
}

export const numberField = (body: unknown, name: string): number | undefined => {
  const value = field(body, name)
  return typeof value === "number" ? value : undefined
}
