import { Schema } from "effect"

const status = Schema.Int.check(Schema.isBetween({ minimum: 200, maximum: 599 }))

const seconds = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** The human-readable name of a check in the configuration. */
const CheckName = Schema.String.check(
  Schema.isPattern(/^[a-z0-9](?:[a-z0-9 _-]{0,61}[a-z0-9])?$/, {
    description: "a name of up to 63 lower-case letters, digits, spaces, hyphens and underscores"
  })
)

/** The URL that a check requests: the Capsule's endpoint, or a public Output that contains a URL. */
export const CheckTarget = Schema.Union([
  Schema.Struct({ endpoint: Schema.Literal(true) }),
  Schema.Struct({ output: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(256)) })
])
export type CheckTarget = typeof CheckTarget.Type

const checkPath = Schema.String.check(
  Schema.isMaxLength(1024),
  Schema.isPattern(/^\/(?!\/)[!-~]*$/, { description: "a path that starts with one slash, such as /healthz" }),
  Schema.makeFilter((path: string) => !/[#\\]/.test(path), { description: "a path without fragment or backslash" })
)

/**
 * An HTTP request that is repeated after an apply until the expected response arrives. It sends no credentials and follows no
 * redirect. svc stores only the verdict and the response status.
 * - `path`: replaces the path and query of the target
 * - `status`: the accepted statuses; 200 if absent
 * - `contains`: text that must occur in the first 64 KiB of the body
 * - `timeout`: seconds until the check fails
 * - `interval`: seconds between two requests
 */
export const PostApplyCheck = Schema.Struct({
  name: CheckName,
  kind: Schema.Literal("http"),
  target: CheckTarget,
  path: Schema.optionalKey(checkPath),
  status: Schema.optionalKey(Schema.Array(status).check(Schema.isMinLength(1), Schema.isMaxLength(16))),
  contains: Schema.optionalKey(Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(1024))),
  timeout: Schema.optionalKey(seconds(1, 1800)),
  interval: Schema.optionalKey(seconds(1, 300))
})
export type PostApplyCheck = typeof PostApplyCheck.Type

export const defaultCheck = { status: [200], timeout: 120, interval: 5 } as const

/** The operator's checks after an apply, in order. After the first failure, no more checks run. */
export const Lifecycle = Schema.Struct({
  postApply: Schema.Array(PostApplyCheck).check(
    Schema.isMaxLength(8),
    Schema.makeFilter<ReadonlyArray<PostApplyCheck>>(
      (checks) =>
        new Set(checks.map(({ name }) => name)).size === checks.length ? undefined : "has two checks of the same name",
      { description: "checks with different names" }
    )
  )
})
export type Lifecycle = typeof Lifecycle.Type
