import type { JsonLimits } from "../../schema/json/JsonLimits.ts"
import type { JsonPosition, JsonRefusalReason } from "../../schema/json/JsonRefusal.ts"
import type { DocumentPiece } from "./DocumentPieces.ts"
import type { DocumentKind } from "./DocumentReadings.ts"

/**
 * Messages to the thread: a document to read, or a request for further parts of its contents. The thread reads one document
 * at a time.
 */
export type DocumentRequest =
  | {
      readonly kind: "read"
      readonly document: DocumentKind
      /** The bytes are transferred to the thread, not copied. */
      readonly bytes: Uint8Array<ArrayBuffer>
      readonly limits: JsonLimits
    }
  | { readonly kind: "more" }

/**
 * - `piece`: more messages follow
 * - `end`: the last message
 * - `failed`: the thread itself failed, not the parsing of the document
 */
export type DocumentAnswer =
  | { readonly kind: "piece"; readonly piece: DocumentPiece }
  | { readonly kind: "end" }
  | {
      readonly kind: "refused"
      readonly refusal: {
        readonly reason: JsonRefusalReason
        readonly message: string
        readonly position?: JsonPosition
      }
    }
  | { readonly kind: "failed" }
