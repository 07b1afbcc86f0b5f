import type { RedactedLine } from "./RedactionLines.ts"
import type { RedactionItem } from "./Redactor.ts"

/** A secret in a message to the thread. Neither side may print it. */
export interface PostedSecret {
  readonly origin: string
  readonly value: string | Uint8Array
}

/**
 * Requests to the thread, which responds to them in order. The sender chooses the numbers `redactor` and `stream`.
 *
 * - `add`: creates the redactor if it is new; `addressKey` is the key for the digests of secret instance keys
 * - `stream`: a piece of a text; `last` marks the final piece
 * - `lines`: lines of a text that arrives line by line; `last` marks the final lines; returns the lines decided so far
 * - `close`: drops a redactor, its streams and its secrets
 */
export type RedactionRequest = { readonly id: number; readonly redactor: number } & (
  | { readonly kind: "add"; readonly secrets: ReadonlyArray<PostedSecret>; readonly addressKey?: string | undefined }
  | { readonly kind: "items"; readonly items: ReadonlyArray<RedactionItem> }
  | { readonly kind: "stream"; readonly stream: number; readonly text: string; readonly last: boolean }
  | { readonly kind: "lines"; readonly stream: number; readonly lines: ReadonlyArray<string>; readonly last: boolean }
  | { readonly kind: "close" }
)

/**
 * `texts` is empty for requests without a result. Only items that stand for lines may be undefined. `failed` means that the
 * thread could not process the request.
 */
export type RedactionAnswer =
  | { readonly kind: "ready" }
  | { readonly kind: "texts"; readonly id: number; readonly texts: ReadonlyArray<RedactedLine> }
  | { readonly kind: "failed"; readonly id: number }
