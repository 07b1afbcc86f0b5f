import { Context, Effect, Layer, Result, Schema } from "effect"
import { Base64Url } from "effect/encoding"
import { invalidRequest, type ApiError } from "../../../schema/errors/ApiError.ts"
import { Vault } from "../vault/Vault.ts"

/** The list that a cursor belongs to. Every other list rejects the cursor. */
export interface CursorBinding {
  /** The list's name, such as `workspaces.list`. */
  readonly route: string
  /** The subject who reads the list. */
  readonly subject: string
  /** All query values that affect the list except `limit` and `cursor`, in a fixed order. */
  readonly filter?: ReadonlyArray<string | undefined> | undefined
}

const maxLength = 2048
const decodeAnchor = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Array(Schema.String)))
const refused = () => invalidRequest("The cursor is not one of this list. Start again without a cursor.")

const signedText = (binding: CursorBinding, payload: string) =>
  JSON.stringify([binding.route, binding.subject, ...(binding.filter ?? []).map((part) => part ?? null), payload])

/**
 * Opaque, authenticated cursors. A client cannot forge a cursor or use it for another list. A client can read the anchor in
 * its cursor, so the anchor must contain only values that the page showed.
 */
export class Cursors extends Context.Service<
  Cursors,
  {
    /** Creates the cursor after a page that ended at `anchor`, the sort values of its last row. */
    readonly encode: (binding: CursorBinding, anchor: ReadonlyArray<string>) => Effect.Effect<string>
    /**
     * Decodes a cursor of this list and returns its anchor. Fails with `invalid_request` if the cursor belongs to another
     * list or its anchor does not have exactly `parts` values.
     */
    readonly decode: (
      binding: CursorBinding,
      cursor: string,
      parts: number
    ) => Effect.Effect<ReadonlyArray<string>, ApiError>
  }
>()("svc/actors/base/paging/Cursors") {
  static readonly layer = Layer.effect(
    Cursors,
    Effect.gen(function* () {
      const vault = yield* Vault

      const encode = Effect.fnUntraced(function* (binding: CursorBinding, anchor: ReadonlyArray<string>) {
        const payload = Base64Url.encode(JSON.stringify(anchor))
        return `${payload}.${yield* vault.mac("cursor", signedText(binding, payload))}`
      })

      const decode = Effect.fnUntraced(function* (binding: CursorBinding, cursor: string, parts: number) {
        const [payload, digest, ...rest] = cursor.length > maxLength ? [] : cursor.split(".")
        if (payload === undefined || digest === undefined || rest.length > 0) return yield* refused()
        if (!(yield* vault.verifyMac("cursor", signedText(binding, payload), digest))) return yield* refused()
        const text = Base64Url.decodeString(payload)
        if (Result.isFailure(text)) return yield* refused()
        const anchor = yield* decodeAnchor(text.success).pipe(Effect.mapError(refused))
        return anchor.length === parts ? anchor : yield* refused()
      })

      return Cursors.of({ encode, decode })
    })
  )
}
