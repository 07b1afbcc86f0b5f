import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApi } from "effect/http-api"
import { SvcApi } from "../../../schema/api/SvcApi.ts"
import { keepKnownProperties } from "../KnownProperties.ts"

type Keep = (value: unknown) => unknown
type Answers = ReadonlyMap<string, Keep>

const answersByGroup = (): ReadonlyMap<string, Answers> => {
  const groups = new Map<string, Map<string, Keep>>()
  HttpApi.reflect(SvcApi, {
    predicate: ({ endpoint }) => endpoint.method === "GET",
    onGroup: ({ group }) => groups.set(group.identifier, new Map()),
    onEndpoint: ({ endpoint, group, successes }) => {
      const [schemas, ...others] = Array.from(successes, ([status, given]) => (status === 200 ? given : undefined))
      const [schema, ...alternatives] = schemas ?? []
      if (schema === undefined || others.length + alternatives.length > 0) return
      const keep = keepKnownProperties(schema.ast)
      if (keep !== undefined) groups.get(group.identifier)?.set(endpoint.identifier, keep)
    }
  })
  return groups
}

const noAnswers: Answers = new Map()
let answers: ReadonlyMap<string, Answers> | undefined

/**
 * Returns the reads of a group whose responses are returned as stored, each with a function that removes unknown properties.
 * Depends only on the declaration, so it runs once per process.
 */
const answersOf = (group: string): Answers => {
  answers ??= answersByGroup()
  return answers.get(group) ?? noAnswers
}

type Handler = (request: unknown) => Effect.Effect<unknown, unknown, unknown>

const isHandler = (value: unknown): value is Handler => typeof value === "function"

const answering =
  (handler: Handler, keep: Keep): Handler =>
  (request) =>
    Effect.map(handler(request), (value) =>
      HttpServerResponse.isHttpServerResponse(value) ? value : HttpServerResponse.jsonUnsafe(keep(value))
    )

interface Collecting {
  readonly handleAll: (handlers: Readonly<Record<string, unknown>>) => unknown
}

/**
 * Makes the handlers of a group skip the encoder for responses that are returned as stored. The values in these responses
 * were validated when they were read from the database. Like an encoder, removes properties that are not in the schema.
 */
export function storedAnswers<H extends object>(group: string, handlers: H): H
export function storedAnswers(group: string, handlers: Collecting): Collecting {
  const stored = answersOf(group)
  const handleAll = (given: Readonly<Record<string, unknown>>) =>
    handlers.handleAll(
      Object.fromEntries(
        Object.entries(given).map(([name, handler]) => {
          const keep = stored.get(name)
          return [name, keep === undefined || !isHandler(handler) ? handler : answering(handler, keep)]
        })
      )
    )
  return Object.create(handlers, { handleAll: { value: handleAll } })
}
