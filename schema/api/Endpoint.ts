import { Context, type Schema } from "effect"
import { HttpApiSchema, OpenApi } from "effect/http-api"
import { errorStatuses } from "../errors/ApiError.ts"
import { Access, type AccessRule } from "./Access.ts"
import { accessSentence, securityOf } from "./AccessDescription.ts"

type Described = Readonly<Record<string, unknown>>

const codesOf = (status: string) =>
  Object.entries(errorStatuses)
    .filter(([, candidate]) => String(candidate) === status)
    .map(([code]) => `\`${code}\``)
    .join(", ")

const isDescribed = (value: unknown): value is Described => typeof value === "object" && value !== null

/** Names the codes of every refusal instead of the type that they share. */
const namedResponses = (responses: unknown) =>
  isDescribed(responses)
    ? Object.fromEntries(
        Object.entries(responses).map(([status, response]) => {
          const codes = codesOf(status)
          return [status, codes === "" || !isDescribed(response) ? response : { ...response, description: codes }]
        })
      )
    : responses

/** Annotations of an endpoint: who may call it, and what it does in words. */
export const described = (access: AccessRule, summary: string, description: string) =>
  Context.merge(
    Context.make(Access, access),
    OpenApi.annotations({
      summary,
      description: `${description}\n\n${accessSentence(access)}`,
      transform: (operation) => ({
        ...operation,
        security: securityOf(access),
        responses: namedResponses(operation["responses"])
      })
    })
  )

/** The same for an endpoint that queues a Run. */
export const describedRun = (access: AccessRule, summary: string, description: string) =>
  described(
    access,
    summary,
    `${description}\n\n**Queue:** a Workspace that has as many Runs queued as it may is answered 429 \`rate_limited\` with \`Retry-After\`; nothing is written.`
  )

export const created = HttpApiSchema.status(201)

/** The answers to a request with an `Idempotency-Key`: 201 the first time, 200 for every repetition. */
export const repeatable = <S extends Schema.Top>(answer: S) => [answer.pipe(created), answer] as const

export const accepted = HttpApiSchema.status(202)
