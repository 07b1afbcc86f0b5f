import { Effect, Option } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Operators } from "../../../actors/access/account/Operators.ts"
import { Users } from "../../../actors/access/account/Users.ts"
import { Audit } from "../../../actors/base/audit/Audit.ts"
import { Capsules } from "../../../actors/commands/capsule/Capsules.ts"
import { Connections } from "../../../actors/inputs/connection/Connections.ts"
import { ReadSql } from "../../../actors/base/database/ReadSql.ts"
import { hasUnseenNotices } from "../../../actors/access/account/AccountNotices.ts"
import { Mails } from "../../../actors/base/mail/Mails.ts"
import { stuckWork } from "../../../actors/base/DueWork.ts"
import { capsulesWithOrphanedStates } from "../../../actors/commands/attention/AttentionRows.ts"
import { Attention } from "../../../actors/commands/attention/Attention.ts"
import { awaitsReview } from "../../../actors/upkeep/restore/RestoreReview.ts"
import { Runs } from "../../../actors/ledger/run/Runs.ts"
import { Sources } from "../../../actors/ledger/source/Sources.ts"
import { Workspaces } from "../../../actors/ledger/workspace/Workspaces.ts"
import { GitPolicy } from "../../../runner/git/GitPolicy.ts"
import { Caller } from "../../../schema/api/Middleware.ts"
import { SvcApi } from "../../../schema/api/SvcApi.ts"
import { CapsuleId, Subject } from "../../../schema/records/Ids.ts"
import { HttpSettings } from "../../http-kit/HttpSettings.ts"
import { PageWatch } from "../../database/PageWatch.ts"
import { BackupNotices } from "../BackupNotices.ts"
import { IsolationNotice } from "../IsolationNotice.ts"
import { attentionOf } from "./Attention.ts"
import { authorisedWorkspace, commandContext, cursorOf, pageRequest } from "./Commands.ts"
import { discoveryDocument } from "./DiscoveryHandlers.ts"
import { storedAnswers } from "./StoredAnswers.ts"

const maxWorkspaces = 100
const recent = 20

export const dashboardHandlers = HttpApiBuilder.group(
  SvcApi,
  "dashboard",
  Effect.fn(function* (handlers) {
    const users = yield* Users
    const capsules = yield* Capsules
    const connections = yield* Connections
    const runs = yield* Runs
    const sources = yield* Sources
    const audit = yield* Audit
    const attention = yield* Attention
    const memberships = yield* Workspaces
    const mails = yield* Mails
    const { version } = yield* HttpSettings
    const { sample } = yield* GitPolicy
    const sql = yield* ReadSql
    const capabilities = yield* discoveryDocument
    const isolation = yield* IsolationNotice
    const operators = yield* Operators
    const backups = yield* BackupNotices
    const pages = yield* PageWatch
    return storedAnswers("dashboard", handlers).handleAll({
      bootstrap: Effect.fnUntraced(function* ({ query }) {
        const caller = yield* Caller
        const user = Option.getOrUndefined(yield* users.find(caller.subject))
        // Create the personal Workspace if necessary, because this is the first request that the dashboard sends on a
        // person's first visit.
        if (caller.boundWorkspaceId === undefined) {
          yield* memberships.ensurePersonal(yield* commandContext, caller.subject)
        }
        const { workspaces } = yield* memberships.list(caller.subject, {
          limit: maxWorkspaces,
          selectedWorkspaceId: query.workspaceId,
          boundWorkspaceId: caller.boundWorkspaceId
        })
        const inReview = yield* Effect.orElseSucceed(awaitsReview(sql), () => false)
        const changed = yield* Effect.orElseSucceed(hasUnseenNotices(sql, caller.subject), () => false)
        const isOperator = yield* operators.isOperator(caller.subject)
        const serverBackups = isOperator ? yield* backups.serverBackups : undefined
        const notices = [
          ...(inReview ? (["restore_review"] as const) : []),
          ...isolation,
          ...(isOperator ? yield* backups.notices : []),
          ...(isOperator && (yield* pages.fault) !== undefined ? (["database_damaged"] as const) : []),
          ...(changed ? (["account_changed"] as const) : [])
        ]
        const selected = workspaces.find(({ id }) => id === query.workspaceId) ?? workspaces[0]
        return {
          subject: {
            id: caller.subject,
            ...(user === undefined ? {} : { email: user.email }),
            ...(user === undefined || user.displayName === null ? {} : { displayName: user.displayName })
          },
          credential: {
            kind: caller.credential,
            ...(caller.scopes === "all" ? {} : { scopes: caller.scopes }),
            ...(caller.boundWorkspaceId === undefined ? {} : { boundWorkspaceId: caller.boundWorkspaceId })
          },
          workspaces,
          ...(selected === undefined ? {} : { selectedWorkspaceId: selected.id }),
          capabilities,
          version,
          sendsMail: mails.baseUrl !== undefined,
          ...(sample === undefined ? {} : { sampleRepository: sample }),
          ...(notices.length === 0 ? {} : { notices }),
          ...(serverBackups === undefined ? {} : { serverBackups })
        }
      }),
      latestRuns: Effect.fnUntraced(function* ({ query }) {
        const ids = query.capsuleIds.split(",").map((id) => CapsuleId.make(id))
        return { latestRuns: yield* runs.latest(yield* authorisedWorkspace, ids) }
      }),
      needs: Effect.fnUntraced(function* ({ query }) {
        const { actor, subject } = yield* Caller
        const reader = { subject: Subject.make(subject), tokenId: actor.tokenId }
        const page = yield* attention.list(yield* authorisedWorkspace, reader, yield* pageRequest(query))
        return {
          needs: page.items,
          total: page.total,
          counts: page.counts,
          forOthers: page.forOthers,
          health: page.health,
          ...cursorOf(page)
        }
      }),
      overview: Effect.fnUntraced(function* () {
        const caller = yield* Caller
        const workspaceId = yield* authorisedWorkspace
        const workspace = yield* memberships.read(caller.subject, workspaceId)
        const listed = yield* capsules.list(workspaceId, {}, { limit: 100 })
        const waiting = yield* runs.list(workspaceId, { status: ["waiting_approval"] }, { limit: 50 })
        const needingAttention = yield* capsules.needingAttention(workspaceId)
        const unfinished = yield* runs.unfinished(workspaceId)
        const names = yield* capsules.names(
          [...waiting.items, ...unfinished.approvedPlans].flatMap(({ capsuleId }) => capsuleId ?? [])
        )
        const unconfirmed = yield* connections.awaitingOrigins(workspaceId)
        const expiring = yield* connections.expiring(workspaceId)
        const failing = yield* connections.failing(workspaceId)
        const leftOvers = yield* capsulesWithOrphanedStates(sql, workspaceId)
        const latest = yield* runs.list(workspaceId, {}, { limit: recent })
        const activity = yield* audit.list(workspaceId, caller.subject, {}, { limit: recent })
        return {
          workspace,
          capsules: listed.items,
          attention: attentionOf({
            leftOvers,
            needingAttention,
            waiting: waiting.items,
            names,
            unconfirmed,
            expiring,
            failing,
            lanes: yield* sources.failingLanes(workspaceId),
            stuck: yield* stuckWork(sql, workspaceId),
            pause: workspace.automationPause,
            ...unfinished
          }),
          recentRuns: latest.items,
          activity: activity.items
        }
      })
    })
  })
)
