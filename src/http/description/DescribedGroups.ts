import { Array as Arr, Context } from "effect"
import { HttpApi, type HttpApiEndpoint, type HttpApiGroup, OpenApi } from "effect/http-api"
import { BrowserLanding } from "../../../schema/api/BrowserLanding.ts"
import { accessOf } from "../../../schema/api/Roles.ts"
import { SvcApi } from "../../../schema/api/SvcApi.ts"
import { apiProse } from "../prose/ApiProse.ts"
import type { RouteProse } from "../prose/Prose.ts"
import { accessSentence, securityOf } from "../../http-kit/description/AccessDescription.ts"
import { withPages } from "../../http-kit/description/DocumentParts.ts"
import type { JsonObject } from "../../http-kit/description/DocumentSchemas.ts"
import { describedRoute } from "../../http-kit/description/RouteDescription.ts"
import { withFrames } from "./StreamDescription.ts"

const describedEndpoint = (endpoint: HttpApiEndpoint.Top, { description, frames, summary }: RouteProse) => {
  const access = accessOf(endpoint)
  const isLanding = Context.get(endpoint.annotations, BrowserLanding)
  const documented = (operation: JsonObject) => {
    if (frames !== undefined) return withFrames(operation, frames)
    return isLanding ? withPages(operation) : operation
  }
  return endpoint.annotateMerge(
    describedRoute({ security: securityOf(access), sentence: accessSentence(access) }, summary, description, documented)
  )
}

const prose: ReadonlyMap<string, { readonly about: string; readonly routes: Readonly<Record<string, RouteProse>> }> =
  new Map(Object.entries(apiProse))

const withoutWords = (name: string) => new Error(`${name} has no words in src/http/prose.`)

const describedGroup = (group: HttpApiGroup.Top): HttpApiGroup.Top => {
  const words = prose.get(group.identifier)
  if (words === undefined) throw withoutWords(group.identifier)
  let described: HttpApiGroup.Top = group.annotateMerge(OpenApi.annotations({ description: words.about }))
  for (const endpoint of Object.values(group.endpoints)) {
    const route = words.routes[endpoint.identifier]
    if (route === undefined) throw withoutWords(`${group.identifier}.${endpoint.identifier}`)
    described = described.add(describedEndpoint(endpoint, route))
  }
  return described
}

/**
 * Returns the groups of the API with their descriptions from `src/http/prose` and their access rules. Used only for the OpenAPI
 * document.
 */
export const describedGroups = (): Arr.NonEmptyReadonlyArray<HttpApiGroup.Top> => {
  const groups: Array<HttpApiGroup.Top> = []
  HttpApi.reflect(SvcApi, {
    onGroup: ({ group, mergedAnnotations }) => {
      groups.push(describedGroup(group.annotateMerge(mergedAnnotations)))
    },
    onEndpoint: () => {}
  })
  if (!Arr.isReadonlyArrayNonEmpty(groups)) throw withoutWords("The API")
  return groups
}
