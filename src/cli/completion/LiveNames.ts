import { Clock, Effect, Option, Redacted, Schema } from "effect"
import { createHash } from "node:crypto"
import { SvcClient } from "../../client/SvcClient.ts"
import { StoredContexts } from "../context/StoredContexts.ts"
import { privateFile } from "../login/PrivateFile.ts"
import { onServer, Remote } from "../remote/Remote.ts"
import { capsulesOf, connectionsOf, isOver, sourcesOf, workspaceNamed } from "../remote/Selection.ts"
import { allPages } from "../remote/Pages.ts"

/** A word that the shell suggests, and its description. */
export interface Candidate {
  readonly word: string
  readonly description: string
}

/** The server and the Workspace that the words before the cursor select. */
export interface Place {
  readonly server: Option.Option<string>
  readonly context: Option.Option<string>
  readonly workspace: Option.Option<string>
}

const Names = Schema.Array(Schema.Struct({ word: Schema.String, description: Schema.String }))
const NameFile = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Struct({ at: Schema.Number, names: Names })))

const lifetime = 30_000
const mostKept = 20
const newestRuns = 20

const words = { exposed: (file: string) => file, unreadable: (file: string) => file }

const listed = {
  capsules: Effect.fnUntraced(function* ({ workspace }: Place) {
    const all = yield* capsulesOf((yield* workspaceNamed(workspace)).id)
    return all
      .filter(({ status }) => !isOver(status))
      .map(({ environment, name, status }) => ({ word: `${name}/${environment}`, description: status }))
  }),
  runs: Effect.fnUntraced(function* ({ workspace }: Place) {
    const client = yield* SvcClient
    const { id: workspaceId } = yield* workspaceNamed(workspace)
    const { runs } = yield* client.workspaces.runs({ params: { workspaceId }, query: { limit: newestRuns } })
    return runs.map(({ id, status, type }) => ({ word: id, description: `${type} ${status}` }))
  }),
  connections: Effect.fnUntraced(function* ({ workspace }: Place) {
    const all = yield* connectionsOf((yield* workspaceNamed(workspace)).id)
    return all.map(({ displayName, provider }) => ({ word: displayName, description: provider }))
  }),
  sources: Effect.fnUntraced(function* ({ workspace }: Place) {
    const all = yield* sourcesOf((yield* workspaceNamed(workspace)).id)
    return all.map(({ name, url }) => ({ word: name, description: url }))
  }),
  workspaces: Effect.fnUntraced(function* () {
    const client = yield* SvcClient
    const all = yield* allPages((query) =>
      Effect.map(client.workspaces.list({ query }), ({ nextCursor, workspaces: items }) => ({ items, nextCursor }))
    )
    return all.map(({ displayName, handle }) => ({ word: handle, description: displayName }))
  })
}

/** Kinds of records whose names are completed. */
export type LiveKind = keyof typeof listed

/** Lists the names of this user's contexts. */
export const contextNames = Effect.gen(function* () {
  const { contexts } = yield* (yield* StoredContexts).known
  return Object.entries(contexts).map(([word, { server }]): Candidate => ({ word, description: server }))
}).pipe(Effect.provide(StoredContexts.layer))

/** Lists the names of a kind on the selected server, from the short-lived cache if possible. */
export const liveNames = (kind: LiveKind, place: Place) =>
  Effect.gen(function* () {
    const { origin, token, workspace } = yield* Remote
    const owner = createHash("sha256").update(Redacted.value(token)).digest("hex").slice(0, 16)
    const chosen = Option.getOrElse(
      Option.orElse(place.workspace, () => workspace),
      () => ""
    )
    const key = [kind, origin, chosen, owner].join(" ")
    const { read, write } = yield* privateFile("completion.json", NameFile, {}, words)
    const now = yield* Clock.currentTimeMillis
    const kept = yield* Effect.orElseSucceed(read, (): typeof NameFile.Type => ({}))
    const known = kept[key]
    if (known !== undefined && now - known.at < lifetime) return known.names
    const names = yield* Effect.asSome(listed[kind](place)).pipe(
      Effect.timeout("1 second"),
      Effect.orElseSucceed(Option.none)
    )
    if (Option.isNone(names)) return known?.names ?? []
    const others = Object.entries(kept)
      .filter(([other]) => other !== key)
      .toSorted(([, one], [, two]) => two.at - one.at)
      .slice(0, mostKept)
    yield* Effect.ignore(write({ ...Object.fromEntries(others), [key]: { at: now, names: names.value } }))
    return names.value
  }).pipe(onServer({ server: place.server, context: place.context, quiet: true }))
