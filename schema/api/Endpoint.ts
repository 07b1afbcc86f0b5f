import { Context } from "effect"
import { HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, type AccessRule } from "./Access.ts"

/** Annotations of an endpoint: who may call it, and what it does in words. */
export const described = (access: AccessRule, summary: string, description?: string) =>
  Context.merge(
    Context.make(Access, access),
    OpenApi.annotations({ summary, ...(description === undefined ? {} : { description }) })
  )

export const created = HttpApiSchema.status(201)
export const accepted = HttpApiSchema.status(202)
