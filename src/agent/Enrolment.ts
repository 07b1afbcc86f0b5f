import { Effect, Option, type Redacted, Schema } from "effect"
import { AgentFolder, type AgentIdentity } from "../../runner/agent/AgentFolder.ts"
import { agentParty } from "../../runner/agent/AgentParty.ts"
import { agentCalls } from "./AgentSession.ts"
import { MachineFacts } from "./MachineFacts.ts"

/** Error if the agent could not be enrolled. */
export class EnrolmentFailed extends Schema.TaggedError<EnrolmentFailed>()("EnrolmentFailed", {
  message: Schema.String
}) {}

export interface EnrolmentRequest {
  readonly server: string
  readonly pool: string
  readonly name: string
  /** Enrolment token. It is read only if this agent has to enrol. */
  readonly token: Effect.Effect<Option.Option<Redacted.Redacted<string>>, { readonly message: string }>
}

const longestAnswer = "30 seconds"

/** Enrols the agent. Creates the keys first, because a repeated request with the same keys enrols the same agent. */
const enrol = Effect.fnUntraced(function* (request: EnrolmentRequest) {
  const folder = yield* AgentFolder
  const { facts } = yield* MachineFacts
  const given = yield* Effect.mapError(
    request.token,
    ({ message }) => new EnrolmentFailed({ message: `This agent is not enrolled yet. ${message}` })
  )
  const keys = yield* folder.keys
  if (Option.isNone(given)) {
    return yield* new EnrolmentFailed({
      message: "This agent is not enrolled yet. Give it an enrolment token: --token-file, or SVC_AGENT_TOKEN."
    })
  }
  const token = given.value
  const calls = yield* agentCalls(request.server, (sent) => sent)
  const answer = yield* calls.Enrol({ token, name: request.name, keys: keys.public, facts: yield* facts }).pipe(
    Effect.timeout(longestAnswer),
    Effect.mapError(({ message }) => new EnrolmentFailed({ message: `The enrolment failed. ${message}` }))
  )
  const identity: AgentIdentity = {
    version: 1,
    server: request.server,
    serverKeys: answer.server,
    installationId: answer.installationId,
    agentId: answer.agentId,
    pool: answer.pool
  }
  yield* folder.keepIdentity(identity)
  yield* Effect.logInfo(`Enrolled as ${answer.agentId} in the pool ${answer.pool}.`)
  return identity
}, Effect.scoped)

/** Returns this agent's identity. Enrols the agent first if necessary. */
export const enrolled = Effect.fnUntraced(function* (request: EnrolmentRequest) {
  const folder = yield* AgentFolder
  const found = yield* folder.identity
  const identity = Option.isSome(found) ? found.value : yield* enrol(request)
  if (identity.server !== request.server) {
    return yield* new EnrolmentFailed({
      message: `The folder ${folder.path} belongs to an agent of ${identity.server}. Choose another folder with --dir.`
    })
  }
  if (identity.pool !== request.pool) {
    return yield* new EnrolmentFailed({
      message: `The folder ${folder.path} belongs to an agent of the pool ${identity.pool}. A pool is chosen by the enrolment token; choose another folder with --dir for another pool.`
    })
  }
  return yield* agentParty(identity, folder)
})
