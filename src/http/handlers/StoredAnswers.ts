import { Effect, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApi } from "effect/http-api"
import { SvcApi } from "../../../schema/api/SvcApi.ts"
import { keepKnownProperties } from "../KnownProperties.ts"

type Answering = (value: unknown) => Effect.Effect<HttpServerResponse.HttpServerResponse>

/** Writes a response as it is stored, or by its codec where the schema converts something. */
const answeringBy = (schema: Schema.Top): Answering => {
  const kept = keepKnownProperties(schema.ast)
  if (kept !== undefined) return (value) => Effect.succeed(HttpServerResponse.jsonUnsafe(kept(value)))
  const encode = Schema.encodeUnknownEffect(Schema.toCodecJson(Schema.make<Schema.Codec<unknown>>(schema.ast)))
  return (value) => Effect.orDie(Effect.map(encode(value), (encoded) => HttpServerResponse.jsonUnsafe(encoded)))
}

type Answers = ReadonlyMap<string, Answering>

const answersByGroup = (): ReadonlyMap<string, Answers> => {
  const groups = new Map<string, Map<string, Answering>>()
  HttpApi.reflect(SvcApi, {
    predicate: ({ endpoint }) => endpoint.method === "GET",
    onGroup: ({ group }) => groups.set(group.identifier, new Map()),
    onEndpoint: ({ endpoint, group, successes }) => {
      const [schemas, ...others] = Array.from(successes, ([status, given]) => (status === 200 ? given : undefined))
      const [schema, ...alternatives] = schemas ?? []
      if (schema === undefined || others.length + alternatives.length > 0) return
      groups.get(group.identifier)?.set(endpoint.identifier, answeringBy(schema))
    }
  })
  return groups
}

const noAnswers: Answers = new Map()
let answers: ReadonlyMap<string, Answers> | undefined

/** The reads of a group and how each is answered, by endpoint. Derived from the declaration alone, so once per process. */
export const answersOf = (group: string): Answers => {
  answers ??= answersByGroup()
  return answers.get(group) ?? noAnswers
}

type Handler = (request: unknown) => Effect.Effect<unknown, unknown, unknown>

const isHandler = (value: unknown): value is Handler => typeof value === "function"

const answering = (handler: Handler, answer: Answering): Handler => {
  const answered = (value: unknown) =>
    HttpServerResponse.isHttpServerResponse(value) ? Effect.succeed(value) : answer(value)
  return (request) => Effect.flatMap(handler(request), answered)
}

interface Collecting {
  readonly handleAll: (handlers: Readonly<Record<string, unknown>>) => unknown
}

/**
 * Handlers of a group whose reads produce the response themselves. They skip the codec wherever the response is written as
 * stored: its values were decoded when they were read from the database. Members that the schema does not name are omitted, as an
 * encoder would do.
 */
export function storedAnswers<H extends object>(group: string, handlers: H): H
export function storedAnswers(group: string, handlers: Collecting): Collecting {
  const stored = answersOf(group)
  const handleAll = (given: Readonly<Record<string, unknown>>) =>
    handlers.handleAll(
      Object.fromEntries(
        Object.entries(given).map(([name, handler]) => {
          const answer = stored.get(name)
          return [name, answer === undefined || !isHandler(handler) ? handler : answering(handler, answer)]
        })
      )
    )
  return Object.create(handlers, { handleAll: { value: handleAll } })
}
