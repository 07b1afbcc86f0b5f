import { HttpApiGroup, OpenApi } from "effect/http-api"
import { documentedOperation } from "./DocumentParts.ts"
import type { JsonObject } from "./DocumentSchemas.ts"

/** A group of endpoints, and what it covers. */
export const describedGroup = <const Id extends string>(id: Id, description: string) =>
  HttpApiGroup.make(id).annotateMerge(OpenApi.annotations({ description }))

/** The callers of a route: the credential to present, and a description in words. */
export interface RouteAccess {
  readonly security: ReadonlyArray<Readonly<Record<string, ReadonlyArray<string>>>>
  readonly sentence: string
}

/** Annotations of a route for the description: who may call it, and what it does. */
export const describedRoute = (
  { security, sentence }: RouteAccess,
  summary: string,
  description: string,
  documented: (operation: JsonObject) => JsonObject = (operation) => operation
) =>
  OpenApi.annotations({
    summary,
    description: `${description}\n\n${sentence}`,
    transform: (operation) => documented(documentedOperation(operation, security))
  })
