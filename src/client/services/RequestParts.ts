import type { SvcClientShape } from "../ClientGroups.ts"

type Request<
  Group extends keyof SvcClientShape,
  Method extends keyof SvcClientShape[Group]
> = SvcClientShape[Group][Method] extends (request: infer R) => unknown ? R : never

/** The body that a route accepts. */
export type PayloadOf<Group extends keyof SvcClientShape, Method extends keyof SvcClientShape[Group]> =
  Request<Group, Method> extends { readonly payload: infer Payload } ? Payload : never

/** The query that a route accepts. */
export type QueryOf<Group extends keyof SvcClientShape, Method extends keyof SvcClientShape[Group]> =
  Request<Group, Method> extends { readonly query: infer Query } ? Query : never
