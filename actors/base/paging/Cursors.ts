import { Context, Effect, Layer, Result, Schema } from "effect"
import { Base64Url } from "effect/encoding"
import { invalidRequest, type ApiError } from "../../../schema/errors/ApiError.ts"
import { Vault } from "../vault/Vault.ts"

/** The list to which a cursor belongs. All other lists reject the cursor. */
export interface CursorBinding {
  /** Name of the list, e.g. `workspaces.list`. */
  readonly route: string
  /** The subject whose list it is. */
  readonly subject: string
  /** Every query value that shapes the list apart from `limit` and `cursor`, in a fixed order. */
  readonly filter?: ReadonlyArray<string | undefined> | undefined
}

const maxLength = 2048
const decodeAnchor = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Array(Schema.String)))
const refused = () => invalidRequest("The cursor is not one of this list. Start again without a cursor.")

const signedText = (binding: CursorBinding, payload: string) =>
  JSON.stringify([binding.route, binding.subject, ...(binding.filter ?? []).map((part) => part ?? null), payload])

/**
 * Opaque cursors: they record the end of the previous page and are authenticated, so that a client can neither forge a cursor nor
 * use it on another list. The anchor itself is readable and therefore contains nothing that the page did not show.
 */
export class Cursors extends Context.Service<
  Cursors,
  {
    /** Creates the cursor for a page that ended at `anchor`: the sort values of its last row. */
    readonly encode: (binding: CursorBinding, anchor: ReadonlyArray<string>) => Effect.Effect<string>
    /** The anchor of a cursor for exactly this list with `parts` values; fails with `invalid_request` for anything else. */
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
