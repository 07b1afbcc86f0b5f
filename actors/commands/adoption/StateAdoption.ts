import { Context, Effect, type Exit, Layer, Redacted, Result, Schema } from "effect"
import { readLongParts } from "../../../runner/execution/StateContents.ts"
import { inputSecrets } from "../../../runner/execution/RunSession.ts"
import type { SecretText } from "../../../runner/redaction/SecretText.ts"
import { ScannedModule } from "../../../runner/scan/ScannedModule.ts"
import { ApiError } from "../../../schema/errors/ApiError.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import type { Finding } from "../../../schema/records/CompatibilityReport.ts"
import type { CapsuleId, InstallConfigId, InstallPlanId, RunId, WorkspaceId } from "../../../schema/records/Ids.ts"
import type { AdoptedUpload } from "../../../schema/records/StateUpload.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { buildColumns } from "../../ledger/build/BuildColumns.ts"
import type { VariableValues } from "../../ledger/configuration/InstallConfigStore.ts"
import { KillPoint } from "../../base/KillPoint.ts"
import { GeneratedSecrets } from "../../inputs/delivery/GeneratedSecrets.ts"
import type { ImportedSecrets } from "../../ledger/state/ImportedSecrets.ts"
import { type StateUploadRow, StateUploads } from "../../ledger/state/StateUploads.ts"
import { StateIndex } from "../../ledger/state/StateIndex.ts"
import { stateVersionIdOf, StateVersions } from "../../ledger/state/StateVersions.ts"
import { fromStoredSecrets } from "../../base/vault/SealedSecrets.ts"
import { Memberships } from "../../ledger/workspace/Memberships.ts"
import { type ReadableState, readableState } from "./AdoptableState.ts"
import { ManagedElsewhere } from "./ManagedElsewhere.ts"
import { moduleMismatch } from "./ModuleMismatch.ts"
import { stateConflicts } from "./StateConflicts.ts"
import { provided } from "../../base/Provided.ts"

/** A state that may become the first state of a Capsule. */
export interface AdoptedState {
  readonly upload: StateUploadRow
  readonly bytes: Redacted.Redacted<Uint8Array>
  readonly state: ReadableState
  /** Ids that are written to the Capsule's row when it is created. */
  readonly pointers: { readonly stateVersionId: ReturnType<typeof stateVersionIdOf>; readonly generation: number }
  readonly confirmed: ReadonlyArray<string>
  /** The secrets in the backup, if the state comes from another installation's backup. */
  readonly imported: ImportedSecrets | undefined
  /** The secrets that the state may contain: the secrets of a backup, and the values of sensitive inputs. */
  readonly secrets: ReadonlyArray<SecretText>
}

/** The inputs of the install. */
interface GivenInputs {
  readonly variables: ReadonlyArray<{ readonly name: string; readonly sensitive: boolean }>
  readonly values: VariableValues
}

interface Install {
  readonly id: InstallPlanId
  readonly workspace_id: WorkspaceId
}

/** Maximum number of abandoned addresses to list in the audit event. The plan shows all of them. */
const namedInAudit = 50

const decodeScan = Schema.decodeUnknownEffect(Schema.toCodecJson(ScannedModule))

const problem = ({ code, message }: { readonly code: string; readonly message: string }): Finding => ({
  severity: "error",
  code,
  message
})

/** Makes an uploaded state the first state of a Capsule, in the caller's transaction. */
export class StateAdoption extends Context.Service<
  StateAdoption,
  {
    /** Fails with `permission_denied` unless the caller is an owner of the Workspace. */
    readonly requireOwner: (workspaceId: WorkspaceId, context: CommandContext) => Effect.Effect<void, ApiError>
    /**
     * Returns the state that the install has reserved, or every reason why the module cannot use it. Returns `undefined` if the
     * install takes over no state. Call it inside `withReading`.
     */
    readonly adoptable: (
      install: Install,
      adopt: AdoptedUpload | undefined,
      moduleScan: Schema.Json,
      inputs: GivenInputs,
      context: CommandContext
    ) => Effect.Effect<Result.Result<AdoptedState | undefined, ReadonlyArray<Finding>>>
    /**
     * Reads the state that the install has reserved, and then runs `work`. Reading may be slow, so it happens outside the
     * transaction.
     */
    readonly withReading: <A, E, R>(install: Install, work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    /**
     * Writes StateVersion 1 and erases the upload. Publishes no Outputs: nothing in the state has been verified yet, so the first
     * apply publishes them.
     */
    readonly commit: (
      install: Install,
      adopted: AdoptedState,
      capsule: { readonly id: CapsuleId; readonly installConfigId: InstallConfigId; readonly runId: RunId },
      context: CommandContext
    ) => Effect.Effect<void>
  }
>()("svc/actors/commands/adoption/StateAdoption") {
  static readonly layer = Layer.effect(
    StateAdoption,
    Effect.gen(function* () {
      const uploads = yield* StateUploads
      const states = yield* StateVersions
      const index = yield* StateIndex
      const memberships = yield* Memberships
      const audit = yield* Audit
      const generated = yield* GeneratedSecrets
      const killPoint = yield* KillPoint
      const elsewhere = yield* ManagedElsewhere

      const requireOwner = Effect.fnUntraced(function* (workspaceId: WorkspaceId, { actor }: CommandContext) {
        const role = actor.subject === undefined ? undefined : yield* memberships.role(actor.subject, workspaceId)
        if (role?._tag === "Some" && role.value === "owner") return
        return yield* new ApiError({
          code: "permission_denied",
          message: "adopt: only an owner of the Workspace takes over an existing state."
        })
      })

      const read = Effect.fn("StateAdoption.read")(function* ({ id, workspace_id }: Install) {
        const held = yield* uploads.held(id)
        if (held === undefined) return yield* Effect.die(new Error(`The upload of ${id} is gone`))
        const state = yield* Effect.result(readableState(Redacted.value(held.state)))
        yield* readLongParts(Redacted.value(held.state))
        return { held, state, managedElsewhere: yield* elsewhere.unindexed(workspace_id) }
      })
      /** States that were read for installs whose step is in progress. */
      const readings = new Map<InstallPlanId, Exit.Exit<Effect.Success<ReturnType<typeof read>>>>()

      const adoptable = yield* provided(
        Effect.fn("StateAdoption.adoptable")(
          function* (
            install: Install,
            adopt: AdoptedUpload | undefined,
            moduleScan: Schema.Json,
            { values, variables }: GivenInputs,
            context: CommandContext
          ) {
            if (adopt === undefined) return Result.succeed(undefined)
            yield* requireOwner(install.workspace_id, context)
            const { undeclared = [] } = adopt
            const reading = readings.get(install.id)
            const row = yield* uploads.heldRow(install.id)
            if (reading === undefined || row === undefined)
              return yield* Effect.die(new Error(`The upload of ${install.id} is gone, or has not been read`))
            const { held, managedElsewhere, state: read } = yield* reading
            // A mismatch is a defect, because an install has only one upload and nothing else can change it.
            if (held.row.id !== row.id || held.row.sha256 !== row.sha256)
              return yield* Effect.die(new Error(`The upload of ${install.id} changed after it was read`))
            const state = yield* Effect.fromResult(read)
            const scan = yield* Effect.orDie(decodeScan(moduleScan))
            const types = {
              variableTypes: Object.fromEntries(scan.variables.map((one) => [one.name, one.typeExpression]))
            }
            const secrets = [
              ...fromStoredSecrets(held.secrets?.secrets ?? []),
              ...variables.flatMap(({ name, sensitive }) => {
                const value = sensitive ? values[name] : undefined
                return value === undefined ? [] : inputSecrets(types, name, Redacted.make(value))
              })
            ]
            const shown = yield* index.shownIn(held.row.id, state, secrets)
            const managed = state.managed.map((object) => ({ ...object, address: shown(object.address) }))
            const problems = [
              ...(yield* stateConflicts(
                install.workspace_id,
                { lineage: state.lineage, managed },
                managedElsewhere
              )).map(problem),
              ...moduleMismatch(scan, state.managed, undeclared, shown)
            ]
            if (problems.length > 0) return Result.fail(problems)
            const pointers = { stateVersionId: stateVersionIdOf(held.row.id), generation: 1 }
            return Result.succeed({
              upload: held.row,
              bytes: held.state,
              state,
              pointers,
              confirmed: undeclared.map(shown),
              imported: held.secrets,
              secrets
            } satisfies AdoptedState)
          },
          Effect.catchTag("ApiError", (error) => Effect.succeed(Result.fail([problem(error)])))
        )
      )

      const withReading = <A, E, R>(install: Install, work: Effect.Effect<A, E, R>) =>
        Effect.acquireUseRelease(
          Effect.exit(read(install)),
          (reading) => {
            readings.set(install.id, reading)
            return work
          },
          () => Effect.sync(() => readings.delete(install.id))
        )

      const commit = Effect.fn("StateAdoption.commit")(function* (
        install: Install,
        { bytes, confirmed, imported, pointers, secrets, state, upload }: AdoptedState,
        capsule: { readonly id: CapsuleId; readonly installConfigId: InstallConfigId; readonly runId: RunId },
        context: CommandContext
      ) {
        const version = yield* states.insert({
          workspaceId: install.workspace_id,
          capsuleId: capsule.id,
          runId: capsule.runId,
          stateUploadId: upload.id,
          generation: pointers.generation,
          state: bytes,
          lineage: state.lineage,
          serial: state.serial,
          resourceCount: state.resourceCount,
          partial: false,
          // No snapshot, because no commit of the Source produced this state. A rollback to this version is therefore
          // impossible.
          sourceSnapshotId: undefined,
          installConfigId: capsule.installConfigId,
          outputs: [],
          secrets,
          build: buildColumns(undefined)
        })
        for (const { text, ...shape } of imported?.generated ?? []) {
          yield* generated.keep({ id: capsule.id, workspace_id: install.workspace_id }, shape, Redacted.make(text))
        }
        yield* uploads.used(upload.id)
        yield* audit.append({
          workspaceId: install.workspace_id,
          actor: context.actor,
          action: upload.imported_from === null ? "capsule.adopt_state" : "capsule.import",
          target: { kind: "capsule", id: capsule.id },
          capsuleId: capsule.id,
          runId: capsule.runId,
          data: {
            installPlanId: install.id,
            stateUploadId: upload.id,
            stateVersionId: version.id,
            digest: version.digest,
            serial: state.serial,
            resources: state.resourceCount,
            undeclared: confirmed.length,
            confirmed: confirmed.slice(0, namedInAudit)
          },
          requestId: context.requestId
        })
        yield* killPoint("install.adopting")
      })

      return StateAdoption.of({ requireOwner, adoptable, withReading, commit })
    })
  ).pipe(Layer.provideMerge(ManagedElsewhere.layer))
}
