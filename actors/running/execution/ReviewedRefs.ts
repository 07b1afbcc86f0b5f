import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { ApiError } from "../../../schema/errors/ApiError.ts"
import type { InstallConfigId } from "../../../schema/records/Ids.ts"
import type { OpenedForRef, PrivateData } from "../../../schema/records/OpenedForRef.ts"
import type { CapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import { InstallConfigStore } from "../../ledger/configuration/InstallConfigStore.ts"
import { operatorBaseOf, OperatorConfigs } from "../../ledger/configuration/OperatorConfigs.ts"
import { ConnectionUses, type UseSite, type UseStarter } from "../../inputs/connection/ConnectionUses.ts"
import { decideRef } from "../../inputs/connection/ConnectionUse.ts"
import { injectingDependencies } from "../../ledger/consumption/InjectingDependencies.ts"
import { rowShape } from "../../base/database/Table.ts"
import { ReviewedRefsJson, type SourceRow } from "../../ledger/source/SourceRow.ts"

const Given = rowShape({ id: Schema.String })

/** Returns true if this person entered the configuration's values in the Capsule's install plan. */
const gave = Effect.fnUntraced(function* (
  capsule: Pick<CapsuleRow, "id">,
  configId: InstallConfigId,
  subject: string | undefined
) {
  if (subject === undefined) return false
  const sql = yield* SqlClient.SqlClient
  const rows = yield* Effect.orDie(Given.rows(
    sql
  )`SELECT p.id FROM runs r JOIN install_plans p ON p.id = r.coordinator_id
    WHERE r.capsule_id = ${capsule.id} AND r.coordinator_kind = 'install_plan' AND r.created_by = ${subject}
    AND p.install_config_id = ${configId} LIMIT 1`)
  return rows.length > 0
})

/** The code that a Run executes, and the person who started it. */
interface RefStart {
  readonly source: SourceRow | undefined
  readonly site: UseSite
  readonly starter: UseStarter
}

/** The Capsule and configuration whose private data the code would read. */
interface RefOpening extends RefStart {
  readonly capsule: CapsuleRow
  readonly configId: InstallConfigId
  /** True for an install plan: the person who starts it has just entered the values. */
  readonly isInstall: boolean
}

const received = Effect.fnUntraced(function* ({ capsule, configId, isInstall, starter }: RefOpening) {
  const configs = yield* InstallConfigStore
  const config = yield* configs.load(configId)
  const ofOperator = config?.config.operator?.variables ?? []
  const set = (config?.config.variables ?? []).filter((variable) => variable.set)
  const isOwn = isInstall || (yield* gave(capsule, configId, starter.subject))
  const inputs = isOwn ? set.filter(({ name }) => ofOperator.includes(name)) : set
  const injecting = (yield* injectingDependencies(capsule.id)).some(({ mode }) => mode === "variable_injection")
  const found: ReadonlyArray<readonly [PrivateData, boolean]> = [
    ["inputs", inputs.length > 0],
    ["outputs", injecting],
    ["state", capsule.current_state_version_id !== null],
    ["connections", (yield* configs.bindings(configId)).length > 0]
  ]
  return found.flatMap(([kind, isOpened]) => (isOpened ? [kind] : []))
})

const nouns: Readonly<Record<PrivateData, string>> = {
  inputs: "private inputs",
  outputs: "Outputs of other Capsules",
  state: "the state",
  connections: "Connections"
}

const refusal = ({ source, site, starter }: RefStart, kinds: ReadonlyArray<PrivateData>) => {
  const reviewed = site.defaultRefs.length === 0 ? "none yet" : [...new Set(site.defaultRefs)].join(", ")
  const who = starter.automatic ? "An automatic Run cannot open them. " : ""
  return new ApiError({
    code: "permission_denied",
    message: `The code of ${site.ref} would receive ${kinds.map((kind) => nouns[kind]).join(" and ")} of the Capsule, which are for the adopted lane and the Source's default ref (${reviewed}). ${who}An owner or admin has to start this, or allow the ref: PATCH /api/v1/sources/${source?.id ?? "{sourceId}"}, field reviewedRefs.`
  })
}

/**
 * Checks whether a Run's code may read the private data that it would receive. Returns `undefined` if the ref is reviewed or
 * no data is private. Fails with `permission_denied`; the error contains the ref, the data and the remedy. Connections have
 * separate use rules.
 */
const judged = Effect.fnUntraced(function* <R>(
  start: RefStart,
  received: Effect.Effect<ReadonlyArray<PrivateData>, never, R>
): Effect.fn.Return<OpenedForRef | undefined, ApiError, ConnectionUses | R> {
  const { site, source, starter } = start
  const uses = yield* ConnectionUses
  const basis = decideRef({
    ref: site.ref,
    lanes: site.defaultRefs,
    isOfLane: site.isOfLane,
    allowed: [
      ...(source === undefined ? [] : ReviewedRefsJson.read(source.reviewed_refs)),
      ...(site.isAllowedBySource === true ? [site.ref] : [])
    ],
    isManager: yield* uses.isManager(starter.subject, site.workspaceId),
    automatic: starter.automatic
  })
  if (basis === "lane") return undefined
  const kinds = yield* received
  const refused = kinds.filter((kind) => kind !== "connections")
  if (kinds.length === 0) return undefined
  if (basis === undefined && refused.length > 0) return yield* refusal(start, refused)
  return {
    ref: site.ref,
    opened: kinds,
    basis: basis ?? "rule",
    ...(starter.subject === undefined || starter.automatic ? {} : { openedBy: starter.subject })
  }
})

/** Returns the private data that a Run of a Capsule exposes to an unreviewed ref. */
export const openForRef = Effect.fn("openForRef")((opening: RefOpening) => judged(opening, received(opening)))

/**
 * Like `openForRef`, but for a Capsule that does not exist yet. The person enters all values except those that the operator
 * sets for the module.
 */
export const openForInstall = Effect.fn("openForInstall")(function* (start: RefStart) {
  const { module } = start.site
  const operator = yield* OperatorConfigs
  const base = module?.path === undefined ? undefined : operatorBaseOf(operator, { url: module.url, path: module.path })
  const isSet = Object.keys(base?.config.variables ?? {}).length > 0
  yield* judged(start, Effect.succeed(isSet ? ["inputs"] : []))
})
