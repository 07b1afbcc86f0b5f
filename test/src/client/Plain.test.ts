import { expect, test } from "bun:test"
import { type Brand, Effect } from "effect"
import { NewDependency } from "../../../schema/records/Capsule.ts"
import type {
  Capsules,
  Connections,
  InstallPlans,
  Members,
  RevisionPlans,
  Runs,
  Sources,
  Workspaces
} from "../../../src/client/index.ts"
import { requestOf } from "../../../src/client/Plain.ts"
import { it } from "../../support/Effect.ts"

/** Lists the paths of branded fields in a type, down to a depth that no request reaches. */
type BrandedIn<A, Path extends string, Depth extends ReadonlyArray<unknown> = []> = Depth["length"] extends 6
  ? never
  : A extends Brand.Brand<string>
    ? Path
    : A extends (...args: never) => unknown
      ? never
      : A extends ReadonlyArray<infer Item>
        ? BrandedIn<Item, `${Path}[]`, [...Depth, 0]>
        : A extends object
          ? string extends keyof A
            ? never
            : { [K in keyof A & string]-?: BrandedIn<A[K], `${Path}.${K}`, [...Depth, 0]> }[keyof A & string]
          : never

type BrandedArguments<Shape> = {
  [Method in keyof Shape & string]: Shape[Method] extends (
    ...args: infer Args extends ReadonlyArray<unknown>
  ) => unknown
    ? BrandedIn<Args[number], Method>
    : never
}[keyof Shape & string]

type IsPlain<Service extends { readonly Service: unknown }> = [BrandedArguments<Service["Service"]>] extends [never]
  ? true
  : BrandedArguments<Service["Service"]>

// Uses the type checker, whose error message lists every branded field of a request.
test("all of the services in the client take ids and paths as plain strings", () => {
  const services: readonly [
    IsPlain<typeof Capsules>,
    IsPlain<typeof Connections>,
    IsPlain<typeof InstallPlans>,
    IsPlain<typeof Members>,
    IsPlain<typeof RevisionPlans>,
    IsPlain<typeof Runs>,
    IsPlain<typeof Sources>,
    IsPlain<typeof Workspaces>
  ] = [true, true, true, true, true, true, true, true]
  expect(services).toHaveLength(8)
})

it.effect("a malformed id is rejected before a request is sent, and the error identifies the field", () =>
  Effect.gen(function* () {
    const dependency = { producerCapsuleId: "network", mode: "published_output", outputs: [] } as const
    const refused = yield* Effect.flip(requestOf(NewDependency)(dependency))
    expect(refused).toMatchObject({ _tag: "ApiError", code: "invalid_request" })
    expect(refused.message).toContain("producerCapsuleId")
  })
)
