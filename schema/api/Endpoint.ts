import { Context, type Schema } from "effect"
import { HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, type AccessRule } from "./Access.ts"
import { accessSentence, securityOf } from "./AccessDescription.ts"
import { BrowserLanding } from "./BrowserLanding.ts"
import { documentedOperation, withPages } from "./DocumentParts.ts"
import type { JsonObject } from "./DocumentSchemas.ts"
import { type FrameName, withFrames } from "./StreamDescription.ts"

/** A group of endpoints, and what it is about. */
export const describedGroup = <const Id extends string>(id: Id, description: string) =>
  HttpApiGroup.make(id).annotateMerge(OpenApi.annotations({ description }))

/** Who may call a route outside the API: what is presented, and the same in words. */
export interface RouteAccess {
  readonly security: ReadonlyArray<Readonly<Record<string, ReadonlyArray<string>>>>
  readonly sentence: string
}

/** Annotations of a route that is declared for its description; its own code decides who may call it. */
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

const annotated = (
  access: AccessRule,
  summary: string,
  description: string,
  documented?: (operation: JsonObject) => JsonObject
) =>
  Context.merge(
    Context.make(Access, access),
    describedRoute({ security: securityOf(access), sentence: accessSentence(access) }, summary, description, documented)
  )

/** Annotations of an endpoint: who may call it, and what it does in words. */
export const described = (access: AccessRule, summary: string, description: string) =>
  annotated(access, summary, description)

/** The same for an endpoint that queues a Run. */
export const describedRun = (access: AccessRule, summary: string, description: string) =>
  annotated(
    access,
    summary,
    `${description}\n\n**Queue:** a Workspace that has as many Runs queued as it may is answered 429 \`rate_limited\` with \`Retry-After\`; nothing is written.`
  )

/** The same for a read that can follow live, in frames of this name. */
export const describedStream = (access: AccessRule, summary: string, description: string, frame: FrameName) =>
  annotated(access, summary, description, (operation) => withFrames(operation, frame))

/** The same for an endpoint that browsers reach by a redirect from another site. */
export const describedLanding = (access: AccessRule, summary: string, description: string) =>
  Context.add(annotated(access, summary, description, withPages), BrowserLanding, true)

export const created = HttpApiSchema.status(201)

/** The answers to a request with an `Idempotency-Key`: 201 the first time, 200 for every repetition. */
export const repeatable = <S extends Schema.Top>(answer: S) => [answer.pipe(created), answer] as const

export const accepted = HttpApiSchema.status(202)
