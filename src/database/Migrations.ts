import { Effect, Record, Schema } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import { accountTables } from "../../schema/tables/AccountTables.ts"
import {
  agentProvisionTables,
  agentTables,
  carriedFileTables,
  lostAnswerColumns,
  providedMarkTables
} from "../../schema/tables/AgentTables.ts"
import {
  acknowledgementColumns,
  approvalTables,
  carryOverColumns,
  planAuthorTables
} from "../../schema/tables/ApprovalTables.ts"
import { auditChainTables, auditFilterIndexes, auditTables } from "../../schema/tables/AuditTables.ts"
import { agentAuthorityTriggers, authorityTables } from "../../schema/tables/AuthorityTables.ts"
import { autoUpdateTables } from "../../schema/tables/AutoUpdateTables.ts"
import { automationMemberColumns } from "../../schema/tables/AutomationTables.ts"
import { buildTables } from "../../schema/tables/BuildTables.ts"
import {
  capsuleReleaseColumns,
  capsulesNeedingAttentionIndex,
  capsuleTables,
  credentialWaitColumns,
  deferredFollowColumns,
  pathFilterColumns,
  stateSecretColumns
} from "../../schema/tables/CapsuleTables.ts"
import { changeApprovalTables } from "../../schema/tables/ChangeTables.ts"
import { approvalRequestTables, runCommentTables } from "../../schema/tables/CommentTables.ts"
import {
  connectionOAuthTables,
  connectionOriginColumns,
  connectionTables,
  connectionUseColumns,
  providerAddressSpelling
} from "../../schema/tables/ConnectionTables.ts"
import { driftCheckColumns } from "../../schema/tables/DriftTables.ts"
import { dueWorkTables } from "../../schema/tables/DueTables.ts"
import { capsuleClientColumns, grantRedirectColumns, identityTables } from "../../schema/tables/IdentityTables.ts"
import { importColumns } from "../../schema/tables/ImportTables.ts"
import { installationReleaseColumns, installationTables } from "../../schema/tables/InstallationTables.ts"
import { interfaceTables } from "../../schema/tables/InterfaceTables.ts"
import { invitationTables, offeredRoleColumns } from "../../schema/tables/InvitationTables.ts"
import { stateUploadTables } from "../../schema/tables/StateUploadTables.ts"
import { orphanedStateTables } from "../../schema/tables/OrphanedStateTables.ts"
import { mailSenderColumns, mailTables } from "../../schema/tables/MailTables.ts"
import { nodeTables, sharedArchiveTables, sharedLeaseTables } from "../../schema/tables/NodeTables.ts"
import { noticeTables, reportedColumns } from "../../schema/tables/NoticeTables.ts"
import { planTables } from "../../schema/tables/PlanTables.ts"
import { actionConfirmationTables, profileTables } from "../../schema/tables/ProfileTables.ts"
import {
  commentLookTables,
  mergeGroupColumns,
  pullRequestPlanColumns,
  pullRequestPolicyColumns,
  pullRequestReportTables,
  pullRequestRepositoryColumns,
  pullRequestTables
} from "../../schema/tables/PullRequestTables.ts"
import { queueTables } from "../../schema/tables/QueueTables.ts"
import { retentionTables } from "../../schema/tables/RetentionTables.ts"
import { runLifecycleTables } from "../../schema/tables/RunLifecycleTables.ts"
import {
  changeDigestColumns,
  logRemovalColumns,
  planConsumptionColumns,
  planDetailColumns,
  planSecretColumns,
  emptySyncColumns,
  headFetchIndexes,
  runConfinementColumns,
  runFacetIndexes,
  runProfileColumns,
  runPurposeColumns,
  runTables,
  secretRuleColumns,
  speculativePlanTables
} from "../../schema/tables/RunTables.ts"
import {
  commitDescriptionColumns,
  deferredSyncTables,
  forgeConnectionColumns,
  formerHookSecretColumns,
  hookSecretColumns,
  lastDeliveryColumns,
  laneTables,
  reviewedRefsColumns,
  sourceRemovalColumns,
  sourceTables
} from "../../schema/tables/SourceTables.ts"
import { movedObjectColumns, stateIndexTables, uncheckedKeys } from "../../schema/tables/StateIndexTables.ts"
import { staleTables } from "../../schema/tables/StaleTables.ts"
import { provisioningTables, upstreamAddressColumns, upstreamTables } from "../../schema/tables/UpstreamTables.ts"
import { sealedPartTables, vaultTables } from "../../schema/tables/VaultTables.ts"
import { waveTables } from "../../schema/tables/WaveTables.ts"
import { automationColumns, workspaceTables } from "../../schema/tables/WorkspaceTables.ts"
import { version } from "../Version.ts"
import { respellAccountAddresses } from "../../actors/access/account/AddressSpelling.ts"
import { rowShape } from "../../actors/base/database/Table.ts"
import { respellInvitations } from "../../actors/access/member/InvitationRow.ts"
import { foldColumns } from "./FoldedColumns.ts"
import { markFault, readMark, recordedVersion } from "./move/MoveMarks.ts"
import { isWithinReach } from "./ReleaseReach.ts"
import { faultText, type StartFault } from "./StartFault.ts"

// Tables, ordered so that each table follows the tables that it references.
const initialTables: ReadonlyArray<string> = [
  ...accountTables,
  ...workspaceTables,
  ...vaultTables,
  ...auditTables,
  ...connectionTables,
  ...sourceTables,
  ...capsuleTables,
  ...runTables,
  ...planTables
]

/**
 * Statements of every migration, by number and name. Never change a released migration, because databases that have run it
 * do not run it again. Add a later migration instead. A test checks the fingerprints of the released migrations.
 */
export const migrations: Readonly<Record<string, ReadonlyArray<string>>> = {
  "0001_initial": initialTables,
  "0002_identity": identityTables,
  "0003_build_archives": buildTables,
  "0004_interfaces": interfaceTables,
  "0006_upstream_sign_in": upstreamTables,
  "0007_hook_secret_renewal": hookSecretColumns,
  "0008_plan_secrets": planSecretColumns,
  "0009_state_secrets": stateSecretColumns,
  "0010_capsules_in_need": capsulesNeedingAttentionIndex,
  "0011_plan_consumption": planConsumptionColumns,
  "0012_connection_origins": connectionOriginColumns,
  "0013_connection_use": connectionUseColumns,
  "0014_run_confinement": runConfinementColumns,
  "0015_fair_queue": [...queueTables, ...deferredSyncTables, ...deferredFollowColumns],
  "0017_restored_installation": [...authorityTables, ...installationTables],
  "0018_secret_rule": secretRuleColumns,
  "0021_values_between_capsules": [...staleTables, ...waveTables],
  "0022_lanes": [...automationColumns, ...laneTables, ...emptySyncColumns, ...autoUpdateTables],
  "0023_ways_out": [...capsuleReleaseColumns, ...sourceRemovalColumns, ...credentialWaitColumns],
  "0024_provider_addresses": providerAddressSpelling,
  "0025_run_profile": runProfileColumns,
  "0026_connection_oauth": connectionOAuthTables,
  "0027_run_purpose": runPurposeColumns,
  "0028_drift_checks": driftCheckColumns,
  "0029_path_filters": pathFilterColumns,
  "0030_run_lifecycle": runLifecycleTables,
  "0031_left_over_states": orphanedStateTables,
  "0032_invitations": invitationTables,
  "0033_issuer": [...upstreamAddressColumns, ...grantRedirectColumns],
  "0034_profile": profileTables,
  "0035_approvals": approvalTables,
  "0036_automation_members": automationMemberColumns,
  "0037_upstream": [...provisioningTables, ...mailTables],
  "0038_capsule_clients": capsuleClientColumns,
  "0039_retention": logRemovalColumns,
  "0040_audit_filters": auditFilterIndexes,
  "0041_release": installationReleaseColumns,
  "0042_audit_chain": auditChainTables,
  "0044_state_uploads": stateUploadTables,
  "0045_retention": retentionTables,
  "0046_state_index": stateIndexTables,
  "0047_backup_imports": importColumns,
  "0048_commit_descriptions": commitDescriptionColumns,
  "0049_run_facets": runFacetIndexes,
  "0050_agents": agentTables,
  "0051_pool_credentials": agentProvisionTables,
  "0052_provided_marks": providedMarkTables,
  "0053_sealed_parts": sealedPartTables,
  "0054_carried_files": carriedFileTables,
  "0055_agent_authority": agentAuthorityTriggers,
  "0056_plan_details": planDetailColumns,
  "0057_reviewed_refs": reviewedRefsColumns,
  "0058_plan_authors": planAuthorTables,
  "0059_acknowledgements": acknowledgementColumns,
  "0060_moved_objects": movedObjectColumns,
  "0061_lost_answers": lostAnswerColumns,
  "0062_mail_senders": mailSenderColumns,
  "0063_secret_keys": uncheckedKeys,
  "0064_due_work": dueWorkTables,
  "0065_notices": noticeTables,
  "0066_run_comments": runCommentTables,
  "0067_action_confirmations": actionConfirmationTables,
  "0068_reported": reportedColumns,
  "0069_approval_requests": approvalRequestTables,
  "0070_former_hook_secrets": formerHookSecretColumns,
  "0071_last_delivery": lastDeliveryColumns,
  "0072_offered_roles": offeredRoleColumns,
  "0073_change_digests": changeDigestColumns,
  "0074_pull_request_policy": pullRequestPolicyColumns,
  "0075_speculative_plans": speculativePlanTables,
  "0076_forge_connections": forgeConnectionColumns,
  "0077_nodes": nodeTables,
  "0078_pull_requests": pullRequestTables,
  "0079_pull_request_plans": pullRequestPlanColumns,
  "0080_pull_request_reports": pullRequestReportTables,
  "0081_shared_leases": sharedLeaseTables,
  "0082_comment_looks": commentLookTables,
  "0083_carry_over": carryOverColumns,
  "0084_change_approvals": changeApprovalTables,
  "0085_shared_archives": sharedArchiveTables,
  "0086_merge_groups": mergeGroupColumns,
  "0087_head_fetches": headFetchIndexes,
  "0088_pull_request_repositories": pullRequestRepositoryColumns
}

/** Raised if a newer release has written the database. */
export class DatabaseTooNew extends Schema.TaggedError<DatabaseTooNew>()("DatabaseTooNew", {
  message: Schema.String
}) {}

/** Raised if the rows have been moved to another database, or if a move into this database has not finished. */
export class DatabaseMoved extends Schema.TaggedError<DatabaseMoved>()("DatabaseMoved", { message: Schema.String }) {}

const table = "svc_migrations"
/** The schema version of this release. */
export const newestKnown = Math.max(...Object.keys(migrations).map((name) => Number.parseInt(name, 10)))

/** Translates the statements of a migration, given by its number, to the database's dialect. */
type Translate = (number: number, statements: ReadonlyArray<string>) => ReadonlyArray<string>

const asWritten: Translate = (_, statements) => statements

const numberOf = (name: string) => Number.parseInt(name, 10)

const loaderOf = (list: typeof migrations, translate: Translate) =>
  Migrator.fromRecord(
    Record.map(list, (statements, name) =>
      Effect.flatMap(SqlClient.SqlClient, (sql) =>
        Effect.forEach(translate(numberOf(name), statements), (statement) => sql.unsafe(statement).unprepared, {
          discard: true
        })
      )
    )
  )

const migrateWith = (loader: Migrator.Loader<SqlClient.SqlClient>) => Migrator.make({})({ loader, table })

/** Evaluate this inside the migration's transaction, so that no other process applies a migration in between. */
const shortened = (translate: Translate) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const applied = yield* sql`SELECT migration_id FROM ${sql(table)} LIMIT 1`.unprepared
    return yield* loaderOf(applied.length === 0 ? foldColumns(migrations) : migrations, translate)
  }).pipe(
    Effect.catchTag(
      "SqlError",
      (cause) => new Migrator.MigrationError({ kind: "BadState", cause, message: `${table} cannot be read` })
    )
  )

const LastRelease = rowShape({ release: Schema.NullOr(Schema.String) })

/**
 * Returns true if the schema may be newer than this release. Servers that share a PostgreSQL database are upgraded one after
 * the other, and a server of the earlier release may restart in between.
 */
const allowsNewer = (sql: SqlClient.SqlClient) => sql.onDialectOrElse({ pg: () => true, orElse: () => false })

/**
 * Returns the schema version. Also returns a fault if this release does not support the version or if the database was
 * moved.
 */
export const tableVersion = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const newest = (yield* recordedVersion) ?? 0
  const mark = yield* readMark
  if (mark !== undefined) return { newest, fault: markFault(mark), moved: true }
  if (newest <= newestKnown) return { newest, fault: undefined, moved: false }
  const [row] = yield* LastRelease.rowsOnce(sql)`SELECT release FROM installation`
  // If the other build's release has the same name as this one, the message describes the other build as newer instead.
  const last = row?.release ?? undefined
  if (last !== undefined && allowsNewer(sql) && isWithinReach(version, last)) {
    return { newest, fault: undefined, moved: false }
  }
  const other = last === undefined || last === version ? "the newer build of svc that" : `svc ${last}, which`
  const fault: StartFault = {
    message: `The database has version ${newest}, but this build of svc ${version} supports versions up to ${newestKnown}.`,
    remedy: `Start ${other} served it last, or restore a backup that this release made.`
  }
  return { newest, fault, moved: false }
})

const checkVersion = Effect.gen(function* () {
  const { fault, moved } = yield* tableVersion
  if (fault === undefined) return
  const message = faultText(fault)
  if (moved) return yield* new DatabaseMoved({ message })
  return yield* new DatabaseTooNew({ message })
})

/** Records the release that serves the database, unless a newer release has migrated the database. */
const noteRelease = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  if (((yield* recordedVersion) ?? 0) > newestKnown) return
  yield* sql`UPDATE installation SET release = ${version} WHERE release IS NULL OR release <> ${version}`
})

/** Like `migrate`, but for a database whose SQL dialect differs from that of the migrations' statements. */
export const migrateFrom = (translate: Translate) =>
  Effect.gen(function* () {
    yield* migrateWith(shortened(translate))
    yield* checkVersion
    yield* respellAccountAddresses
    yield* respellInvitations
    yield* noteRelease
  }).pipe(Effect.withSpan("migrate"))

/**
 * Migrates the database to this release's schema in one transaction, then converts the spelling of addresses from earlier
 * releases. Fails with `DatabaseTooNew` if the schema is newer than this release.
 */
export const migrate = migrateFrom(asWritten)
