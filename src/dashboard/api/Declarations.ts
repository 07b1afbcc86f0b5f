// Types that are derived from the API's declarations: the paths, parameters, bodies and responses of the dashboard's requests.
// Only types are imported, so the bundle contains no server code.

import type { HttpApiGroup } from "effect/http-api"
import type { SvcApi } from "../../../schema/api/SvcApi.ts"

type Groups = (typeof SvcApi)["groups"]
type Operations = { readonly [G in keyof Groups]: HttpApiGroup.Endpoints<Groups[G]> }
type LineOf<O> = O extends { readonly method: infer M extends string; readonly path: infer P extends string }
  ? `${M} ${P}`
  : never
type Declared = { readonly [O in Operations[keyof Groups] as LineOf<O>]: O }

/** Every declared route as `METHOD /path/:parameter`. */
export type Line = keyof Declared

/** The declared route of one operation, by group and name. */
export type Endpoint<G extends keyof Groups, N extends Operations[G]["identifier"]> = LineOf<
  Extract<Operations[G], { readonly identifier: N }>
>

/** The transmitted value, which is the encoded side of the codec. */
type Encoded<S> = [S] extends [never]
  ? never
  : S extends { readonly schema: { readonly Encoded: infer E } }
    ? E
    : S extends { readonly Encoded: infer E }
      ? E
      : never
// In TypeScript, `keyof never` includes every key, so this case needs a separate check.
type HeaderNames<S> = [S] extends [never] ? never : keyof Encoded<S>
type RequiredKeys<A> = { [K in keyof A]-?: Record<never, never> extends Pick<A, K> ? never : K }[keyof A]
type Part<K extends string, A> = [A] extends [never]
  ? unknown
  : [RequiredKeys<A>] extends [never]
    ? { readonly [P in K]?: A }
    : { readonly [P in K]: A }

/** A query key without a value is left out of the address. */
type Sparse<A> = [A] extends [never]
  ? never
  : { readonly [K in keyof A]: Record<never, never> extends Pick<A, K> ? A[K] | undefined : A[K] }

/** The parameters of a route's address. */
export type Address<L extends Line> = Part<"params", Encoded<Declared[L]["~Params"]>> &
  Part<"query", Sparse<Encoded<Declared[L]["~Query"]>>>

/** The body of a route. */
export type Body<L extends Line> = Encoded<Declared[L]["~Payload"]>

/** The input of a route. Includes `idempotencyKey` if the request can be repeated without a second effect. */
export type Input<L extends Line> = Address<L> &
  Part<"body", Body<L>> &
  ("idempotency-key" extends HeaderNames<Declared[L]["~Headers"]> ? { readonly idempotencyKey?: string } : unknown)

/** The response of a route, as JSON. */
export type Answer<L extends Line> = Encoded<Declared[L]["~Success"]>

/** The routes that have no input. */
export type Bare = { [L in Line]: [RequiredKeys<Input<L>>] extends [never] ? L : never }[Line]
