import { Schema } from "effect"
import { CapsuleId, NoticeDeliveryId, NoticeEndpointId, NoticeId, ProjectId, Subject, WorkspaceId } from "./Ids.ts"
import { displayText, EnvironmentName, Timestamp } from "./Primitives.ts"

/** Kinds of notices that an endpoint or person can subscribe to. Later releases may add more. */
export const NoticeKind = Schema.Literals([
  "run.waiting_approval",
  "run.approved",
  "run.applied",
  "run.failed",
  "run.unknown",
  "run.cancelled",
  "drift.found",
  "drift.gone",
  "source.broken",
  "source.healed",
  "update.available",
  "connection.expiring",
  "connection.failing",
  "agent.unreachable",
  "agent.back",
  "backup.failed",
  "backup.unverified",
  "share.requested",
  "invitation.accepted",
  "rule.changed"
]).annotate({ identifier: "NoticeKind" })
export type NoticeKind = typeof NoticeKind.Type

/** All kinds of notices that svc sends, including the test notice that a person requests. */
export const SentNoticeKind = Schema.Literals([...NoticeKind.literals, "endpoint.test"])
export type SentNoticeKind = typeof SentNoticeKind.Type

/** The format of a notice: signed JSON, or a chat message in the format of Slack or Teams. */
export const NoticeFormat = Schema.Literals(["json", "slack", "teams"])
export type NoticeFormat = typeof NoticeFormat.Type

export const NoticeEndpointState = Schema.Literals(["active", "disabled", "ended"])
export type NoticeEndpointState = typeof NoticeEndpointState.Type

/**
 * The reason why nothing is sent: a person disabled the endpoint (`person`), deliveries failed for five days (`failing`),
 * the receiver responded that the endpoint is gone (`gone`), or the server was restored from a backup, which may contain
 * endpoints that have been removed since (`restored`).
 */
export const NoticeEndpointReason = Schema.Literals(["person", "failing", "gone", "restored"])
export type NoticeEndpointReason = typeof NoticeEndpointReason.Type

/** Maximum number of endpoints per Workspace, and for the server. */
export const mostNoticeEndpoints = 20
const mostFiltered = 100

export const NoticeEndpointName = displayText(80)

/**
 * Limits an endpoint to notices about certain Capsules. An absent list includes everything. Notices about other things, such as a
 * Connection, are not filtered.
 */
export class NoticeFilter extends Schema.Opaque<NoticeFilter>()(
  Schema.Struct({
    projectIds: Schema.optionalKey(
      Schema.Array(ProjectId).check(Schema.isMinLength(1), Schema.isMaxLength(mostFiltered))
    ),
    environments: Schema.optionalKey(
      Schema.Array(EnvironmentName).check(Schema.isMinLength(1), Schema.isMaxLength(mostFiltered))
    ),
    capsuleIds: Schema.optionalKey(
      Schema.Array(CapsuleId).check(Schema.isMinLength(1), Schema.isMaxLength(mostFiltered))
    )
  }).annotate({ identifier: "NoticeFilter" })
) {}

/** A receiver of notices. Its URL is never returned, because chat webhook URLs contain a secret; `host` is its origin. */
export class NoticeEndpoint extends Schema.Opaque<NoticeEndpoint>()(
  Schema.Struct({
    id: NoticeEndpointId,
    /** Absent for an endpoint of the server, which receives the notices of all Workspaces. */
    workspaceId: Schema.optionalKey(WorkspaceId),
    name: Schema.String,
    format: NoticeFormat,
    /** Scheme, host and port of the URL. */
    host: Schema.String,
    kinds: Schema.Array(NoticeKind),
    filter: NoticeFilter,
    state: NoticeEndpointState,
    reason: Schema.optionalKey(NoticeEndpointReason),
    /** Time of the first failed delivery after the last accepted delivery. */
    failingSince: Schema.optionalKey(Timestamp),
    lastAcceptedAt: Schema.optionalKey(Timestamp),
    /** Number of deliveries that are still pending. */
    waiting: Schema.Int,
    /** Version of the signing secret, starting at 1. Set only for JSON endpoints. */
    secretVersion: Schema.optionalKey(Schema.Int),
    /** Until this time, deliveries also carry a signature made with the previous secret. */
    formerSecretUntil: Schema.optionalKey(Timestamp),
    createdBy: Schema.optionalKey(Subject),
    createdAt: Timestamp,
    updatedAt: Timestamp
  }).annotate({ identifier: "NoticeEndpoint" })
) {}

/** The subject of a notice. An endpoint receives notices about the same subject in order. */
export class NoticeSubject extends Schema.Opaque<NoticeSubject>()(
  Schema.Struct({
    kind: Schema.Literals([
      "capsule",
      "source",
      "connection",
      "agent",
      "backup",
      "share",
      "invitation",
      "rule",
      "endpoint",
      "workspace",
      "server"
    ]),
    id: Schema.String
  }).annotate({ identifier: "NoticeSubject" })
) {}

/** The body of a notice. The schema of `data` depends on the kind. */
export class SentNotice extends Schema.Opaque<SentNotice>()(
  Schema.Struct({
    type: SentNoticeKind,
    /** Sent as the header `webhook-id`; the same for every attempt and replay. */
    id: NoticeId,
    /** Time of the event. */
    timestamp: Timestamp,
    /**
     * Sequence number of the notice among all notices about this subject to this endpoint, starting at 1. Newer notices have
     * higher numbers.
     */
    sequence: Schema.Int,
    /** Absent for notices about the server itself. */
    workspace: Schema.optionalKey(
      Schema.Struct({ id: WorkspaceId, handle: Schema.String, name: Schema.String }).annotate({
        identifier: "NoticeWorkspace"
      })
    ),
    subject: NoticeSubject,
    /** The related page in the dashboard. */
    url: Schema.String,
    data: Schema.Json
  }).annotate({ identifier: "SentNotice" })
) {}

/**
 * - `accepted`: any 2xx status
 * - `refused`: any other status
 * - `redirected`: a redirect, which is never followed
 * - `gone`: status 410, which ends the endpoint
 * - `timed_out`: no response within 15 seconds
 * - `unreachable`: no connection
 * - `tls`: the receiver has no valid certificate
 * - `address_refused`: the name resolves to an address that the server does not contact
 * - `unreadable`: the stored URL or secret could not be decrypted
 */
export const NoticeOutcome = Schema.Literals([
  "accepted",
  "refused",
  "redirected",
  "gone",
  "timed_out",
  "unreachable",
  "tls",
  "address_refused",
  "unreadable"
])
export type NoticeOutcome = typeof NoticeOutcome.Type

export class NoticeAttempt extends Schema.Opaque<NoticeAttempt>()(
  Schema.Struct({
    number: Schema.Int,
    at: Timestamp,
    outcome: NoticeOutcome,
    /** The HTTP status, if the receiver responded. */
    status: Schema.optionalKey(Schema.Int),
    milliseconds: Schema.Int
  }).annotate({ identifier: "NoticeAttempt" })
) {}

/**
 * - `waiting`: not sent yet, or the next attempt is due later
 * - `delivered`: the receiver accepted the notice
 * - `failed`: every attempt failed
 * - `dropped`: the endpoint was disabled or ended first, or too many deliveries were waiting
 */
export const NoticeDeliveryStatus = Schema.Literals(["waiting", "delivered", "failed", "dropped"])
export type NoticeDeliveryStatus = typeof NoticeDeliveryStatus.Type

const deliveryFields = {
  id: NoticeDeliveryId,
  endpointId: NoticeEndpointId,
  noticeId: NoticeId,
  kind: SentNoticeKind,
  subject: NoticeSubject,
  /** Sequence number of the notice among all notices about this subject to this endpoint, starting at 1. */
  sequence: Schema.Int,
  status: NoticeDeliveryStatus,
  attempts: Schema.Int,
  lastOutcome: Schema.optionalKey(NoticeOutcome),
  lastStatus: Schema.optionalKey(Schema.Int),
  nextAttemptAt: Schema.optionalKey(Timestamp),
  createdAt: Timestamp,
  endedAt: Schema.optionalKey(Timestamp)
}

/** The delivery of a notice to one endpoint. */
export class NoticeDelivery extends Schema.Opaque<NoticeDelivery>()(
  Schema.Struct(deliveryFields).annotate({ identifier: "NoticeDelivery" })
) {}

/** A delivery with its attempts, oldest first, and the notice in the JSON format. */
export class NoticeDeliveryLog extends Schema.Opaque<NoticeDeliveryLog>()(
  Schema.Struct({
    ...deliveryFields,
    log: Schema.Array(NoticeAttempt),
    notice: SentNotice
  }).annotate({ identifier: "NoticeDeliveryLog" })
) {}

/** The kinds of notices that svc also mails to the people concerned. */
export class NoticeMails extends Schema.Opaque<NoticeMails>()(
  Schema.Struct({
    /** `false` if the server cannot send mail. The selection is then stored but has no effect. */
    sendsMail: Schema.Boolean,
    kinds: Schema.Array(NoticeKind)
  }).annotate({ identifier: "NoticeMails" })
) {}
