import { type Brand, Effect, type Redacted, Schema } from "effect"
import type { SvcError } from "./SvcError.ts"
import { svcErrorOf } from "./SvcError.ts"

/** A request in the form that programs write, with plain strings instead of the API's branded ids, paths and names. */
export type Plain<A> =
  A extends Brand.Brand<string>
    ? Brand.Brand.Unbranded<A>
    : A extends Redacted.Redacted<infer _> | Uint8Array
      ? A
      : A extends object
        ? { readonly [K in keyof A]: Plain<A[K]> }
        : A

/** Checks a plain request against the API's schema. */
export const requestOf = <S extends Schema.Codec<unknown, unknown>>(schema: S) => {
  const decode = Schema.decodeUnknownEffect(Schema.toType(schema))
  return (plain: Plain<S["Type"]>): Effect.Effect<S["Type"], SvcError> => Effect.mapError(decode(plain), svcErrorOf)
}
