import type { RedactedLine } from "./RedactionLines.ts"
import type { RedactionItem } from "./Redactor.ts"

/** A secret on its way to the thread. Neither side prints it. */
export interface PostedSecret {
  readonly origin: string
  readonly value: string | Uint8Array
}

/**
 * Requests to the thread, answered in order. `redactor` and `stream` are numbers that the sender chooses.
 *
 * - `add`: creates the redactor if it is new; `addressKey` is the key for the digests of secret instance keys
 * - `stream`: a piece of a text; `last` marks the final piece
 * - `lines`: lines of a text that arrives line by line; `last` marks the final lines. Returns the lines decided so far
 * - `close`: forgets a redactor, its streams and its secrets
 */
export type RedactionRequest = { readonly id: number; readonly redactor: number } & (
  | { readonly kind: "add"; readonly secrets: ReadonlyArray<PostedSecret>; readonly addressKey?: string | undefined }
  | { readonly kind: "items"; readonly items: ReadonlyArray<RedactionItem> }
  | { readonly kind: "stream"; readonly stream: number; readonly text: string; readonly last: boolean }
  | { readonly kind: "lines"; readonly stream: number; readonly lines: ReadonlyArray<string>; readonly last: boolean }
  | { readonly kind: "close" }
)

/**
 * `texts` is empty for requests without a result; only items for lines may be undefined. `failed`: the thread could not carry out
 * the request.
 */
export type RedactionAnswer =
  | { readonly kind: "ready" }
  | { readonly kind: "texts"; readonly id: number; readonly texts: ReadonlyArray<RedactedLine> }
  | { readonly kind: "failed"; readonly id: number }
