import type { RedactedLine } from "./RedactionLines.ts"
import type { RedactionItem } from "./Redactor.ts"

/** A secret as it crosses to the thread. Neither side prints it. */
export interface PostedSecret {
  readonly origin: string
  readonly value: string | Uint8Array
}

/**
 * What the thread is asked. It answers each in the order in which they were sent. `redactor` and `stream` are numbers that the
 * asker gives.
 *
 * - `add`: makes the redactor when it is new
 * - `stream`: a piece of a text; `last` ends it
 * - `lines`: some lines of a text of which only the lines are known; `last` ends it. It answers those that are decided
 * - `close`: forgets a redactor, its streams and its secrets
 */
export type RedactionRequest = { readonly id: number; readonly redactor: number } & (
  | { readonly kind: "add"; readonly secrets: ReadonlyArray<PostedSecret> }
  | { readonly kind: "items"; readonly items: ReadonlyArray<RedactionItem> }
  | { readonly kind: "stream"; readonly stream: number; readonly text: string; readonly last: boolean }
  | { readonly kind: "lines"; readonly stream: number; readonly lines: ReadonlyArray<string>; readonly last: boolean }
  | { readonly kind: "close" }
)

/** `texts` is empty for what has no result; only of lines some may be undefined. `failed`: the request could not be done. */
export type RedactionAnswer =
  | { readonly kind: "ready" }
  | { readonly kind: "texts"; readonly id: number; readonly texts: ReadonlyArray<RedactedLine> }
  | { readonly kind: "failed"; readonly id: number }
