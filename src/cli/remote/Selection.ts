import { Effect, Option } from "effect"
import { CapsuleId, RunId, SourceId, type WorkspaceId } from "../../../schema/records/Ids.ts"
import type { ListedRun } from "../../../schema/records/Run.ts"
import { SvcClient } from "../../client/SvcClient.ts"
import { allPages } from "./Pages.ts"
import { Remote } from "./Remote.ts"
import { exitCodes } from "../ExitCodes.ts"
import { RemoteFailed } from "./RemoteFailed.ts"
import { nearest } from "./Nearest.ts"

const missing = (what: string, named: string, known: ReadonlyArray<string>, list: string) => {
  const similar = nearest(named, known)
  return new RemoteFailed({
    code: "not_found",
    exitCode: exitCodes.notFound,
    message:
      similar === undefined
        ? `There is no ${what} ${named} here. List them with \`${list}\`.`
        : `There is no ${what} ${named} here. Did you mean ${similar}?`
  })
}

const ambiguous = (what: string, named: string, choices: ReadonlyArray<string>) =>
  new RemoteFailed({
    code: "ambiguous",
    exitCode: exitCodes.usage,
    message: `Several ${what} are named ${named}: ${choices.join(", ")}. Name one of these.`
  })

/** If several records share a name, each can be selected only by its id. */
export const nameTaken = (what: string, name: string, id: string) =>
  new RemoteFailed({
    code: "name_taken",
    exitCode: exitCodes.conflict,
    message: `There is ${what} named ${name} already: ${id}. Choose another name.`
  })

const workspaces = Effect.gen(function* () {
  const client = yield* SvcClient
  return yield* allPages((query) =>
    Effect.map(client.workspaces.list({ query }), ({ nextCursor, workspaces: items }) => ({ items, nextCursor }))
  )
})

/**
 * Finds the Workspace that the flag or, if it is absent, the settings select. If neither selects one, returns the caller's
 * only Workspace.
 */
export const workspaceNamed = Effect.fn("workspaceNamed")(function* (flag: Option.Option<string>) {
  const remote = yield* Remote
  const named = Option.orElse(flag, () => remote.workspace)
  const all = yield* workspaces
  const handles = all.map(({ handle }) => handle)
  if (Option.isSome(named)) {
    const found = all.find(({ handle, id }) => handle === named.value || id === named.value)
    return found ?? (yield* missing("Workspace", named.value, handles, "svc workspace list"))
  }
  const [only, ...others] = all
  if (only !== undefined && others.length === 0) return only
  return yield* new RemoteFailed({
    code: "workspace_unnamed",
    exitCode: only === undefined ? exitCodes.notFound : exitCodes.usage,
    message:
      only === undefined
        ? `You are in no Workspace of ${remote.origin}.`
        : `You are in several Workspaces: ${handles.join(", ")}. Name one with --workspace, or choose it with \`svc workspace use\`.`
  })
})

/** Lists all Capsules of a Workspace, including ended ones. */
export const capsulesOf = Effect.fn("capsulesOf")(function* (workspaceId: WorkspaceId) {
  const client = yield* SvcClient
  return yield* allPages((query) =>
    Effect.map(client.workspaces.capsules({ params: { workspaceId }, query }), ({ capsules: items, nextCursor }) => ({
      items,
      nextCursor
    }))
  )
})

const isCapsuleId = (text: string) => text.startsWith("cap_")
/** Returns true if a Capsule has ended. */
export const isOver = (status: string) => status === "destroyed" || status === "released"

/** Finds a Capsule by id, `name` or `name/environment`. Finds an ended Capsule only by its id. */
export const capsuleNamed = Effect.fn("capsuleNamed")(function* (named: string, workspace: Option.Option<string>) {
  const client = yield* SvcClient
  if (isCapsuleId(named)) {
    return (yield* client.capsules.read({ params: { capsuleId: CapsuleId.make(named) } })).capsule
  }
  const all = yield* capsulesOf((yield* workspaceNamed(workspace)).id)
  const living = all.filter(({ status }) => !isOver(status))
  const whole = ({ environment, name }: (typeof all)[number]) => `${name}/${environment}`
  const fits = (capsule: (typeof all)[number]) => capsule.name === named || whole(capsule) === named
  const found = living.filter(fits)
  const [first, ...others] = found
  const [over] = first === undefined ? all.filter((capsule) => isOver(capsule.status) && fits(capsule)) : []
  if (over !== undefined) {
    return yield* new RemoteFailed({
      code: "not_found",
      exitCode: exitCodes.notFound,
      message: `${whole(over)} is ${over.status}. Name it by its id to look at it: ${over.id}. The others are in \`svc capsule list --all\`.`
    })
  }
  if (first === undefined) return yield* missing("Capsule", named, living.map(whole), "svc capsule list")
  return others.length === 0 ? first : yield* ambiguous("Capsules", named, found.map(whole))
})

/** Lists the stored states of a Capsule, newest first. */
export const stateVersionsOf = Effect.fn("stateVersionsOf")(function* (capsuleId: CapsuleId) {
  const { capsules } = yield* SvcClient
  return yield* allPages((query) =>
    Effect.map(capsules.stateVersions({ params: { capsuleId }, query }), ({ nextCursor, stateVersions: items }) => ({
      items,
      nextCursor
    }))
  )
})

const isRunId = (text: string) => text.startsWith("run_")

/** Finds a Run by its id, or the newest matching Run of the named Capsule. */
export const runNamed = Effect.fn("runNamed")(function* (
  named: string,
  workspace: Option.Option<string>,
  fits: (run: ListedRun) => boolean,
  what: string
) {
  const client = yield* SvcClient
  const read = (runId: RunId) => Effect.map(client.runs.read({ params: { runId } }), ({ run }) => run)
  if (isRunId(named)) return yield* read(RunId.make(named))
  const capsule = yield* capsuleNamed(named, workspace)
  const { runs } = yield* client.workspaces.runs({
    params: { workspaceId: capsule.workspaceId },
    // Selects a speculative plan only by its id, because it is not part of the Capsule's history of changes.
    query: { limit: 100, capsuleId: capsule.id, speculative: "false" }
  })
  const found = runs.find(fits)
  return found === undefined
    ? yield* new RemoteFailed({
        code: "not_found",
        exitCode: exitCodes.notFound,
        message: `${capsule.name} has no ${what}. List its Runs with \`svc run list --capsule ${named}\`.`
      })
    : // A list leaves out what a plan changes item by item.
      yield* read(found.id)
})

const isSourceId = (text: string) => text.startsWith("src_")

export const sourcesOf = Effect.fn("sourcesOf")(function* (workspaceId: WorkspaceId) {
  const client = yield* SvcClient
  return yield* allPages((query) =>
    Effect.map(client.sources.list({ query: { ...query, workspaceId } }), ({ nextCursor, sources: items }) => ({
      items,
      nextCursor
    }))
  )
})

const projectsOf = Effect.fn("projectsOf")(function* (workspaceId: WorkspaceId) {
  const { workspaces } = yield* SvcClient
  return yield* allPages((query) =>
    Effect.map(workspaces.projects({ params: { workspaceId }, query }), ({ nextCursor, projects: items }) => ({
      items,
      nextCursor
    }))
  )
})

interface NamedRecord {
  readonly id: string
}

/** Returns the only record in a list with this name. */
export const onlyNamed = Effect.fnUntraced(function* <A extends NamedRecord>(
  all: ReadonlyArray<A>,
  nameOf: (one: A) => string,
  named: string,
  { list, several, what }: { readonly what: string; readonly several: string; readonly list: string }
) {
  const [first, ...others] = all.filter((one) => nameOf(one) === named)
  if (first === undefined) return yield* missing(what, named, all.map(nameOf), list)
  return others.length === 0
    ? first
    : yield* ambiguous(
        several,
        named,
        [first, ...others].map(({ id }) => id)
      )
})

/** Finds a Source by id or by name. */
export const sourceNamed = Effect.fn("sourceNamed")(function* (named: string, workspace: Option.Option<string>) {
  const client = yield* SvcClient
  if (isSourceId(named)) return (yield* client.sources.read({ params: { sourceId: SourceId.make(named) } })).source
  const all = yield* sourcesOf((yield* workspaceNamed(workspace)).id)
  const words = { what: "Source", several: "Sources", list: "svc source list" }
  return yield* onlyNamed(all, ({ name }) => name, named, words)
})

/** Lists the Connections available to a Workspace, including the operator's Connections. */
export const connectionsOf = Effect.fn("connectionsOf")(function* (workspaceId: WorkspaceId) {
  const client = yield* SvcClient
  return yield* allPages((query) =>
    Effect.map(client.connections.list({ query: { ...query, workspaceId } }), ({ connections: items, nextCursor }) => ({
      items,
      nextCursor
    }))
  )
})

/** Finds a Connection by id or by name. */
export const connectionNamed = Effect.fn("connectionNamed")(function* (
  named: string,
  workspace: Option.Option<string>
) {
  const client = yield* SvcClient
  if (named.startsWith("conn_")) {
    return (yield* client.connections.read({ params: { connectionId: named } })).connection
  }
  const all = yield* connectionsOf((yield* workspaceNamed(workspace)).id)
  const words = { what: "Connection", several: "Connections", list: "svc connection list" }
  return yield* onlyNamed(all, ({ displayName }) => displayName, named, words)
})

/** Finds a Project of a Workspace by id, name or slug. */
export const projectNamed = Effect.fn("projectNamed")(function* (named: string, workspaceId: WorkspaceId) {
  const all = yield* projectsOf(workspaceId)
  const exact = all.find(({ id, slug }) => id === named || slug === named)
  const words = { what: "Project", several: "Projects", list: "svc api GET 'workspaces/{workspace}/projects'" }
  return exact ?? (yield* onlyNamed(all, ({ name }) => name, named, words))
})
