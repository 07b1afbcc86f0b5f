import { HttpApiGroup, OpenApi } from "effect/http-api"
import { documentedOperation } from "./DocumentParts.ts"
import type { JsonObject } from "./DocumentSchemas.ts"

/** Creates a group of endpoints with a description. */
export const describedGroup = <const Id extends string>(id: Id, description: string) =>
  HttpApiGroup.make(id).annotateMerge(OpenApi.annotations({ description }))

/** The permitted callers of a route: the accepted credentials, and a sentence for the documentation. */
export interface RouteAccess {
  readonly security: ReadonlyArray<Readonly<Record<string, ReadonlyArray<string>>>>
  readonly sentence: string
}

/** Annotates a route with its callers and its description. */
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
