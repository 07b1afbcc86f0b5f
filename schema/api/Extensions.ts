import { Context } from "effect"
import type { Extension } from "../records/Discovery.ts"
import { ExtensionFamily, familySummaries } from "./ExtensionFamily.ts"
import { SvcApi } from "./SvcApi.ts"

/** A group of endpoints that an operator may enable or disable. */
export type Family = Omit<Extension, "enabled">

const endpoints = Object.values(SvcApi.groups).flatMap((group) => Object.values(group.endpoints))

/**
 * Optional groups of endpoints: all endpoints beyond sections 1 to 9 of the specification, and OAuth helpers. The declaration of
 * each endpoint contains its family.
 */
export const extensions: ReadonlyArray<Family> = Object.entries(familySummaries).map(([name, summary]) => ({
  name,
  summary,
  endpoints: endpoints
    .filter(({ annotations }) => Context.get(annotations, ExtensionFamily) === name)
    .map(({ method, path }) => `${method} ${path}`)
}))
