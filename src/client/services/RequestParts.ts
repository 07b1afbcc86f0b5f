import type { SvcClientShape } from "../ClientGroups.ts"

type Request<
  Group extends keyof SvcClientShape,
  Method extends keyof SvcClientShape[Group]
> = SvcClientShape[Group][Method] extends (request: infer R) => unknown ? R : never

/** Body type of a route. */
export type PayloadOf<Group extends keyof SvcClientShape, Method extends keyof SvcClientShape[Group]> =
  Request<Group, Method> extends { readonly payload: infer Payload } ? Payload : never

/** Query type of a route. */
export type QueryOf<Group extends keyof SvcClientShape, Method extends keyof SvcClientShape[Group]> =
  Request<Group, Method> extends { readonly query: infer Query } ? Query : never
